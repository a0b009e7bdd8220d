"""The lab: everything that breaks things on purpose, measures and draws.

environment   is this machine ready for the notebooks?
example       the tasks that the lab's agent works on
ledger        what the outside world saw; it outlives every process
protocols     ways to save a file, from the simplest to the one that holds
file_calls    a process whose file calls are watched, and one of them struck
faults        a save struck at each of its file calls, and what it leaves
damage        a document damaged at every bit, and what a loader lets pass
check_store   the five requirements, tried on any store
power_loss    what can survive a power loss: a model of the page cache
child_process a process of ours, and the pipes to it; launcher forks it
worker        the process that is killed
request       a request to a session; two of them are two writers
interleavings every order in which two requests can get in each other's way
two_writers   the same with real processes, and a reader who says which goes on
writers       several processes that append to one session at once
crashlab      the model behind the crash lab: step, crash, resume, reset
kernel_state  the reader's own variables, taken away and brought back
plots         data -> matplotlib Axes
widgets       ipywidgets views; no logic
"""
