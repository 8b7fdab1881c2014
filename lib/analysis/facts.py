"""What the papers state, as data: ``facts/<source>.yaml``, one file per paper and language version.

What a paper does not state is null there. Every reported number of the book is read here, with the table it is from.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lib.files import read_yaml

MAIN = "kobeissi2026_en"
SOURCES = (MAIN, "kobeissi2026_fr", "kim2025", "akarsu2026", "yepes2024")
Rows = dict[str, dict]


@dataclass(frozen=True)
class Facts:
    """One source; units as printed, see ``metrics``; null where something is not stated."""

    source: dict  # key, name, title, authors, year, and ``bibliography``, its key there
    data: dict
    models: dict
    settings: dict
    metrics: dict
    tables: list[dict]  # each with id, what, rows, and n, depth and conditions where the paper states them
    methods: dict[str, str]  # a table's row → our row of the method table that measures the same
    chosen_here: dict[str, object]  # dotted place → what this study takes: a form of ``profile`` and ``bleu``
    claims: list[dict]  # each with id, where, claim, numbers, table and significance (whether a test was made)
    inconsistencies: list[str]  # text against table, version against version, paper against code
    marks: dict[str, str] | None = None  # where a fact was read that was not read in the paper (Yepes et al.)
    marked: dict[str, str] | None = None
    systems: dict | None = None  # what was built
    from_code: dict | None = None  # what the published code does
    differs: list[dict] | None = None  # where our rows depart: rows, paper, here (a form of the profile's sections)

    def table(self, id: str) -> Rows:
        """The rows of a table as printed, such as ``table("Table 3")["dense"]["page_recall"]``; a KeyError of no
        table."""
        return {table["id"]: table["rows"] for table in self.tables}[id]

    def by_method(self, id: str) -> Rows:
        """The rows of a table that we measure too, by the name of our method."""
        return {self.methods[row]: cells for row, cells in self.table(id).items() if row in self.methods}


@cache
def facts(source: str = MAIN) -> Facts:
    """The facts of one of SOURCES."""
    return Facts(**read_yaml(Path(__file__).parent / "facts" / f"{source}.yaml"))
