"""Files for other programs: runs in TREC's format, and metrics as CSV. The study reads none of them back."""

import gzip
import io

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv

from lib.runs import trec_lines

EXPORT_LEVEL = 1  # of compression: each book writes them


def exported_run(run: pd.DataFrame, tag: str) -> bytes:
    """A run as gzipped TREC lines, for other programs: compressed quickly."""
    return gzip.compress(trec_lines(run, tag), EXPORT_LEVEL, mtime=0)


def exported_metrics(table: pd.DataFrame) -> bytes:
    """A metrics frame as gzipped CSV, for other programs; in its own order."""
    pa_csv.write_csv(pa.Table.from_pandas(table, preserve_index=False), packed := io.BytesIO())
    return gzip.compress(packed.getvalue(), EXPORT_LEVEL, mtime=0)
