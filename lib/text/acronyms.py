"""Acronyms of finance and what they stand for."""

from pathlib import Path

import pandas as pd

#: Columns ``acronym``, ``expansion`` and ``case``: whether it is an acronym in any case or exactly as written.
LEXICON = pd.read_csv(Path(__file__).with_name("acronyms.csv"), dtype=str, keep_default_na=False)
