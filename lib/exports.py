"""Files for other programs: runs in TREC's format, metrics and questions as CSV. The study reads none of them back."""

import gzip
import io

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv

from lib.runs import trec_lines
from lib.schema import FURTHER_PAGES, PUBLISHED_COLUMNS

EXPORT_LEVEL = 1  # of compression: each book writes them


def questions_csv(questions: pd.DataFrame) -> str:
    """What is published of questions, without text, as CSV."""
    lists = questions[["gold_pages", *FURTHER_PAGES]].map(lambda pages: " ".join(map(str, pages)))
    columns = [*PUBLISHED_COLUMNS, *(name for name in FURTHER_PAGES if lists[name].any())]
    return questions.assign(**lists)[columns].to_csv(index=False)


def exported_run(run: pd.DataFrame, tag: str) -> bytes:
    """A run as gzipped TREC lines, for other programs: compressed quickly."""
    return gzip.compress(trec_lines(run, tag), EXPORT_LEVEL, mtime=0)


def exported_metrics(table: pd.DataFrame) -> bytes:
    """A metrics frame as gzipped CSV, for other programs; in its own order."""
    pa_csv.write_csv(pa.Table.from_pandas(table, preserve_index=False), packed := io.BytesIO())
    return gzip.compress(packed.getvalue(), EXPORT_LEVEL, mtime=0)


def metrics_csv(table: pd.DataFrame) -> bytes:
    """A metrics frame as CSV, ordered, values with ten digits: equal frames give equal bytes."""
    texts = table.select_dtypes("category").columns  # whose order is that of their categories
    table = table.astype(dict.fromkeys(texts, str))
    ordered = table.sort_values(list(table.columns[:5]), kind="stable")
    return ordered.to_csv(index=False, float_format="%.10g").encode()
