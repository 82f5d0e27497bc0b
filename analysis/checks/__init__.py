"""Whether a snapshot holds its budgets against a baseline, and what a check is made of."""
