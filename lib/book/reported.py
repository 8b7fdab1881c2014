"""The page *What the papers report*: the tables, settings and inconsistencies of :mod:`lib.analysis.facts`."""

import re
from collections.abc import Iterator

import pandas as pd

from lib.analysis.facts import SOURCES, Facts, facts
from lib.book.page_templates import filled
from lib.metrics import METRIC_TITLES
from lib.metrics.overlap import bleu_signature
from lib.schema import IN_WORDS
from lib.study import Study

NOT_STATED = "not stated"
AT_DEPTH = re.compile(r"^(ndcg|nDCG|MRR|mrr|R)(\d+)$")  # a measure with its depth, in the names of columns
#: What a source states beside its tables; its data are on the page, too.
STATED = ("data", "models", "settings", "metrics")


def reported_page(study: Study) -> str:
    """The page as MyST, the same for every dataset but for the profile's own choices."""
    made_by = {"asked": asked, "caption": caption, "rows_table": rows_table, "settings_table": settings_table}
    return filled("reported", study=study, sources=[facts(source) for source in SOURCES], **made_by)


def asked(data: dict) -> str:
    """Of what a source asks its questions, and how much of it there is, where it states that."""
    counts = (f"{data[name]:,} {name[2:]}" for name in ("n_questions", "n_documents", "n_pages") if data.get(name))
    return "; ".join([data.get("dataset") or data["benchmark"], *counts])


def caption(table: dict) -> str:
    """What a table of a paper has, with its n, depth and conditions."""
    forms = {"n": "n = {}", "depth": "depth {}", "conditions": "{}", "from": "read in {}"}
    about = [form.format(_words(table[name])) for name, form in forms.items() if table.get(name)]
    note = f" {table['note'][0].upper()}{table['note'][1:]}." if "note" in table else ""
    return f"{'; '.join([table['what'][0].upper() + table['what'][1:], *about])}.{note}"


def rows_table(known: Facts, rows: dict) -> pd.DataFrame:
    """A table's rows as printed: a column's numbers have the digits of its longest; dashes are not stated."""
    flat = {row: {_title(at): cell for at, cell in _flat(cells, ())} for row, cells in rows.items()}
    shown = {"Row": [IN_WORDS.get(row, row).replace("_", " ") for row in flat]}
    if ours := {row: f"`{known.methods[row]}`" for row in flat if row in known.methods}:
        shown["Ours"] = [ours.get(row, "–") for row in flat]
    for column in dict.fromkeys(column for cells in flat.values() for column in cells):
        values = [cells.get(column) for cells in flat.values()]
        numbers = [one for one in values if isinstance(one, float)]
        shares = 2 if all(one <= 1 for one in numbers) else 0  # two digits are printed of each
        digits = max([shares, *(len(str(one).partition(".")[2]) for one in numbers)])
        shown[column or "Value"] = [_words(value, digits if column else None) for value in values]
    return pd.DataFrame(shown).drop(columns="Value" if all(rows[row] is None for row in rows) else [])


def settings_table(study: Study, known: Facts) -> pd.DataFrame:
    """What a source states, setting by setting, and what this study takes where it states nothing."""
    rows, ours = [], {"profile": study.profile, "bleu": bleu_signature()}
    for section in STATED:
        for at, value in _flat(getattr(known, section), (), whole=True):
            above = [".".join((section, *at[:length])) for length in range(len(at), -1, -1)]
            chosen = str(known.chosen_here.get(above[0], "–")).format(**ours)
            marks = [known.marked[place] for place in above if place in (known.marked or {})]
            stated = NOT_STATED if value is None else _words(value)
            rows.append((section, _title(at), stated, chosen, *(marks[:1] or ["–"])))
    shown = pd.DataFrame(rows, columns=["Section", "What", "Stated", "Chosen here", "Read in"])
    return shown.loc[:, (shown != "–").any()]


def _flat(values: object, above: tuple[str, ...], whole: bool = False) -> Iterator[tuple[tuple[str, ...], object]]:
    """Places and values of nested dictionaries; with ``whole``, one that states all of its values stays one."""
    if not isinstance(values, dict) or (whole and above and "None" not in str(values)):
        yield above, values
    else:
        for name, value in values.items():
            yield from _flat(value, (*above, name), whole)


def _title(at: tuple[str, ...]) -> str:
    names = (METRIC_TITLES.get(name) or AT_DEPTH.sub(r"\1@\2", name) for name in at)
    return ": ".join(IN_WORDS.get(name, name) for name in names).replace("_", " ")


def _words(value: object, digits: int | None = None) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name.replace('_', ' ')}: {_words(one)}" for name, one in value.items())
    if isinstance(value, list):
        return ", ".join(map(_words, value))
    if isinstance(value, float) and digits is not None:
        return f"{value:.{digits}f}"
    if isinstance(value, int):
        return f"{value:,}"
    return "–" if value is None else IN_WORDS.get(str(value), str(value))
