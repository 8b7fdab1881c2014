"""The tables that chapter 08 shows of every sibling study: its rows, their results, and their recall by depth."""

from collections.abc import Sequence

import pandas as pd

from lib.analysis import siblings
from lib.methods import METHODS
from lib.show.display import Shown, table


def rows_table(study, rows: Sequence[str], family: str, name: str) -> Shown:
    """What happens to a question in each row of a study.

    Args:
        study: whose view gets the table.
        rows: the sibling studies' methods that are run.
        family: of the rows that are shown.
        name: of the table's label.
    """
    caption = f"The strategies: what happens to a question. {siblings.left_out(family, rows)}"
    return table(study, siblings.pipelines(_of(family, rows)), f"siblings-{name}-rows", caption, plain=True)


def results_table(study, rows: Sequence[str], metrics: pd.DataFrame, family: str, name: str) -> Shown:
    """The results of a study's rows, each beside the row that it changes; see :func:`rows_table`."""
    own = _of(family, rows)
    shown, numbers = siblings.family_table(study, metrics, own)
    caption = (
        "Retrieval under the standard condition with 95 % intervals (bootstrap over "
        f"{study.questions['company'].nunique()} companies), n = {len(study.questions)}; page recall beside the row "
        "that each strategy changes: paired difference, randomisation test by company, Holm's correction."
    )
    said = siblings.takeaway(study, metrics, own)
    return table(study, shown, f"siblings-{name}", caption, said, numbers)


def depths_table(study, rows: Sequence[str], metrics: pd.DataFrame, family: str, name: str) -> Shown:
    """Page recall of a study's rows at several depths; see :func:`rows_table`."""
    own = _of(family, rows)
    shown = siblings.depths_table(study, metrics, own, study.profile.metrics.ks)
    caption = f"Page recall at several depths, and mean average precision, n = {len(study.questions)}."
    return table(study, shown, f"siblings-{name}-depths", caption)


def _of(family: str, rows: Sequence[str]) -> list[str]:
    return [name for name in rows if METHODS[name].family == family]
