"""A save struck at each of its file calls, power loss, and damage (7.3.2-f to h, 7.3.7-e).

protocols       ways to save a file, from the simplest to the one that holds
file_calls      a process whose file calls are watched, and one of them struck
struck_saves    a save struck at each of its file calls, and what it leaves
power_loss      what can survive a power loss: a model of the page cache
damage          a document damaged at every bit, and what a loader lets pass
"""
