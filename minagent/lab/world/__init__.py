"""What is outside of the agent: its tasks, and who sees what it does (7.3.0-b, 7.3.1-b).

example     tasks for an agent: the chapter's sum, an errand with a charge, longer ones
ledger      what the outside world saw; it outlives every process
payments    a payment service: who is charged, and what an idempotency key is worth
"""
