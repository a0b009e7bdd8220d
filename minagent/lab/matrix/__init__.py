"""Every crash point of every way of recording (7.3.6-d and e, 7.3.8-d).

crash_matrix       the table: what each crash does
variants           the ways of recording, and a process that works in each of them
real_crashes       the same on real processes: all of them, or one that is picked
"""
