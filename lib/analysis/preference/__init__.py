"""Preference training of the generator, as a chapter reads it: the pairs, what a run takes, and what it changed."""
