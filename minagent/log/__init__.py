"""The second floor: a session as an append-only log of records."""
