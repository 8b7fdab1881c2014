"""Two encoders side by side: what the better one changes in each row, and page recall beside other changes."""

from collections.abc import Collection, Sequence
from functools import partial
from itertools import compress, product
from math import comb

import numpy as np
import pandas as pd

from lib import runs
from lib.evaluation import evaluate_runs
from lib.method_sets import measured
from lib.methods import METHODS
from lib.metrics.losses import losses_of
from lib.metrics.retrieval import page_recall
from lib.models.weights import models_of
from lib.other_sets import BETTER, with_both_encoders
from lib.page_scorer.search import score
from lib.profile import load_profile
from lib.retrievers.matched import run_within
from lib.schema import CONDITIONS, K
from lib.stats import DIFFERENCE, EDGES, Resampling, tier
from lib.study import Study

FACTORS = ("encoder", "match", "order", "training")
LOSSES = {"lost": "document", "inside": "page", "found": "found"}  # as columns name the parts of lib.metrics.losses
CELLS_READ = ("embedder", "page_scorer", "page_scorer_light", "run")
CHANGED = {"reference_mean": "first", "mean": "second"} | {name: name for name in (*DIFFERENCE, "p_holm")}
#: Rows of the figure of both encoders.
DRAWN = "dense multi_hyde_rerank dense_records hybrid_rrf_records page_scorer_light_order_records".split()
MATCH, GIVEN, ALL = "filings matched", "filing given", "all filings"  # what a run searches


def pairs(study: Study, run: tuple[str, str] | None = None) -> dict[str, tuple[Study, Study]]:
    """:func:`lib.other_sets.with_both_encoders`; of sets alone whose profiles both have the ``run``, a method and a
    condition, where one is given."""
    found = with_both_encoders(study)
    return {name: both for name, both in found.items() if not run or all(run in measured(one.profile) for one in both)}


def changes(first: Study, second: Study, k: int) -> pd.DataFrame:
    """The runs that both have and that the encoder changes: method, condition, ``searched`` (ALL, MATCH or GIVEN) and,
    behind each of LOSSES, what CHANGED names: both means, their difference and interval, Holm's p over the runs."""
    shared = [run for run in measured(second.profile) if run in set(measured(first.profile))]
    shared = [run for run in shared if run[1] != CONDITIONS[2]]  # given the pages, no encoder can lose one
    shared = [run for run in shared if all(one.has_run(*run) for one in (first, second))]
    shared = [run for run in shared if first.run_entry(*run).digest != second.run_entry(*run).digest]
    table, draws = pd.DataFrame(shared, columns=["method", "condition"]), Resampling.of(first)
    both = [evaluate_runs(study, shared) for study in (first, second)]
    before, after = ({run: losses_of(metrics, run, k) for run in shared} for metrics in both)
    is_matched = ["metadata match" in METHODS[name].title for name in table["method"]]
    table["searched"] = np.select([table["condition"] != CONDITIONS[0], is_matched], [GIVEN, MATCH], ALL)
    for what, part in LOSSES.items():
        reference, others = ({run: parts[part] for run, parts in of.items()} for of in (before, after))
        found = draws.compare(reference, others).reset_index(drop=True)
        table = table.join(found[[*CHANGED]].rename(columns=CHANGED).add_prefix(f"{what}_"))
    return table


def all_changes(study: Study, k: int) -> pd.DataFrame:
    """:func:`changes` of every question set over the study's filings that is published with both encoders (``set``)."""
    parts = [changes(*pair, k).assign(set=name) for name, pair in pairs(study).items()]
    return pd.concat(parts) if parts else pd.DataFrame(columns=["set", "method", "condition", "searched"])


def drawn_changes(moved: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """What the better encoder changes in the DRAWN rows of :func:`changes`: a head to mean, low and high by method."""
    rows = moved[(moved["condition"] == CONDITIONS[0]) & moved["method"].isin(DRAWN)].set_index("method")
    rows = rows.loc[[name for name in DRAWN if name in rows.index]]
    if rows.empty:
        return {}
    heads = {"page recall": "found", "page not retrieved": "inside", "filing not retrieved": "lost"}
    ends = dict(zip(DIFFERENCE, ("mean", "low", "high"), strict=True))
    return {
        head: rows[[f"{part}_{end}" for end in ends]].set_axis([*ends.values()], axis=1) for head, part in heads.items()
    }


def counted(moved: pd.DataFrame) -> dict[str, int]:
    """How many runs of :func:`changes` there are, and how many find more or fewer pages with the better encoder, see
    :func:`lib.stats.tier`: runs, more, likely_more, fewer and likely_fewer."""
    found = [
        tier(*ends)
        for ends in moved.filter(["found_difference_low", "found_difference_high", "found_p_holm"]).itertuples(
            index=False
        )
    ]
    names = {"more": "gain", "likely_more": "likely gain", "fewer": "loss", "likely_fewer": "likely loss"}
    return {"runs": len(moved)} | {name: found.count(verdict) for name, verdict in names.items()}


def titles(study: Study) -> dict[str, str]:
    """The names of the study's encoder (``before``) and of the better one (``after``)."""
    profiles = {"before": study.profile, "after": load_profile(BETTER)}
    return {end: models_of(profile)["embedder"]["title"] for end, profile in profiles.items()}


def cells(study: Study) -> pd.DataFrame:
    """Page recall at 5 of each question, page first, with each :func:`combination` of the changes but the encoder:
    question_id and a column for each; stored."""
    params = {name: study.digest(name) for name in ("chunks", "questions", "filings")}
    params |= {"run": study.run_entry("page_scorer_light").digest, "settings": study.settings_of(CELLS_READ)}
    return study.store.frame("analysis/cells", params, lambda: _cells(study), public=True)


def _cells(study: Study) -> pd.DataFrame:
    candidates, depth, found = study.candidates("standard"), study.profile.run.depth, {}

    def rank(allowed: np.ndarray, changes: Collection[str]) -> pd.DataFrame:
        scorer, order = "light" if "training" in changes else "untrained", "page" if "order" in changes else "base"
        scored = score(study, allowed, scorer, order=order).astype("float32", copy=True)
        scored[~allowed] = float("-inf")
        return runs.rank(scored, study.questions, study.chunks, depth)

    for changes in subsets(FACTORS[1:]):
        of_changes = partial(rank, changes=changes)
        run = run_within(study, candidates, False, of_changes) if "match" in changes else of_changes(candidates)
        found[combination(changes)] = page_recall(run, study.questions, K)
    return pd.DataFrame(found).reset_index()


def subsets(factors: Sequence[str]) -> list[tuple[str, ...]]:
    """All subsets of some of FACTORS, from none to all, each in their order."""
    return [tuple(compress(factors, choice)) for choice in product((False, True), repeat=len(factors))]


def combination(changes: Collection[str]) -> str:
    """Some of FACTORS as :func:`recalls` names them together, such as ``encoder+match``; ``none`` without any."""
    return "+".join(name for name in FACTORS if name in changes) or "none"


def recalls(first: Study, second: Study) -> pd.DataFrame:
    """Page recall at 5, page first, with each :func:`combination` of FACTORS: questions × combinations.

    Args:
        first, second: the same questions with both encoders, see :func:`pairs`.
    """
    before, after = (cells(one).set_index("question_id") for one in (first, second))
    found = {}
    for changes in subsets(FACTORS):
        table = after if FACTORS[0] in changes else before
        found[combination(changes)] = table[combination({*changes} - {FACTORS[0]})]
    return pd.DataFrame(found)


def shapley(values: pd.DataFrame, draws: Resampling) -> pd.DataFrame:
    """What each change adds to the mean of ``values``: its Shapley value (1953).

    A change adds the mean with it less the mean without it, given what was changed before. ``worth`` is the mean of
    this over all orders of the changes, so that the worths of all add to what they add together.

    Args:
        values: questions × the combinations of all changes that the last column names, see :func:`combination`.

    Returns:
        factor, worth with its interval (``worth_low``, ``worth_high``) over companies, ``alone`` (before all other
        changes) and ``last`` (behind all of them).
    """
    means, drawn, rows = values.mean().to_numpy(), draws.means(values), []
    made = [() if name == "none" else tuple(name.split("+")) for name in values]
    factors = made[-1]
    for factor in factors:
        without = [place for place, changes in enumerate(made) if factor not in changes]
        beside = [[set(one) for one in made].index({*made[place], factor}) for place in without]
        sizes, n_others = [len(made[place]) for place in without], len(factors) - 1
        weights = np.array([1 / ((n_others + 1) * comb(n_others, size)) for size in sizes])
        added = means[beside] - means[without]
        low, high = np.quantile((drawn[:, beside] - drawn[:, without]) @ weights, EDGES)
        rows.append((factor, added @ weights, low, high, added[sizes.index(0)], added[sizes.index(n_others)]))
    return pd.DataFrame(rows, columns=["factor", "worth", "worth_low", "worth_high", "alone", "last"])
