"""One wording for all questions that ask the same, so that the same pages are found however a question is put."""

from collections.abc import Sequence

from lib.filings.identity import Identity
from lib.retrievers.items import STATEMENTS, words_of
from lib.statements.asked import Wanted
from lib.statements.formulas import items, names_in


def one_wording(question: str, wanted: Wanted, company: str, asked: Identity) -> str:
    """A question about line items of one company in the words of a filing; as it is, where a word of it was not read.

    ``What was Oskarvale's capital expenditures in 2021, according to the cash flow statement?``
    """
    names = names_in(wanted.formula)
    if not company or wanted.problem or wanted.unread or any(name.startswith("row_") for name in names):
        return question
    about = [items()[name] for name in names]
    titles = list(dict.fromkeys(STATEMENTS[one["kind"]] for one in about if one.get("kind") in STATEMENTS))
    period = [f"Q{asked.quarter}"] * bool(asked.quarter) + [str(asked.year)] * bool(asked.year)
    period += [f"at {day:%B %d, %Y}" for day in asked.dates[-1:]]
    where = f", according to the {_listed(titles)}" if titles else ""
    when = f" in {' '.join(period)}" if period else ""
    return f"What was {company}'s {_listed(list(map(words_of, names)))}{when}{where}?"


def _listed(words: Sequence[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
