"""The reader's own Python: is it ready, what does it know, what does it lose (7.3.0-a, 7.3.1-a).

environment     is this machine ready for the notebooks? and the demo's folder
kernel_state    the reader's own variables, taken away and brought back
"""
