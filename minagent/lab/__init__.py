"""The lab: what breaks things on purpose, measures and draws. Each room says in its first lines what it shows.

world          what is outside of the agent: its tasks, and who sees what it does
kernel         the reader's own Python: is it ready, what does it know, what does it lose
processes      real processes, and the points at which they die
faults         a save struck at each of its file calls, power loss, and damage
crash_lab      the model behind the crash lab: step, crash, resume, reset
matrix         every crash point of every way of recording
frequency      how often to save: formula, simulation, and real runs side by side
two_writers    two writers of one session, in every order
any_store      the five requirements, and two writers, tried on any store: yours, too
picture        one picture of a run: a row for each process, and below them the disk and the world
servers        real servers on this machine, to be killed and started again
capstone       the capstone: a process that the reader writes, killed at every point
views          widgets and plots: no logic, and nothing imports them
"""
