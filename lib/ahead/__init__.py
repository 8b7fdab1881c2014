"""The best page retriever that fits on a laptop: who is asked about, what the page is, and small trees that order."""
