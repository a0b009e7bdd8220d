"""The tests of the lab."""
