"""Frames in files, with the types of their columns: CSV for what git shows, Parquet for what is large or stays here."""

import hashlib
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

LEVEL = 15  # of compression of what is in git
#: Columns of names and other texts: what looks like a number or like a missing value, as ``0001`` or ``NA``, is none.
TEXTS = (
    "question_id question_type doc_name doc_type company sector method condition metric context prompt generator "
    "stage store filter kind engine machine"
).split()


def read_csv(path: Path | io.BytesIO, **types: object) -> pd.DataFrame:
    """A CSV file of numbers and TEXTS, in which only an empty cell is missing; ``types`` are those of other columns."""
    options = {"keep_default_na": False, "na_values": [""], "float_precision": "round_trip"}
    return pd.read_csv(path, dtype=dict.fromkeys(TEXTS, str) | types, **options)


def write_frame(frame: pd.DataFrame, path: Path) -> None:
    """Write a frame without its index: as Parquet, or as CSV of exact numbers, with the type in each column's name; a
    TypeError where one contains something else than numbers, truth values or texts."""
    frame = frame.reset_index(drop=True)
    if path.suffix != ".csv":
        return frame.to_parquet(path)
    for name, column in frame.select_dtypes(object).items():
        if not all(isinstance(value, str) for value in column):
            raise TypeError(f"column {name!r} of a published frame contains a value that is no text")
    frame.to_csv(path, index=False, header=[f"{name}:{dtype}" for name, dtype in frame.dtypes.items()])


def read_frame(path: Path) -> pd.DataFrame:
    """The frame of a file of :func:`write_frame`, which may have been compressed since."""
    if ".csv" not in path.suffixes:
        return pd.read_parquet(path)
    types = dict(name.rsplit(":", 1) for name in pd.read_csv(path, nrows=0).columns)
    missing = {name: [""] for name, dtype in types.items() if dtype != "object"}
    options = {"dtype": types, "na_values": missing, "keep_default_na": False, "float_precision": "round_trip"}
    return pd.read_csv(path, names=list(types), header=0, **options)


def table_bytes(table: pd.DataFrame) -> bytes:
    """A frame of texts and numbers as a small Parquet file, read by :func:`read_table`."""
    texts = [name for name in table if not pd.api.types.is_numeric_dtype(table[name])]
    table = table.astype(dict.fromkeys(texts, "category"))
    split = table.columns.intersection(["score"]).tolist()  # hardly ever twice the same
    packed, packing = io.BytesIO(), {"compression": "zstd", "compression_level": LEVEL}
    kept_once = table.columns.drop(split).tolist()
    packing |= {"use_byte_stream_split": split, "use_dictionary": kept_once}
    table.to_parquet(packed, index=False, row_group_size=len(table) or None, **packing)  # each group has its own names
    return packed.getvalue()


def read_table(path: Path) -> pd.DataFrame:
    """A file of :func:`table_bytes`; texts as categories, ``k``, which may be missing, as Int64."""
    table = pq.read_table(path).to_pandas()
    return table.astype({"k": "Int64"}) if "k" in table else table


def content_digest(*parts: pd.DataFrame) -> str:
    """SHA-256 of the column names and values, whatever their types, of a frame or of frames one under the other."""
    sums = hashlib.sha256()
    for name in parts[0]:
        sums.update(str(name).encode())
        for column in (part[name] for part in parts):
            if isinstance(column.dtype, pd.CategoricalDtype):
                values = [*column.cat.categories, None]  # the last for the code -1, which is none of them
                hashed = pd.util.hash_array(np.array(values, object))[column.cat.codes]
            elif pd.api.types.is_numeric_dtype(column):
                hashed = pd.util.hash_array(column.astype(float).to_numpy())
            else:
                hashed = pd.util.hash_array(column.to_numpy())
            sums.update(hashed.tobytes())
    return sums.hexdigest()
