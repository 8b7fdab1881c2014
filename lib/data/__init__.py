"""Datasets in FinanceBench's layout: found, checked, read, cut into chunks."""
