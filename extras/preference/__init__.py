"""Preference training of the generator: the pairs, what a run needs, the training, and what it changes."""
