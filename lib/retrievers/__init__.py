"""Retrievers: one idea a module, each with its source paper."""
