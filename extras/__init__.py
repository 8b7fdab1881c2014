"""Experiments beside the study: run on their own, not needed by any chapter."""
