"""The tests, one module beside each module of minagent."""
