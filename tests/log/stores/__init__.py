"""The stores: one contract for all of them, and what is special in each."""
