"""What is measured: retrieval of filings and pages, pages that were judged, overlap with the evidence, and answers.

Lines of the evidence are measured within numbers of tokens, and not among METRICS, see :mod:`lib.analysis.reading`.

Every metric is a small function with its formula and source, and a row of its module's METRICS. Metrics frames are
long: question_id, metric, k, value.
"""

from lib.metrics import answers, lines, overlap, pooled, retrieval, right

#: All metrics by name.
METRICS = {metric.name: metric for module in (retrieval, pooled, overlap, answers, right) for metric in module.METRICS}
METRIC_TITLES = {name: metric.title for name, metric in METRICS.items()} | {lines.METRIC.name: lines.METRIC.title}
