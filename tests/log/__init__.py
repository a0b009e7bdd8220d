"""Tests of the second floor: the log, its records and its stores."""
