"""Retrieval Gap: where the evidence gets lost when RAG answers questions over long filings."""
