"""The tables and figures of chapter 04, from its measurements and the runs' metrics."""

from collections.abc import Sequence
from functools import partial

import matplotlib.pyplot as plt
import pandas as pd

from lib.page_scorer.measured import MISTAKE, PAGES, SCORERS
from lib.page_scorer.mistakes import HONEST, MISTAKES, added_by_mistakes
from lib.show.display import Column, number, printed, with_interval
from lib.show.tables import MEANS, REPORTED, reported_cell, reported_rows, title, values_of
from lib.stats import Resampling
from lib.study import Study

UNTRAINED = "On the fine-tuned scorer they are measured by `python -m lib mistakes`, which trains for hours."
NAMES = {"untrained": "Untrained encoder", "light": "Light map", "full": "Fine-tuned"}


def _cells(study: Study, frame: pd.DataFrame, keys: list[str]) -> pd.Series:
    values, draws = frame.set_index("item").groupby(keys, sort=False)["value"], Resampling.of(study)
    return values.agg(lambda own: with_interval(*draws.interval(own)[:3]))


def recall_table(study: Study, frame: pd.DataFrame, part: str) -> pd.DataFrame:
    """Page recall of each scorer (rows) at each number of pages kept (columns): means with intervals, and n.

    ``part`` of the measurements is ``pages`` for the kept pages themselves, or ``ablation`` for both stages, with a
    last column for chunks in the order of their pages.
    """
    columns, n = {f"P = {n_pages}": (part, n_pages) for n_pages in PAGES}, {"n": len(study.questions)}
    if part == "ablation":
        columns["In page order"] = "page order", study.profile.page_scorer.pages
    own = frame[(frame["metric"] == "page_recall") & frame["part"].isin([part, "page order"])]
    cells, rows = _cells(study, own, ["part", "scorer", "by", "k"]), []
    for scorer, by in SCORERS:
        row = {head: cells[at, scorer, by, k] for head, (at, k) in columns.items()}
        rows.append({"Page scorer": NAMES[scorer], "Folds by": by or "–"} | row | n)
    return pd.DataFrame(rows)


def kept_table(study: Study, frame: pd.DataFrame) -> pd.DataFrame:
    """:func:`lib.page_scorer.measured.ablation` by pages kept, and beside it the main study's Table 6."""
    known = reported_rows(study.dataset.name, "Table 6")
    cells = _cells(study, frame.rename(columns={"question_id": "item"}), ["n_pages", "metric"]).unstack()
    reported = Column(REPORTED, "n_pages", lambda n_pages: reported_cell(known.get(f"P={n_pages}", {})))
    shown = cells.assign(n=frame["question_id"].nunique()).reset_index()
    return printed(shown, Column("P", "n_pages"), *MEANS, *([reported] if known else []), Column("n", "n"))


def folds_table(frame: pd.DataFrame, metrics: pd.DataFrame, methods: dict[str, str], k: int) -> pd.DataFrame:
    """Page recall at k by fold, its mean and standard deviation; ``methods`` maps a method to its folds' kind."""
    rows = []
    for method, by in methods.items():
        fold = frame[(frame["part"] == "fold") & (frame["by"] == by)].set_index("item")["value"].astype(int)
        values = values_of(metrics, method, "standard", "page_recall", k)
        means = values.groupby(fold.reindex(values.index)).mean()
        spread = {"Mean": number(means.mean()), "SD": number(means.std()), "n": len(values)}
        cells = {f"Fold {n}": number(mean) for n, mean in means.items()}
        rows.append({"Method": title(method), "Folds by": by} | cells | spread)
    return pd.DataFrame(rows)


def training_table(frame: pd.DataFrame) -> pd.DataFrame:
    """What each fold trained on, what training and test share, and how long it took."""
    keys = ["by", "item"]
    wide = frame[frame["part"] == "training"].pivot(index=keys, columns="metric", values="value")
    curve = frame[frame["part"] == "curve"].assign(item=lambda f: f["item"].str.split(":").str[0])
    wide["last_loss"] = curve.groupby(keys)["value"].last()
    return printed(
        wide.reset_index(),
        Column("Folds by", "by"),
        Column("Fold", "item"),
        Column("Questions held out", "n_questions", int),
        Column("Training pairs", "n_pairs", int),
        Column("Filings in both", "n_shared_filings", int),
        Column("Companies in both", ("n_shared_companies", "n_test_companies"), "{:.0f} of {:.0f}".format),
        Column("Nearest question", "nearest", number),
        Column("Last loss", "last_loss", number),
        Column("Minutes", "wall_s", lambda seconds: f"{seconds / 60:.0f}"),
        Column("Light steps", "light_steps", int),
    )


def curves(frame: pd.DataFrame) -> plt.Figure:
    """Mean training loss of each epoch, one line per fold, one panel per kind of folds."""
    part = frame[frame["part"] == "curve"]
    drawn, panels = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True)
    for axes, (by, own) in zip(panels, part.groupby("by"), strict=True):
        place = own["item"].str.split(":", expand=True).astype(int)
        for fold, line in own.groupby(place[0]):
            axes.plot(place.loc[line.index, 1], line["value"], marker="o", ms=3, label=f"fold {fold}")
        axes.set(xlabel="epoch", title=f"folds by {by}", ylim=(0, None))
    panels[0].set_ylabel("training loss")
    panels[1].legend(frameon=False, fontsize=8)
    drawn.tight_layout()
    return drawn


def tokens_table(study: Study, frame: pd.DataFrame) -> pd.DataFrame:
    """What reading more of a page brings and costs, one row per scorer and number of tokens."""
    own, keys = frame[frame["part"] == "tokens"], ["k", "scorer"]
    is_time = own["metric"] == "wall_s"
    table = _cells(study, own[~is_time], [*keys, "metric"]).unstack("metric", sort=False)
    table["minutes"] = own[is_time].set_index(keys)["value"] / 60
    return printed(
        table.assign(n=own.loc[~is_time, "item"].nunique()).reset_index(),
        Column("Page scorer", "scorer", NAMES.get),
        Column("Tokens of a page", "k"),
        Column("Gold pages kept", "page_recall_kept"),
        Column("Page recall", "page_recall_both"),
        Column("Minutes of training", "minutes", partial(number, digits=1)),
        Column("n", "n"),
    )


def _added(study: Study, frame: pd.DataFrame) -> pd.DataFrame:
    own = frame[frame["part"].str.startswith(MISTAKE) & (frame["metric"] == "page_recall")]
    own = own.assign(mistake=own["part"].str.removeprefix(MISTAKE), question_id=own["item"])
    parts, draws = own.groupby("scorer", sort=False), Resampling.of(study)
    return pd.concat([added_by_mistakes(part, draws).assign(scorer=name) for name, part in parts])


def mistakes_table(study: Study, frame: pd.DataFrame) -> pd.DataFrame:
    """What each mistake adds to the honest run, one row per mistake and scorer."""
    table = _added(study, frame)
    cells = map(with_interval, table["added"], table["low"], table["high"])
    return printed(
        table.assign(cell=pd.Series(list(cells), table.index).where(table["mistake"] != HONEST, "–")),
        Column("Scorer", "scorer", NAMES.get),
        Column("Mistake", "mistake", MISTAKES.get),
        Column("Page recall", "mean", number),
        Column("Added by the mistake", "cell"),
        Column("n", "n"),
    )


def mistakes_takeaway(study: Study, frame: pd.DataFrame) -> str:
    """For each scorer the mistake that adds most, and those whose interval lies above 0."""
    added, sentences = _added(study, frame), []
    for scorer, table in added[added["mistake"] != HONEST].groupby("scorer", sort=False):
        top = table.loc[table["added"].idxmax()]
        sure = [MISTAKES[mistake] for mistake in table.loc[table["low"] > 0, "mistake"]] or ["none"]
        sentences.append(
            f"{NAMES[scorer]}: most is added ({top['added']:+.2f}) where {MISTAKES[top['mistake']]}; "
            f"its interval is above 0 for: {'; '.join(sure)}."
        )
    if "full" not in set(added["scorer"]):
        sentences.append(UNTRAINED)
    return " ".join(sentences)


def gains_table(
    metrics: pd.DataFrame, questions: pd.DataFrame, method: str, baseline: str, k: int
) -> pd.DataFrame:
    """How many questions gain and lose page recall at k against a baseline, by question type and in all."""
    first, second = (values_of(metrics, name, "standard", "page_recall", k) for name in (method, baseline))
    difference, rows = first - second.reindex(first.index), []
    kinds = questions.set_index("question_id")["question_type"].reindex(first.index)
    for kind, own in [*difference.groupby(kinds), ("all", difference)]:
        counts = {"Gains": (own > 0).sum(), "Same": (own == 0).sum(), "Loses": (own < 0).sum()}
        mean = {"Mean difference": f"{own.mean():+.2f}", "n": len(own)}
        rows.append({"Question type": kind} | counts | mean)
    return pd.DataFrame(rows)


def gained_and_lost(metrics: pd.DataFrame, methods: Sequence[str], k: int) -> pd.DataFrame:
    """question_id, page recall of two methods and their difference, where they differ, gains first."""
    wide = pd.DataFrame({name: values_of(metrics, name, "standard", "page_recall", k) for name in methods})
    wide["difference"] = wide[methods[0]] - wide[methods[1]]
    wide = wide[wide["difference"] != 0].sort_values("difference", ascending=False, kind="stable")
    return wide.reset_index()
