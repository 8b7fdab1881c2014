"""What a page's text says by itself, before a question comes and without the other pages."""

import re
from collections.abc import Sequence
from functools import cache
from itertools import chain

import numpy as np
import pandas as pd

from lib.ahead.kinds import page_strengths
from lib.ahead.terms import terms
from lib.statements.labels import item_of, kind_of, kinds, labels_of, plain

#: Columns of words: of the text, of its head and its rows' labels; years of both, line items of rows, its statement.
WORDS = ("terms", "shown", "years", "head_years", "items", "title")
HEAD_LINES = 6
YEAR = re.compile(r"(?<!\d)(?:19[89]\d|20[0-4]\d)(?!\d)")


@cache
def _items_named(label: str) -> tuple[str, ...]:
    return tuple(item for kind in kinds() if (item := item_of(kind, plain(label))))


def facts_of(texts: Sequence[str]) -> pd.DataFrame:
    """A row a page: WORDS, each with spaces between; ``rows``, ``length`` and ``digits``; and ``strengths``, how
    strongly it is of each kind by title, then of each by items."""
    labels = list(map(labels_of, texts))
    heads = [" ".join(text.split("\n")[: 2 * HEAD_LINES]) for text in texts]
    words = (
        map(terms, texts),
        (terms(" . ".join([head, *rows])) for head, rows in zip(heads, labels, strict=True)),
        map(YEAR.findall, texts),
        map(YEAR.findall, heads),
        (chain(*map(_items_named, rows)) for rows in labels),
        ([kind_of(text) or ""] for text in texts),
    )
    columns = {name: list(map(" ".join, of_pages)) for name, of_pages in zip(WORDS, words, strict=True)}
    columns |= {"rows": list(map(len, labels)), "length": list(map(len, texts))}
    columns["digits"] = [len(re.findall(r"\d", text)) for text in texts]
    return pd.DataFrame(columns | {"strengths": list(np.hstack(page_strengths(texts)))})
