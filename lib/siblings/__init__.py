"""Experiments of the sibling studies, and the commands that fill what they need."""
