"""Frames in files, with the types of their columns: CSV for what git shows, Parquet for what stays here."""

import hashlib
from pathlib import Path

import pandas as pd


def write_frame(frame: pd.DataFrame, path: Path) -> None:
    """Write a frame without its index; as CSV with the type in each column's name, or as Parquet, as ``path`` ends.

    Numbers of a CSV are as long as it takes to read the same bits again.

    Raises:
        TypeError: a CSV's column contains something else than numbers, truth values or texts.
    """
    frame = frame.reset_index(drop=True)
    if path.suffix == ".csv":
        for name, column in frame.select_dtypes(object).items():
            if not all(isinstance(value, str) for value in column):
                raise TypeError(f"column {name!r} of a published frame contains a value that is no text")
        frame.to_csv(path, index=False, header=[f"{name}:{dtype}" for name, dtype in frame.dtypes.items()])
    else:
        frame.to_parquet(path)


def read_frame(path: Path) -> pd.DataFrame:
    """The frame of a file of :func:`write_frame`, which may have been compressed since."""
    if ".csv" not in path.suffixes:
        return pd.read_parquet(path)
    types = dict(name.rsplit(":", 1) for name in pd.read_csv(path, nrows=0).columns)
    missing = {name: [""] for name, dtype in types.items() if dtype != "object"}
    options = {
        "dtype": types,
        "na_values": missing,
        "keep_default_na": False,
        "float_precision": "round_trip",
    }
    return pd.read_csv(path, names=list(types), header=0, **options)


def content_digest(frame: pd.DataFrame) -> str:
    """SHA-256 of a frame's column names and values, whatever their types: without printing it."""
    sums = hashlib.sha256()
    for name, column in frame.items():
        values = column.astype(float) if pd.api.types.is_numeric_dtype(column) else column
        sums.update(str(name).encode() + pd.util.hash_array(values.to_numpy()).tobytes())
    return sums.hexdigest()
