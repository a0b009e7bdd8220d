"""Real servers on this machine, to be killed and started again (7.3.9).

local_servers    PostgreSQL and Redis, each in a folder
"""
