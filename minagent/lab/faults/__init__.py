"""A save struck at each of its file calls, power loss, and damage (7.3.2-f to h, 7.3.7-e).

file_calls      a process whose file calls are watched, and one of them struck
protocols       ways to save a file, struck at each of their file calls
power_loss      what can survive a power loss: a model of the page cache
damage          a document damaged at every bit, and what a loader lets pass
"""
