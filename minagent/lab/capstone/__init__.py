"""The capstone: an agent's process that the reader writes, killed at every point (7.3.10).

desk    all that the reader's function may touch: a disk, a model, a payment service
judge   what came of each kill, at which of four steps the function stops, and a picture of that
"""
