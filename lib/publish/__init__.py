"""Publishing results, and verifying what was published."""
