"""Where the records of sessions live. `base` is the contract; each other module is one kind of place."""
