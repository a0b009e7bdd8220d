"""Two writers of one session, in every order (7.3.9-c).

request            somebody asks a session something; two of them are two writers
interleavings      every order in which they can get in each other's way
request_process    a request in a process of its own, to be killed or stopped; two of them, drawn
writers            several processes that append to one session at once
"""
