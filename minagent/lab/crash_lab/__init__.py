"""The model behind the crash lab: step, crash, resume, reset (7.3.0-a, 7.3.1-c, 7.3.5-h).

crashlab        the model
disk            what its disk holds, and what of it would outlive a power cut
live_picture    the picture of a run that is under way
own_agent       the same for an agent with a step, or a way to load, of the reader's own
score           what a crash did, beside what theory says that it does
"""
