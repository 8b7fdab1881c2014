"""Preference training of the generator, and its answers before and after, which appendix a3 shows."""
