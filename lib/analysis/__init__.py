"""What the numbers say: decomposition, breakdowns, failures, verdicts, costs."""
