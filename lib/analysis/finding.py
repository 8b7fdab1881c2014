"""What the first page states beside the summary: losses by pooled gold, unseen companies, answers and encoders."""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from lib.analysis import reading
from lib.analysis.answered import RANKER, on_sets
from lib.analysis.calibration import NUMBER, systems
from lib.analysis.families import corrected, page_recalls
from lib.analysis.unseen import CONTRASTS, contrasts
from lib.evaluation import evaluate_all, in_order, means_at, read_metrics, read_summary
from lib.metrics.frame import Metrics
from lib.metrics.losses import pooled_losses
from lib.other_sets import BETTER, over_same_filings, unseen_beside
from lib.published import ANSWERS_FILE, Published
from lib.schema import or_without_filings
from lib.stats import Resampling, tier
from lib.study import Study

UNSEEN_ROWS = ("dense", "dense_records", "hybrid_rrf_records", "ahead_general", "ahead")
TYPES = (
    ("metrics-generated", "figures from statements"),
    ("domain-relevant", "questions that apply to any company"),
    ("novel-generated", "questions about one report"),
)
#: The systems that people labelled: what they were given, by what that is here.
PEOPLE = {"all": "sharedStore", "filing": "singleStore", "pages": "oracle_reverse"}
PEOPLE = {given: f"gpt-4-1106-preview_{name}" for given, name in PEOPLE.items()}
SHORT_AND_AHEAD = {"short": "fixed_128_records", "ahead": "ahead"}
CALCULATED = {"ahead", "best-baseline", "oracle-page"}


def lost_by_pooled_gold(metrics: Metrics, method: str, k: int) -> float | None:
    """The share of a question's gold pages that a run loses inside a filing that it reached, where another page that
    answers in full counts, too; None where no page was judged."""
    if (method, "page_recall_pooled", k) not in metrics:
        return None
    documents, pages = (metrics[method, name, k] for name in ("doc_recall", "page_recall_pooled"))
    return pooled_losses(documents, pages)["page"].mean()


def of_match(study: Study, rows: pd.DataFrame, k: int) -> str | None:
    """The verdict of the metadata match before dense search, of METRIC_COLUMNS and with the p of its family; None where
    it was not measured."""
    after, before = pair = "dense_records", "dense"
    pages = page_recalls(Metrics(in_order(rows[rows["metric"] == "page_recall"], study.questions)), k)
    if not {*pair} <= {*pages}:
        return None
    draws = Resampling.of(study)
    _, low, high, *_ = draws.difference(pages[after], pages[before])
    return tier(low, high, corrected(draws, pages, [pair]).get(pair, float("nan")))


class Unseen(NamedTuple):
    """What was found of unseen companies: page recall of UNSEEN_ROWS, of all questions and by type."""

    n: int
    companies: int
    mean: pd.Series
    by_type: pd.DataFrame  # types × rows
    contrasts: pd.DataFrame  # lib.analysis.unseen.contrasts by name
    types: Sequence[tuple[str, str]] = TYPES

    def gain(self, name: str) -> str:
        """A contrast in words: its difference, interval and verdict."""
        row = self.contrasts.loc[name]
        return (
            f"{row['difference']:+.2f} [{row['difference_low']:+.2f}, {row['difference_high']:+.2f}] ({row['verdict']})"
        )


def on_unseen(study: Study, k: int) -> Unseen | None:
    """What is found of unseen companies with the study's models; None where that is neither published nor can be
    measured here, or the study is of other questions than FinanceBench's."""
    if (other := unseen_beside(study)) is None:
        return None
    rows = sorted({row for pair in CONTRASTS.values() for row in pair} | {*UNSEEN_ROWS})
    metrics = evaluate_all(other, rows, ["standard"])
    recall = pd.DataFrame({name: metrics[name, "page_recall", k] for name in rows})
    asked = other.questions.set_index("question_id")
    by_type = recall.groupby(asked["question_type"]).mean()
    tested = contrasts(Resampling.of(other), recall, CONTRASTS).set_index("contrast")
    return Unseen(len(asked), asked["company"].nunique(), recall.mean(), by_type, tested)


def by_tokens(study: Study) -> dict[str, object] | None:
    """What short chunks after the metadata match and Ahead find within equal numbers of tokens.

    Returns:
        ``budget``, and of ``pages`` and ``lines`` of the evidence the recalls of ``short`` and ``ahead``; the same of
        unseen companies (``unseen_pages``, ``unseen_lines``), None where these are not known; and ``is_more``, whether
        Ahead is shown to find more pages than the better search for short chunks on each set, None where that is not
        tested. None where the study's own are not known.
    """
    found: dict[str, object] = {"budget": reading.TESTED_AT, "unseen_pages": None, "unseen_lines": None}
    other = unseen_beside(study)
    sets, gains = {"": study} | ({"unseen_": other} if other else {}), []
    rows = dict.fromkeys([*SHORT_AND_AHEAD.values(), *reading.SHORT, reading.LONG])
    for prefix, one in sets.items():
        values = reading.values(one, rows)
        for name, metric in {"pages": "page_recall", "lines": "line_recall"}.items():
            recall = reading.within(values, metric).mean()
            if {*SHORT_AND_AHEAD.values()} <= {*recall.index}:
                found[prefix + name] = {role: recall[row] for role, row in SHORT_AND_AHEAD.items()}
        tested = reading.tested(values, Resampling.of(one))
        gains += tested.query("metric == 'page_recall' and method == 'ahead'")["verdict"].tolist()
    found["is_more"] = {*gains} == {"gain"} if gains else None
    return found if "lines" in found else None


def labelled_by_people(study: Study) -> dict[str, object] | None:
    """The share of right numbers of GPT-4 (1106-preview), as people labelled them (Islam et al., 2023): of ``all``
    filings, the ``filing`` and the ``pages``, with ``n`` and ``model``; None where no labels are known."""
    found = or_without_filings(lambda: systems(study), pd.DataFrame(columns=["kind", "system"]))
    shares = found[found["kind"] == NUMBER].set_index("system").reindex(PEOPLE.values())
    if shares.empty or shares["people"].isna().any():
        return None
    by_context = dict(zip(PEOPLE, shares["people"], strict=True))
    return by_context | {"n": int(shares["n"].iloc[0]), "model": "GPT-4 (1106 preview)"}


def calculated_shares(study: Study) -> dict[str, float] | None:
    """The share of numbers that calculation gets right, with the generator as fallback, by context, and their number
    ``n``; None unless all of CALCULATED were answered."""
    path = study.outputs / ANSWERS_FILE
    rows = read_metrics(path) if path.is_file() else pd.DataFrame(columns=["prompt", "metric", "generator", "context"])
    is_wanted = (rows["prompt"] == "calculation") & (rows["metric"] == "answer_right")
    rows = rows[is_wanted & (rows["generator"] == study.profile.generator.weights)]
    if not {*rows["context"]} >= CALCULATED:
        return None
    return rows.groupby("context")["value"].mean().to_dict() | {"n": rows["question_id"].nunique()}


def on_second_set(study: Study, k: int) -> pd.Series | None:
    """The row of :func:`lib.analysis.answered.on_sets` of RANKER on another question set over the study's filings; None
    where no other set has answers."""
    by_set = on_sets(study, over_same_filings(study), k)
    rows = by_set[(by_set["set"] != study.dataset.name) & (by_set["context"] == RANKER)]
    return rows.iloc[0] if len(rows) else None


def with_better_encoder(study: Study, before: pd.Series, k: int) -> dict[str, tuple[float, float]]:
    """Page recall of dense search, also after the metadata match: ``before`` (by method), and published with the better
    encoder; empty where nothing is, or the profile has that encoder."""
    published = Published.of(study.dataset.name, BETTER)
    if published is None or study.profile.name == BETTER:
        return {}
    after = means_at(read_summary(published.root), "page_recall", k)
    names = [name for name in ("dense", "dense_records") if name in before and name in after]
    return {name: (before[name], after[name]) for name in names}
