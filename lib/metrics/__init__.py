"""What is measured: retrieval of filings and pages, overlap with the evidence, answers, and how sure we are.

Every metric is a small function with its formula and source. Metrics frames are long:
question_id, metric, k, value.
"""

from lib.metrics import answers, overlap, retrieval

__all__ = ["answers", "overlap", "retrieval"]
