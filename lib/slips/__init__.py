"""Known slips of measuring, and what each adds to the page scorer's score."""
