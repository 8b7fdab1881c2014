"""A table and the sentence of the page ranker for questions of every kind, by question set."""

import pandas as pd

from lib.analysis.compare import BASE, KINDS, TRAINED
from lib.show.display import number


def finding(found: pd.DataFrame) -> str:
    """What each set's gold pages are found of, in one sentence per set."""
    page = found.set_index(["set", "variant"])["page"]
    said = [
        f"On {name}, the untrained sum finds {number(page[name, BASE])} of the gold pages, the trained ranker "
        f"{number(page[name, TRAINED])}, and {number(page[name, KINDS])} with the hand-written page kinds."
        for name in found["set"].unique()
    ]
    return " ".join(said)


def types_table(found: pd.DataFrame) -> pd.DataFrame:
    """A row per set and type of question, of :func:`lib.analysis.compare.by_type`."""
    shown = found.rename(columns={"set": "Questions", "question_type": "Type"})
    return shown.assign(**{name: shown[name].map(number) for name in (BASE, TRAINED, KINDS)})
