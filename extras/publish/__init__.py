"""Publishing results, the one way from a run into the repository, and verifying what was published."""
