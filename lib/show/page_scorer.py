"""The tables and figures of chapter 04, from its measurements and the runs' metrics."""

from collections.abc import Iterator, Sequence

import matplotlib.pyplot as plt
import pandas as pd

from lib.page_scorer.measured import MISTAKE, PAGES, SCORERS
from lib.page_scorer.mistakes import HONEST, MISTAKES, added_by_mistakes
from lib.show.display import Column, number, printed, with_interval
from lib.show.tables import reported_figures, title, values_of
from lib.stats import Resampling
from lib.study import Study

NAMES = {"untrained": "Untrained encoder", "light": "Light map", "full": "Fine-tuned"}


def _interval(study: Study, values: pd.Series) -> str:
    return with_interval(*Resampling.of(study).interval(values)[:3])


def recall_table(study: Study, frame: pd.DataFrame, part: str, metric: str = "page_recall") -> pd.DataFrame:
    """One row per scorer, one column per number of pages kept: means with intervals, and n.

    Args:
        study: companies and the bootstrap's settings.
        frame: from :func:`lib.page_scorer.measured.measurements`.
        part: ``pages`` for the recall of the kept pages themselves, ``ablation`` for that of both stages; the latter
            has a last column for chunks in the order of their pages, where stage two only orders within a page.
        metric: ``page_recall`` or ``doc_recall``.
    """
    columns = {f"P = {n_pages}": (part, n_pages) for n_pages in PAGES}
    if part == "ablation":
        columns["In page order"] = "page order", study.profile.page_scorer.pages
    values = frame[frame["metric"] == metric].set_index("item")
    parts = dict(list(values.groupby(["part", "scorer", "by", "k"])["value"]))
    rows = []
    for scorer, by in SCORERS:
        own = {head: parts[at, scorer, by, n_pages] for head, (at, n_pages) in columns.items()}
        cells = {head: _interval(study, found) for head, found in own.items()}
        n = {"n": len(own[f"P = {PAGES[0]}"])}
        rows.append({"Page scorer": NAMES[scorer], "Folds by": by or "–"} | cells | n)
    known = reported_figures(study.dataset.name, "page_scorer_pages")
    if known and part == "ablation" and metric == "page_recall":
        cells = {head: number(known.get(n, float("nan"))) for head, (at, n) in columns.items() if at == part}
        cells["In page order"] = "–"
        rows.append({"Page scorer": "Published", "Folds by": "filing"} | cells | {"n": len(study.questions)})
    return pd.DataFrame(rows)


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
    own, rows = frame[frame["part"] == "tokens"], []
    minutes = own[own["metric"] == "wall_s"].set_index("k")["value"] / 60
    for (n_tokens, scorer), part in own[own["metric"] != "wall_s"].groupby(["k", "scorer"], sort=False):
        value = {metric: found.set_index("item")["value"] for metric, found in part.groupby("metric")}
        rows.append(
            {
                "Page scorer": NAMES[scorer],
                "Tokens of a page": n_tokens,
                "Gold pages kept": _interval(study, value["page_recall_kept"]),
                "Page recall": _interval(study, value["page_recall_both"]),
                "Minutes of training": number(minutes[n_tokens], 1) if scorer == "full" else "–",
                "n": len(value["page_recall_both"]),
            }
        )
    return pd.DataFrame(rows)


def _mistakes(study: Study, frame: pd.DataFrame, metric: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each scorer's name and what the mistakes add to its honest run."""
    own = frame[frame["part"].str.startswith(MISTAKE) & (frame["metric"] == metric)]
    for scorer, part in own.groupby("scorer", sort=False):
        values = part.assign(mistake=part["part"].str.removeprefix(MISTAKE), question_id=part["item"])
        yield NAMES[scorer], added_by_mistakes(values, Resampling.of(study))


def mistakes_table(study: Study, frame: pd.DataFrame, metric: str = "page_recall") -> pd.DataFrame:
    """What each mistake adds to the honest run, one row per mistake and scorer."""
    rows = []
    for scorer, table in _mistakes(study, frame, metric):
        for row in table.itertuples():
            added = "–" if row.mistake == HONEST else with_interval(row.added, row.low, row.high)
            rows.append((scorer, MISTAKES[row.mistake], number(row.mean), added, row.n))
    return pd.DataFrame(rows, columns=["Scorer", "Mistake", "Page recall", "Added by the mistake", "n"])


def mistakes_takeaway(study: Study, frame: pd.DataFrame, metric: str = "page_recall") -> str:
    """For each scorer the mistake that adds most, and those whose interval lies above 0."""
    sentences = []
    for scorer, table in _mistakes(study, frame, metric):
        table = table[table["mistake"] != HONEST]
        top = table.loc[table["added"].idxmax()]
        sure = [MISTAKES[mistake] for mistake in table.loc[table["low"] > 0, "mistake"]] or ["none"]
        sentences.append(
            f"{scorer}: most is added ({top['added']:+.2f}) where {MISTAKES[top['mistake']]}; "
            f"its interval is above 0 for: {'; '.join(sure)}."
        )
    if "full" not in set(frame.loc[frame["part"].str.startswith(MISTAKE), "scorer"]):
        sentences.append(
            "On the fine-tuned scorer they are measured by `python -m lib mistakes`, which trains for hours."
        )
    return " ".join(sentences)


def gains_table(
    metrics: pd.DataFrame, questions: pd.DataFrame, method: str, baseline: str, k: int
) -> pd.DataFrame:
    """How many questions gain and lose page recall at k against a baseline, by question type and in all."""
    first, second = (values_of(metrics, name, "standard", "page_recall", k) for name in (method, baseline))
    difference = first - second.reindex(first.index)
    kinds = questions.set_index("question_id")["question_type"].reindex(first.index)
    rows = []
    for kind in [*sorted(kinds.unique()), "all"]:
        own = difference if kind == "all" else difference[kinds == kind]
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
