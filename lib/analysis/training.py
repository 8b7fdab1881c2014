"""How page scorers were trained: folds, losses, more tokens and mistakes, of lib.analysis.page_scorer.measurements."""

import pandas as pd

from lib.analysis.page_scorer import COLUMNS, MISTAKE, measurements
from lib.schema import NeedsFilings
from lib.stats import Resampling, columns_of
from lib.study import Study

#: Stages of a recall in the part ``tokens``: the columns of :func:`tokens`.
STAGES = {"page_recall_kept": "recall_of_kept_pages", "page_recall_both": "page_recall"}


def known(study: Study, k: int) -> pd.DataFrame:
    """The measurements of page scorers at ``k``; no rows where they would be made now and the filings are not here."""
    try:
        return measurements(study, k)
    except NeedsFilings:
        return pd.DataFrame(columns=COLUMNS)


def with_mistakes(measured: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Page recall with each evaluation mistake, by scorer: questions × lib.analysis.mistakes.MISTAKES."""
    rows = measured[measured["part"].str.startswith(MISTAKE) & (measured["metric"] == "page_recall")]
    rows = rows.assign(mistake=rows["part"].str.removeprefix(MISTAKE)).rename(columns={"item": "question_id"})
    found = {}
    for scorer, part in rows.groupby("scorer", sort=False):
        wide = part.pivot(index="question_id", columns="mistake", values="value")
        found[scorer] = wide[part["mistake"].unique()]
    return found


def losses(measured: pd.DataFrame) -> pd.DataFrame:
    """The mean training loss of every fold and epoch: the rows of ``measured`` with ``fold`` and ``epoch``."""
    rows = measured[measured["part"] == "curve"]
    places = rows["item"].str.split(":", expand=True).reindex(columns=[0, 1]).astype(float)
    return rows.assign(fold=places[0], epoch=places[1])


def folds(measured: pd.DataFrame) -> pd.DataFrame:
    """What each fold trains on and shares with its test questions: by, item (the fold), counts (``n_…``), nearest (the
    similarity of the nearest question), last_loss, minutes."""
    keys, rows = ["by", "item"], measured[measured["part"] == "training"]
    wide = rows.pivot(index=keys, columns="metric", values="value")
    curve = losses(measured).assign(item=lambda frame: frame["item"].str.split(":").str[0])
    if wide.empty:
        return pd.DataFrame(columns=keys)
    wide = wide.assign(last_loss=curve.groupby(keys)["value"].last(), minutes=wide["wall_s"] / 60).reset_index()
    return wide.astype(dict.fromkeys([name for name in wide if name.startswith("n_")] + ["light_steps"], int))


def tokens(measured: pd.DataFrame, draws: Resampling) -> pd.DataFrame:
    """What more tokens of a page bring on one fold: scorer, Tokens, minutes of training, n, and the recall of kept
    pages and of both stages (STAGES) with their intervals."""
    own = measured[measured["part"] == "tokens"].set_index(["k", "scorer", "item"])
    is_time, rows = own["metric"] == "wall_s", []
    minutes = own[is_time]["value"].groupby(["k", "scorer"]).first() / 60
    for (n_tokens, scorer), part in own[~is_time].groupby(["k", "scorer"], sort=False):
        found = {"scorer": scorer, "Tokens": n_tokens, "minutes": minutes.get((n_tokens, scorer))}
        for metric, column in STAGES.items():
            values = part[part["metric"] == metric]["value"].droplevel(["k", "scorer"])
            found |= columns_of(column, draws.interval(values)) | {"n": len(values)}
        rows.append(found)
    return pd.DataFrame(rows)
