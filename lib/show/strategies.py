"""Tables and figures of the sibling studies: what their rows do and find, the weight of dense, and the small judge."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import pandas as pd

from lib.analysis import judged, weights
from lib.analysis.facts import facts
from lib.analysis.scoreboard import judge_agreement
from lib.methods import METHODS
from lib.metrics import METRICS
from lib.metrics.frame import Metrics
from lib.show.display import SHOWN_WIDTH, Column, number, printed, wide
from lib.show.figures import COLOURS, DARK, bars
from lib.show.tables import N, as_table, methods_table, title
from lib.stats import Resampling
from lib.study import Study

PRECISION = ("Judged by the model", "Judged by gold pages")
RELEVANCE = ("Answer relevance", "ROUGE-L with the gold answer")
NORMALISED = {"min_max": "brought to 0..1", "softmax": "softmax, first 100 by dense"}


def left_out(family: str, run: Sequence[str]) -> str:
    """A sentence on the rows of a study that the profile does not run; empty where it runs all."""
    absent = [row.title for row in METHODS.values() if row.family == family and row.name not in run]
    return f"Not run in this profile: {', '.join(absent)}." if absent else ""


def rows_table(study: Study, names: Sequence[str]) -> pd.DataFrame:
    """:func:`lib.show.tables.methods_table`; a row that follows the small model's judgement says how good that is."""
    shown = methods_table(names).set_index("Name", drop=False)
    for name, labels in judged.FOLLOWING.items():
        if name in names:
            found = judge_agreement(study, labels(study))
            kappa, low, high = (number(found[part]) for part in ("kappa", "kappa_low", "kappa_high"))
            agrees = f"agrees with the gold pages by κ = {kappa} [{low}, {high}]; 0 is chance"
            shown.loc[f"`{name}`", "Pipeline"] += f". **Its judgement {agrees}**"
    return shown


def differences_table(study: Study, source: str) -> pd.DataFrame:
    """What a paper states of its rows, and what ours do; cells are markup."""
    rows, heads = facts(source).differs or [], {"Rows": "rows", "In the paper": "paper", "Here": "here"}
    filled = [[row[key].format(**study.profile) for key in heads.values()] for row in rows]
    return pd.DataFrame(filled, columns=[*heads])


def compared_rows(numbers: pd.DataFrame, tested: pd.DataFrame) -> pd.DataFrame:
    """The means of :func:`lib.analysis.compare.means`, and the difference of page recall ``against_reference``."""
    heads = numbers["metric"].map(lambda name: METRICS[name].title) + "@" + numbers["k"].astype(str)
    shown = wide(numbers.assign(metric=heads), ["method"])
    differences = as_table(tested, "against_reference").set_index(tested.index)
    shown = shown[[*heads.unique()]].join(differences).fillna("–").assign(n=shown["n"])
    return shown.rename(index=title).rename_axis("Method").reset_index()


def takeaway(tested: pd.DataFrame) -> str:
    """Which rows differ from what they change beyond chance, in one sentence."""
    better, worse = (", ".join(map(title, names)) or "none" for names in _told_apart(tested))
    return f"Measurably better than the method that they change: {better}. Measurably worse: {worse}."


def finding(tested: Sequence[pd.DataFrame]) -> str:
    """How many strategies of all studies find more or fewer pages than what they change, in one sentence."""
    whole = pd.concat(tested) if tested else pd.DataFrame({"distinguishable": [], "difference": []})
    better, worse = _told_apart(whole)
    named = f" ({', '.join(map(title, better))})" if len(better) else ""
    return (
        f"Of {len(whole)} strategies, {len(better)} find measurably more pages than the method that they change"
        f"{named}, and {len(worse)} measurably fewer."
    )


def _told_apart(tested: pd.DataFrame) -> tuple[pd.Index, pd.Index]:
    """The rows that are better beyond chance, and those that are worse."""
    apart = tested[tested["distinguishable"].astype(bool)]
    return apart.index[apart["difference"] > 0], apart.index[apart["difference"] < 0]


def by_depth(metrics: Metrics, methods: Sequence[str], ks: Sequence[int], found: str = "page") -> pd.DataFrame:
    """Recall of what is ``found`` (page or doc) at several depths, and the ranked measures that are published."""
    prefix, rows = "" if found == "page" else "doc_", []
    columns = {f"@{k}": (f"{found}_recall", k) for k in ks}
    columns |= {f"MRR@{k}": (f"{prefix}mrr", k) for k in (3, 5)}
    columns |= {f"nDCG@{k}": (f"{prefix}ndcg", k) for k in (3, 5, 10)}
    columns |= {"MAP@10": ("map", 10)} if found == "page" else {}
    for name in methods:
        values = {head: metrics[name, *key] for head, key in columns.items()}
        means = {head: number(part.mean()) for head, part in values.items()}
        rows.append({"Method": title(name)} | means | {"n": len(values["nDCG@10"])})
    return pd.DataFrame(rows)


def alpha_sweep(curves: pd.DataFrame, claimed: float, label: str) -> plt.Figure:
    """A measure against the weight of dense, a curve for each normalisation with its interval and its maximum, and the
    weight claimed to be best."""
    drawn, axes = plt.subplots(figsize=(SHOWN_WIDTH, 4.0))
    for colour, (name, curve) in zip(COLOURS, curves.groupby("normalisation", sort=False), strict=False):
        axes.fill_between(curve["alpha"], curve["low"], curve["high"], color=colour, alpha=0.18, lw=0)
        axes.plot(curve["alpha"], curve["mean"], color=colour, lw=2, label=NORMALISED[name])
        best = curve.loc[curve["mean"].idxmax()]
        axes.plot(best["alpha"], best["mean"], "o", color=colour, label=f"highest at {best['alpha']:g}")
    axes.axvline(claimed, color=DARK, ls="--", lw=1, label=f"claimed: {claimed:g}")
    axes.set(xlabel="weight of dense (0: BM25 alone, 1: dense alone)", ylabel=label)
    axes.legend(loc="lower center", ncols=2, fontsize=9, bbox_to_anchor=(0.5, 1.0))
    return drawn


def peaks(study: Study, swept: Mapping[str, pd.DataFrame]) -> str:
    """Where nDCG@10 is highest under each normalisation of :func:`lib.analysis.weights.sweep`, in one sentence."""
    draws, found = Resampling.of(study), []
    for name, values in swept.items():
        means, (low, high) = weights.by_weight(values).mean(), weights.best_interval(draws, values)
        at = f"{number(means.max(), 3)} at α = {means.round(12).idxmax():g}"
        found.append(f"{at}, {low:g} to {high:g} in 95 % of draws of companies ({NORMALISED[name]})")
    return f"nDCG@10 is highest, {'; '.join(found)}."


def chunk_sizes(table: pd.DataFrame) -> plt.Figure:
    """Document and page recall of the chunkings, a bar each with its interval, of method, metric, mean, low, high."""
    names = table["method"].unique()
    drawn, axes = plt.subplots(figsize=(SHOWN_WIDTH, 0.5 * len(names) + 1.4))
    runs = table.set_index("method")
    parts = {metric: part.loc[names] for metric, part in runs.groupby("metric", sort=False)}
    bars(axes, parts, [*map(title, names)], COLOURS)
    axes.set(xlabel="mean over questions")
    axes.legend(loc="lower center", ncols=len(parts), bbox_to_anchor=(0.4, 1.0))
    drawn.tight_layout()
    return drawn


def judged_table(found: pd.DataFrame, first: str, heads: Sequence[str]) -> pd.DataFrame:
    """:func:`lib.analysis.judged.compared` as it is printed, its first column headed ``first``; ``heads``: PRECISION or
    RELEVANCE, of the judged and of the gold measure."""
    titles = zip((*heads, "Rank correlation"), ("judged", "gold", "correlation"), strict=True)
    shown = wide(found, ["name"], heads="measure").reset_index()
    return printed(shown, Column(first, "name"), *(Column(*pair) for pair in titles), N)
