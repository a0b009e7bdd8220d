"""Real servers on this machine, to be killed and started again (7.3.9).

ready            is there what the notebook needs? In words
local_servers    PostgreSQL, Redis and an S3, each in a folder
crashes          client or server killed at each point of a run
settings         what an acknowledged append is worth, setting by setting
"""
