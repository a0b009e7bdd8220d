"""Real servers on this machine, to be killed and started again (7.3.9).

ready            is there what the notebook needs? In words
local_servers    PostgreSQL, Redis and an S3, each in a folder
s3               that S3, as a program
crashes          client or server killed at each point of a run
costs            what an append and a resume cost, as the log grows
cut_connection   a connection that is cut before an answer
settings         what an acknowledged append is worth, setting by setting
"""
