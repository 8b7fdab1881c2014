"""Rows of Yepes et al., "Financial Report Chunking for Effective RAG" (2024): what a chunk is."""

YEPES = "yepes2024"
KEY = "yepes2024chunking"

YEPES_ROWS = ()
