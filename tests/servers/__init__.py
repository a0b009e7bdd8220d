"""Stores on real servers, which the tests start and kill. They need more than a default install: see `.ci/extras`."""
