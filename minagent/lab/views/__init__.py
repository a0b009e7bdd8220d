"""Widgets and plots. No logic, and nothing imports them.

widgets             what all views share, and two small ones
crash_lab_widget    the crash lab
crash_replay        one crash of the matrix, picked and made real
explorer_widget     the frequency explorer
own_kernel          the kernel that the reader sits in, killed
plots               data -> matplotlib Axes
"""
