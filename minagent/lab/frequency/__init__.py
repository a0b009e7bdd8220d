"""How often to save: formula, simulation, and real runs side by side (7.3.8-a, b, e and h).

theory        the closed forms: Young, Daly; and a policy made of them
simulate      failures at random, and what they cost: a million steps, no process, no disk
trials        real runs of real processes, killed at moments that are drawn in time
explorer      the model behind the frequency explorer
"""
