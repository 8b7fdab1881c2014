"""Each row beside the one that it changes: strategies, single changes of a pipeline, variants of the page ranker.

The changes of a pipeline are those of ``actions.yaml``. A change that was tried in several forms is represented by the
form with the largest gain, which flatters it; p-values are those of the form's family (:mod:`lib.analysis.families`).
A change *pays* where the interval of its best form's gain is above zero; with a corrected p of 0.05 or more it may yet
be luck.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from lib.ahead.ranker import FROM_COVERS, UNTRAINED, WHOLE, WITH_KINDS, Variant, nested_recalls, without
from lib.ahead.sets import SETS
from lib.ahead.views import VIEWS
from lib.analysis.families import RUNG, corrected
from lib.analysis.frontier import TIMES, known_table
from lib.analysis.ladder import LADDER
from lib.evaluation import in_order, read_metrics
from lib.files import read_yaml
from lib.methods import METHODS
from lib.metrics.frame import Metrics
from lib.published import METRICS_FILE
from lib.stats import LEVELS, Resampling, holm
from lib.study import Study
from lib.words import NeedsFilings

SHOWN = (("doc_recall", 5), ("page_recall", 5), ("mrr", 10), ("ndcg", 10))
ACTIONS: list[dict] = read_yaml(Path(__file__).with_name("actions.yaml"))
#: Of a change: ``form`` and ``base`` are the titles of the rows with it and without it, ``forms`` how many were tried;
#: page recall of both, the difference with its interval, and seconds per question (NaN where they were not measured).
ACTION_COLUMNS = (
    "do needs form base forms reference_mean mean low high difference difference_low difference_high p_holm base_s "
    "form_s n pays is_sure"
).split()
BASE = "untrained sum of identity and words"
TRAINED, KINDS = "trained, without hand-written kinds", "trained, with hand-written kinds"
#: Which variants of the page ranker are measured, by title.
MEASURED = {
    BASE: UNTRAINED,
    TRAINED: WHOLE,
    KINDS: WITH_KINDS,
    f"{KINDS}, by cover pages": FROM_COVERS,
    **{f"trained, without {name}": without(name) for name in (*VIEWS, "encoder")},
}
RECALLS = ["doc_recall", "page_recall"]
SET_COLUMNS = (
    "variant set n companies seeds doc page low high reference difference difference_low difference_high p p_holm"
).split()


def against_reference(study: Study, metrics: Metrics, methods: Sequence[str]) -> pd.DataFrame:
    """Page recall at 5 of each row against the one that it changes (``reference``), corrected for all rows together:
    the columns of :meth:`lib.stats.Resampling.compare`."""
    own = {name: metrics[name, "page_recall", 5] for name in methods}
    changed = {name: METHODS[name].changes for name in methods}
    base = {name: metrics[row, "page_recall", 5] for name, row in changed.items()}
    return Resampling.of(study).compare(base, own).assign(reference=changed.values())


def with_references(methods: Sequence[str]) -> list[str]:
    """The rows that others change, and then these, so that a reader sees what is changed."""
    changed = dict.fromkeys(METHODS[name].changes for name in methods)
    return [*(name for name in changed if name not in methods), *methods]


def means(study: Study, metrics: Metrics, methods: Sequence[str]) -> pd.DataFrame:
    """The SHOWN metrics of rows with intervals: method, metric, k, mean, low, high, n."""
    draws = Resampling.of(study)
    entries = [(name, *measure) for name in methods for measure in SHOWN]
    rows = [(*one, *draws.interval(metrics[one])[:4]) for one in entries]
    return pd.DataFrame(rows, columns=["method", "metric", "k", "mean", "low", "high", "n"])


def _pairs(action: dict, metrics: Metrics, k: int) -> Iterator[tuple[str, str, pd.Series, pd.Series]]:
    """Names of the forms and bases of a change that were measured, with their page recall by question."""
    for form, base in action.get("rows", {}).items():
        if form in METHODS and base in METHODS:
            yield form, base, *(metrics[name, "page_recall", k] for name in (form, base))
    for form, base in action.get("rungs", {}).items():
        names = f"{RUNG}{form}", f"{RUNG}{base}"
        yield *names, *(metrics["ahead", name, k] for name in names)


def actions(study: Study, k: int = 5) -> pd.DataFrame:
    """ACTION_COLUMNS of every change that was measured here, those that pay first, by their gain."""
    table, times = read_metrics(study.outputs / METRICS_FILE), known_table(study, TIMES)
    is_read = table["metric"].str.startswith(("page_recall", RUNG)) & (table["k"] == k)
    metrics = Metrics(in_order(table[is_read.astype(bool)], study.questions))  # p-values depend on the order
    seconds = {} if times is None else times.set_index("method")["question_s"].to_dict()
    about, own, base = {}, {}, {}
    for number, action in enumerate(ACTIONS if (metrics.frame["k"] == k).any() else ()):
        for form, other, *values in _pairs(action, metrics, k):
            if all(map(len, values)):
                found = {"form": _title(form), "base": _title(other), "number": number, "contrast": (form, other)}
                found |= {"base_s": seconds.get(other), "form_s": seconds.get(form)}
                about[number, form] = action | found
                own[number, form], base[number, form] = values
    if not about:
        return pd.DataFrame(columns=ACTION_COLUMNS)
    draws, pairs = Resampling.of(study), [one["contrast"] for one in about.values()]
    found = draws.compare(base, own).rename(columns=LEVELS).reset_index(drop=True)
    found["p_holm"] = corrected(draws, metrics, pairs, k).array
    found = pd.DataFrame(about.values()).join(found)
    found["forms"] = found.groupby("number")["form"].transform("size")
    best = found.sort_values("difference", ascending=False, kind="stable").drop_duplicates("number")
    best["pays"] = best["difference_low"] > 0
    best["is_sure"] = best["pays"] & (best["p_holm"] < 0.05)
    ordered = best.sort_values(["is_sure", "pays"], ascending=False, kind="stable", ignore_index=True)
    return ordered[ACTION_COLUMNS]


def _title(name: str) -> str:
    rungs = {f"{RUNG}{rung.name}": rung.title.removeprefix("+ ") for rung in LADDER}
    return METHODS[name].title if name in METHODS else f"Ladder: {rungs[name]}"


def seeds_of(study: Study, variant: Variant) -> list[int]:
    """The seeds of the folds under which a variant is measured: all, but one of what has no folds."""
    return list(study.profile.ahead.fold_seeds)[: 1 if variant == UNTRAINED else None]


def has_sets(study: Study) -> bool:
    """Whether the study's filings have several question sets, so that a ranker is trained on all of them."""
    return study.dataset.collection in SETS


def mean_recalls(study: Study, variant: Variant, sets: tuple[str, ...] = ()) -> pd.DataFrame:
    """The recalls of each question, mean over seeds: question_id, set, question_type, company, doc_recall, page_recall.

    Empty where they are not known and cannot be computed here.
    """
    try:
        drawn = [nested_recalls(study, variant, seed, sets) for seed in seeds_of(study, variant)]
    except NeedsFilings:
        return pd.DataFrame(columns=["question_id", "set", "question_type", "company", *RECALLS])
    return drawn[0].assign(**(sum(one[RECALLS] for one in drawn) / len(drawn)))


def by_set(study: Study, steps: pd.DataFrame | None = None) -> pd.DataFrame:
    """SET_COLUMNS: every variant on every set, with its difference in page recall from its reference: the ranker of all
    views for those with kinds or without a view, else the untrained sum.

    Intervals and tests draw companies; p_holm is corrected within a set and a reference (Holm, 1979). What the kinds
    are worth on the study's own set is a step of the ladder, too: it has the p of these ``steps``, where given.
    """
    found = {title: mean_recalls(study, variant) for title, variant in MEASURED.items()}
    if found[BASE].empty:
        return pd.DataFrame(columns=SET_COLUMNS)
    for name in (study.dataset.collection, *SETS.get(study.dataset.collection, ())):
        found[f"trained on {name} alone"] = mean_recalls(study, WHOLE, (name,))
    rows, own, base = [], {}, {}
    for title, recalls in found.items():
        n_seeds = len(seeds_of(study, MEASURED.get(title, WHOLE)))
        reference = TRAINED if title in MEASURED and title not in (BASE, TRAINED) else BASE
        of_reference = found[reference].set_index("question_id")["page_recall"]
        for name, part in recalls.set_index("question_id").groupby("set", sort=False):
            own[title, name], base[title, name] = part["page_recall"], of_reference.reindex(part.index)
            rows.append((title, name, n_seeds, part["doc_recall"].mean(), reference))
    significance = study.profile.significance
    company = found[BASE].set_index("question_id")["company"]
    table = Resampling(company, significance.n_draws, significance.seed).compare(base, own)
    table = table.rename(columns=LEVELS | {"n_clusters": "companies", "mean": "page"}).reset_index(drop=True)
    table = pd.DataFrame(rows, columns=["variant", "set", "seeds", "doc", "reference"]).join(table)
    is_base = table["variant"] == BASE
    table.loc[is_base, ["difference", "difference_low", "difference_high", "p"]] = float("nan")
    table.loc[is_base, "reference"] = ""
    of_ladder = {} if steps is None else steps.set_index("title")["p_holm"].to_dict()
    is_step = table["variant"].eq(KINDS) & table["set"].eq(study.dataset.name) & (LADDER[-1].title in of_ladder)
    p_holm = table[~is_step].dropna(subset="p").groupby(["set", "reference"])["p"].transform(holm)
    p_holm = p_holm.reindex(table.index).where(~is_step, of_ladder.get(LADDER[-1].title))
    return table.assign(p_holm=p_holm)[SET_COLUMNS]


def by_type(study: Study) -> pd.DataFrame:
    """Page recall by set and type of question: a row per type, a column per variant by records without ablations."""
    found = {
        title: mean_recalls(study, variant).groupby(["set", "question_type"], sort=False)["page_recall"]
        for title, variant in MEASURED.items()
        if not variant.name.startswith("without") and not variant.is_from_covers
    }
    parts = {title: of.mean() for title, of in found.items()}
    return pd.DataFrame(parts).assign(n=found[BASE].size()).reset_index()
