"""Preference training of the generator, and its answers before and after; see :mod:`lib.analysis.preference`."""
