"""The capstone: attempts, and what they are told."""
