"""The tables and figures of chapter 04, from its measurements and the runs' metrics."""

from collections.abc import Iterator, Sequence

import matplotlib.pyplot as plt
import pandas as pd

from lib.page_scorer import mistakes_table as slip_tables
from lib.page_scorer.measured import PAGES, SCORERS
from lib.show.display import number, with_interval
from lib.show.tables import published_study, title, values_of
from lib.stats import clustered_bootstrap

NAMES = {"untrained": "Untrained encoder", "light": "Light map", "full": "Fine-tuned"}


def _companies(study) -> pd.Series:
    return study.questions.set_index("question_id")["company"]


def _interval(study, values: pd.Series) -> str:
    settings = study.profile.significance
    found = clustered_bootstrap(
        values, _companies(study).reindex(values.index), settings.n_draws, settings.seed
    )
    return with_interval(found.mean, found.low, found.high)


def recall_table(study, frame: pd.DataFrame, part: str, metric: str = "page_recall") -> pd.DataFrame:
    """One row a scorer, one column a number of pages kept: means with intervals, and n.

    Args:
        study: gives companies and the bootstrap's settings.
        frame: from :func:`lib.page_scorer.measured.measurements`.
        part: ``pages`` for the recall of the kept pages themselves, ``ablation`` for that of both stages; the latter
            has a last column for chunks in the order of their pages, where stage two only orders within a page.
        metric: ``page_recall`` or ``doc_recall``.
    """
    chosen = frame[frame["part"].isin([part, "page order"]) & (frame["metric"] == metric)]
    rows = []
    for scorer, by in SCORERS:
        own = chosen[(chosen["scorer"] == scorer) & (chosen["by"] == by)].set_index("item")
        row = {"Page scorer": NAMES[scorer], "Folds by": by or "–"}
        for n_pages in PAGES:
            row[f"P = {n_pages}"] = _interval(
                study, own[(own["part"] == part) & (own["k"] == n_pages)]["value"]
            )
        if part == "ablation":
            row["In page order"] = _interval(study, own[own["part"] == "page order"]["value"])
        rows.append(row | {"n": own.index.nunique()})
    if part == "ablation" and metric == "page_recall":
        known = published_study()["page_scorer_pages"]
        published = {f"P = {n}": number(known[n]) if n in known else "–" for n in PAGES} | {
            "In page order": "–"
        }
        rows.append(
            {"Page scorer": "Published", "Folds by": "filing"} | published | {"n": len(study.questions)}
        )
    return pd.DataFrame(rows)


def folds_table(frame: pd.DataFrame, metrics: pd.DataFrame, methods: dict[str, str], k: int) -> pd.DataFrame:
    """Page recall at k by fold, its mean and standard deviation; ``methods`` maps a method to its folds' kind."""
    rows = []
    for method, by in methods.items():
        fold = frame[(frame["part"] == "fold") & (frame["by"] == by)].set_index("item")["value"].astype(int)
        values = values_of(metrics, method, "standard", "page_recall", k)
        means = values.groupby(fold.reindex(values.index)).mean()
        row = {"Method": title(method), "Folds by": by} | {
            f"Fold {n}": number(mean) for n, mean in means.items()
        }
        rows.append(row | {"Mean": number(means.mean()), "SD": number(means.std()), "n": len(values)})
    return pd.DataFrame(rows)


def training_table(frame: pd.DataFrame) -> pd.DataFrame:
    """What each fold trained on, what training and test share, and how long it took."""
    wide = (
        frame[frame["part"] == "training"]
        .pivot(index=["by", "item"], columns="metric", values="value")
        .reset_index()
    )
    final = frame[frame["part"] == "curve"].assign(item=lambda f: f["item"].str.split(":").str[0])
    final = final.groupby(["by", "item"])["value"].last()
    return pd.DataFrame(
        {
            "Folds by": wide["by"],
            "Fold": wide["item"],
            "Questions held out": wide["n_questions"].astype(int),
            "Training pairs": wide["n_pairs"].astype(int),
            "Filings in both": wide["n_shared_filings"].astype(int),
            "Companies in both": [
                f"{int(both)} of {int(of)}"
                for both, of in zip(wide["n_shared_companies"], wide["n_test_companies"], strict=True)
            ],
            "Nearest question": wide["nearest"].map(number),
            "Last loss": [number(final[key]) for key in zip(wide["by"], wide["item"], strict=True)],
            "Minutes": (wide["wall_s"] / 60).map("{:.0f}".format),
            "Light steps": wide["light_steps"].astype(int),
        }
    )


def curves(frame: pd.DataFrame) -> plt.Figure:
    """Mean training loss of each epoch, one line a fold, one panel a kind of folds."""
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


def tokens_table(study, frame: pd.DataFrame) -> pd.DataFrame:
    """What reading more of a page brings and costs, one row a scorer and number of tokens."""
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


def _slips(study, frame: pd.DataFrame, metric: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each scorer and what the slips add to its honest run."""
    settings = study.profile.significance
    own = frame[frame["part"].str.startswith("slip ") & (frame["metric"] == metric)]
    for scorer, part in own.groupby("scorer", sort=False):
        values = part.assign(slip=part["part"].str.removeprefix("slip "), question_id=part["item"])
        yield (scorer, slip_tables.slip_table(values, _companies(study), settings.n_draws, settings.seed))


def slips_table(study, frame: pd.DataFrame, metric: str = "page_recall") -> pd.DataFrame:
    """What each slip adds to the honest run, one row a slip and scorer."""
    rows = []
    for scorer, table in _slips(study, frame, metric):
        for row in table.itertuples():
            added = "–" if row.slip == slip_tables.HONEST else with_interval(row.added, row.low, row.high)
            told = slip_tables.SLIPS[row.slip]
            rows.append((NAMES[scorer], told, number(row.mean), added, row.n))
    return pd.DataFrame(rows, columns=["Scorer", "Slip", "Page recall", "Added by the slip", "n"])


def slips_takeaway(study, frame: pd.DataFrame, metric: str = "page_recall") -> str:
    """For each scorer the slip that adds most, and those whose interval lies above 0."""
    told = []
    for scorer, table in _slips(study, frame, metric):
        slips = table[table["slip"] != slip_tables.HONEST]
        top = slips.loc[slips["added"].idxmax()]
        sure = [slip_tables.SLIPS[slip] for slip in slips.loc[slips["low"] > 0, "slip"]] or ["none"]
        told.append(
            f"{NAMES[scorer]}: most is added ({top['added']:+.2f}) where {slip_tables.SLIPS[top['slip']]}; "
            f"its interval is above 0 for: {'; '.join(sure)}."
        )
    return " ".join(told)


def gains_table(
    metrics: pd.DataFrame, questions: pd.DataFrame, method: str, baseline: str, k: int
) -> pd.DataFrame:
    """Question by question against a baseline: how many gain and lose page recall at k, by question type and in all."""
    first, second = (values_of(metrics, name, "standard", "page_recall", k) for name in (method, baseline))
    difference = first - second.reindex(first.index)
    kinds = questions.set_index("question_id")["question_type"].reindex(first.index)
    rows = []
    for kind in [*sorted(kinds.unique()), "all"]:
        own = difference if kind == "all" else difference[kinds == kind]
        counts = {"Gains": (own > 0).sum(), "Same": (own == 0).sum(), "Loses": (own < 0).sum()}
        rows.append(
            {"Question type": kind} | counts | {"Mean difference": f"{own.mean():+.2f}", "n": len(own)}
        )
    return pd.DataFrame(rows)


def gained_and_lost(metrics: pd.DataFrame, methods: Sequence[str], k: int) -> pd.DataFrame:
    """question_id, doc-free page recall of two methods and their difference, where they differ, gains first."""
    wide = pd.DataFrame({name: values_of(metrics, name, "standard", "page_recall", k) for name in methods})
    difference = wide[methods[0]] - wide[methods[1]]
    wide = wide.assign(difference=difference)[difference != 0]
    return wide.sort_values("difference", ascending=False, kind="stable").reset_index()
