"""What things cost. The README has the command that prints the tables; the other tests run each of these once."""
