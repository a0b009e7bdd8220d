"""Real processes, and the points at which they die (7.3.1-b, 7.3.5-a to h).

phases          the phases of a step, and the parts of an agent that stop before each of them
crash_points    a process that dies at the point that was chosen
child_process   a process of ours, and the pipes to it
launcher        the small process that forks the others
agent_process   an agent at work, to be killed
"""
