"""Other chunk tables over the same filings: name → function ``(study) -> CHUNK_COLUMNS``."""

CORPORA = {}
