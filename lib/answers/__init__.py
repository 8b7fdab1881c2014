"""Answers of a language model, and the passages that it reads."""
