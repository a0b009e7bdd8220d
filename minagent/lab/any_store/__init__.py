"""The five requirements, and two writers, tried on any store: yours, too (7.3.9-e to i).

check_store       the table: a row for each thing tried
damage_checks     what a session's log tells of damage and of other versions
session_checks    what it needs of its store
"""
