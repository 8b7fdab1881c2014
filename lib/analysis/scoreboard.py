"""The claims tested on rows of the method table, see :mod:`lib.analysis.statistic`. No verdict is drawn where one is

* *not measured*: a row is missing, or the claim needs what this study does not have;
* *bound*: what is claimed follows from how the measures are defined, for every run;
* *same as another*: the fact is that of another claim, which has the verdict;
* *treatment replaced*: a component that the test needs is another one here than in the paper. It needs each component
  (PARTS) that one side of the comparison has and the other has not, those of a level, which is compared with nothing,
  and what the claim names, as where the sides differ in how much of it they use. One of DIRECTIONS is found;
* *not tested*: the treatment changes the first ranks of fewer questions than a stated share, the judge that it depends
  on agrees with the gold pages no better than chance, or what is measured cannot decide it.

What has no verdict is in no family of tests.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import combinations, product

import numpy as np
import pandas as pd

from lib.analysis import judge, statistic
from lib.analysis.breakdowns import MIN_COMPANIES, MIN_QUESTIONS
from lib.analysis.claims import CHANGED_LEAST, COMPONENTS, MARGIN, PATH, Claim, Entry, claims, entry, pairs_of
from lib.analysis.failures import FIGURE_SHARE, failed_questions
from lib.analysis.page_scorer import SCORERS
from lib.analysis.statistic import ALPHA, DECIDED, DRAWN, INCONCLUSIVE, Finding, decide
from lib.analysis.weights import CHOOSING, by_weight, sweep
from lib.evaluation import METRIC_COLUMNS, read_metrics
from lib.files import digest_of_file
from lib.frames import content_digest
from lib.method import Method
from lib.method_sets import best_standard
from lib.methods import METHODS, PAIRS
from lib.metrics.frame import Metrics, long_frame
from lib.published import METRICS_FILE
from lib.schema import K, StudyError, or_without_filings
from lib.stats import Resampling
from lib.study import Study

BOUND, REPLACED, SAME = "bound", "treatment replaced", "same as another"
NOT_TESTED, NOT_MEASURED = "not tested", "not measured"
VERDICTS = (*DRAWN, BOUND, REPLACED, SAME, NOT_TESTED, NOT_MEASURED)
#: What the test of a replaced treatment finds, with p below ALPHA, not corrected.
DIRECTIONS = "same sign", "opposite sign", "inconclusive"
DIRECTED = tuple(f"replaced, {direction}" for direction in DIRECTIONS)
#: VERDICTS, with what is found in place of *treatment replaced*.
OUTCOMES = (*DRAWN, *DIRECTED, *(one for one in VERDICTS if one not in (*DRAWN, REPLACED)))
#: Components of a row, by the names that ``claims.yaml`` gives them.
PARTS: dict[str, Callable[[Method], bool]] = {
    "encoder": lambda row: "embedder" in row.settings,
    "language model": lambda row: bool(row.writes),
    "cross-encoder": lambda row: PAIRS in row.needs,
    "splade": lambda row: "splade" in row.settings,
    "page scorer": lambda row: "page_scorer" in row.settings and row.is_trained,
    "elements": lambda row: row.chunking == "elements",
}
VERSION = 4
BEST = "best-baseline"
AMOUNTS_OF = "financebench"  # amounts were claimed of its questions
STATISTICS = ("argmax", "correlation")  # kinds that are no mean of questions
FIXED = (30, 50, 70, 90)  # weights of dense that Akarsu et al. compare, in percent
BOARD = [*DECIDED, "direction", "also_estimate", "also_p", "rival", "missing"]


@cache
def parts_of(name: str) -> frozenset[str]:
    """Which of PARTS a row of the method table has, or a row that it uses."""
    row = METHODS[name]
    own = frozenset(part for part, has in PARTS.items() if has(row))
    return own.union(*map(parts_of, row.uses))


@dataclass
class Scoreboard:
    """What the metrics of one question set (of all its runs, and of :func:`beside`) say about the claims."""

    study: Study
    metrics: Metrics
    sweeps: Mapping[str, pd.DataFrame]  # row of a weighted combination to nDCG@10, questions × weights of dense
    judge_low: float | None = None  # lower end of the interval of the judge's κ with the gold pages

    def __post_init__(self):
        self.questions, self.draws = self.study.questions.set_index("question_id"), Resampling.of(self.study)
        self.best = BEST  # where nothing of it was measured; then its claims are not either
        with suppress(StudyError):
            self.best = best_standard(self.metrics.means("page_recall", K))

    def scores(self) -> pd.DataFrame:
        """BOARD of all claims and variants, by claim: ``rival`` is the pair that decides one about several, ``missing``
        why no verdict is drawn; ``also_estimate`` and ``also_p`` (not corrected) are of the second measure."""
        by_id = {claim.id: claim for claim in claims()}
        if self.study.dataset.name != AMOUNTS_OF:
            by_id = {name: replace(claim, amount=None) for name, claim in by_id.items()}
        found = {name: self.test(claim) for name, claim in by_id.items()}
        tests = {name: tested for name, (tested, _) in found.items() if tested}
        notes = [(note, "") if tested else ("", note) for tested, note in found.values()]
        board = pd.DataFrame(notes, pd.Index(by_id, name="claim"), ["rival", "missing"])
        if not tests:
            return board.assign(verdict=NOT_MEASURED, direction="").reindex(columns=BOARD)
        known = [claim for claim in by_id.values() if claim.id in tests or claim.identity]
        without = {claim.id: why for claim in known if (why := self._no_verdict(claim, tests))}
        names = {name: by_id[name] for name in tests if name not in without}
        family = {name: f"{'variants' if one.variant else 'claims'} of {one.source}" for name, one in names.items()}
        board = board.join(decide(tests, family)).reindex(columns=BOARD)
        board = board.astype({"direction": object}).fillna({"verdict": NOT_MEASURED, "direction": ""})
        for name, why in without.items():
            board.loc[name, ["verdict", "missing", "n_needed"]] = *why, np.nan
            if why[0] == REPLACED:
                board.loc[name, "direction"] = direction_of(tests[name])
        for claim in map(by_id.get, tests):
            board.loc[claim.id, ["also_estimate", "also_p"]] = self._second(claim)
            if board.at[claim.id, "verdict"] == INCONCLUSIVE and claim.kind in STATISTICS:
                needed = statistic.questions_until(self.draws, *self._statistic(claim), claim.bound)
                board.loc[claim.id, "n_needed"] = needed
        return board

    def _no_verdict(self, claim: Claim, tests: Mapping[str, Finding]) -> tuple[str, str] | None:
        """What stands in place of a verdict, and why; None where one is drawn."""
        if claim.identity:
            return BOUND, claim.identity
        if claim.same_as in tests:
            return SAME, claim.same_as
        if not claim.untested and (replaced := self._replaced(claim)):
            return REPLACED, replaced
        untested = claim.untested
        if not untested and claim.judge and self.judge_low is not None and self.judge_low <= 0:
            untested = "the judge agrees with the gold pages no better than chance"
        changed = tests[claim.id].changed
        if not untested and changed < CHANGED_LEAST:
            untested = f"the first ranks of {changed:.0%} of the questions differ"
        return (NOT_TESTED, untested) if untested else None

    def _replaced(self, claim: Claim) -> str:
        """Which components of the paper the claim's test needs, and what they are here; empty where it needs none."""
        needed = {*claim.needs}
        for sides in pairs_of(claim).values() if claim.kind != "contrasts" else ():  # of one row's questions
            if all(one.condition != "oracle-page" for one in (*sides[0], *sides[1])):  # where nothing is left to find
                shares = [self._shares(side) for side in sides]
                needed |= {part for part in PARTS if shares[0].get(part, 0) != shares[1].get(part, 0)}
        here = {part: form.format(**self.study.profile) for part, form in COMPONENTS.items()}
        apart = [part for part, there in claim.components.items() if part in needed and there != here[part]]
        return "; ".join(f"{here[part]} in place of {claim.components[part]}" for part in apart)

    def _shares(self, side: Sequence[Entry]) -> dict[str, float]:
        """The share of a side's rows that have each component."""
        counts = Counter(part for one in side for part in parts_of(self._key(one)[0][0]))
        return {part: n / len(side) for part, n in counts.items()}

    def test(self, claim: Claim) -> tuple[statistic.Finding | None, str]:
        """A claim's test and the pair that decided it, or None and why it cannot be tested."""
        if claim.of not in ("", self.study.dataset.name):
            return None, f"it is about other questions and tested on {claim.of}"
        if not claim.kind:
            return None, claim.not_measured
        absent = [one for one in claim.a + claim.b if self._key(one) not in self.metrics]
        if claim.kind == "argmax":
            absent = [one for one in claim.a if one.row not in self.sweeps]
        if absent:
            return None, "no " + ", ".join(dict.fromkeys(map(str, absent)))
        if any(not self._ids(chosen).any() for chosen in (claim.only, claim.against)):
            types = map(str, [*claim.only.values(), *claim.against.values()])
            return None, f"no questions of type {', '.join(types)}"
        if claim.kind in STATISTICS:
            tested = statistic.statistic_test(self.draws, *self._statistic(claim), claim)
            return _defined(tested)
        if claim.kind == "groups":
            apart = self._mean(claim, claim.a) - self._mean(claim, claim.b)
            groups = (self._ids(chosen) for chosen in (claim.only, claim.against))
            return _defined(statistic.between_groups(self.draws, apart, *groups, claim))
        if claim.kind == "contrasts":
            tests = self._contrasts(claim)
            return statistic.strongest(tests) if tests else (None, "no two groups of questions are large enough")
        tests, pairs = {}, pairs_of(claim)
        for name, sides in pairs.items():
            a, b = (self._mean(claim, side) if side else None for side in sides)
            tests[name] = statistic.difference(self.draws, a, b, claim)
        decisive, name = statistic.weakest(tests, claim.says)
        return decisive._replace(changed=self._changed(claim, *pairs[name])), name

    def _contrasts(self, claim: Claim) -> dict[str, Finding]:
        """Each two groups of questions that are not small, in each row of ``a``, by name."""
        tests = {}
        for column in claim.groups:
            sizes = self.questions.groupby(column)["company"].agg(["size", "nunique"])
            large = sizes[(sizes["size"] >= MIN_QUESTIONS) & (sizes["nunique"] >= MIN_COMPANIES)].index
            for measured, pair in product(claim.a, combinations(large, 2)):
                groups = [self.questions[column] == name for name in pair]
                found = statistic.between_groups(self.draws, self.metrics[self._key(measured)], *groups, claim)
                tests[f"{' − '.join(pair)}, {measured}"] = found
        return {name: one for name, one in tests.items() if not math.isnan(one.low)}

    def _changed(self, claim: Claim, left: Sequence[Entry], right: Sequence[Entry]) -> float:
        """The share of questions whose first ranks differ between the two rows of the treatment, 1 where they search
        other chunks; NaN where what is compared is not two rows in one measure under one condition."""
        if claim.treatment:
            left, right = ([left[0]._replace(row=row)] for row in claim.treatment)
        one, other = left[0], right[0] if right else left[0]
        if len(left) != 1 or len(right) != 1 or one.row == other.row or one[1:] != other[1:]:
            return math.nan
        names, lists = [self._key(side)[0][0] for side in (one, other)], []
        if len({self.study.method(name).chunking for name in names}) != 1:
            return 1.0
        for run in (self.study.run(name, one.condition) for name in names):
            top = run[run["rank"] <= (one.k or 5)].sort_values(["question_id", "rank"])
            lists.append(top.groupby("question_id")["chunk_id"].agg(tuple).reindex(self.questions.index))
        return float((lists[0] != lists[1])[self._ids(claim.only)].mean())

    def _key(self, one: Entry) -> tuple:
        return one._replace(row=self.best).key if one.row == BEST else one.key

    def _ids(self, chosen: Mapping[str, list]) -> pd.Series:
        """Which questions are meant, by question_id."""
        of = [self.questions[column].isin(values) for column, values in chosen.items()]
        return pd.Series(np.all(of, axis=0) if of else True, self.questions.index)

    def _mean(self, claim: Claim, entries: Sequence[Entry]) -> pd.Series:
        values = pd.concat([self.metrics[self._key(one)] for one in entries], axis=1, join="inner").mean(axis=1)
        return values if claim.kind == "groups" else values[self._ids(claim.only).reindex(values.index)]

    def _second(self, claim: Claim) -> tuple[float, float]:
        """Estimate and p of the claim in its second measure; NaN without one."""
        tested = None
        if claim.also and claim.kind in ("difference", "every"):
            metric, k = entry("any", claim.also)[2:]
            a, b = (tuple(one._replace(metric=metric, k=k) for one in side) for side in (claim.a, claim.b))
            tested, _ = self.test(replace(claim, a=a, b=b))
        return (tested.estimate, tested.p) if tested else (math.nan, math.nan)

    def _statistic(self, claim: Claim) -> tuple[pd.DataFrame, statistic.Statistic]:
        if claim.kind == "argmax":
            values = self.sweeps[claim.a[0].row]
            return values, partial(statistic.argmax_of, grid=values.columns.to_numpy(float))
        parts = {one: self.metrics[self._key(one)] for one in claim.b + claim.a}
        return pd.concat(parts.values(), axis=1, join="inner"), statistic.correlation_of


def _defined(tested: Finding) -> tuple[Finding | None, str]:
    is_defined = not math.isnan(tested.low)
    return (tested, "") if is_defined else (None, "undefined here, as the rows are too much alike")


def direction_of(tested: Finding) -> str:
    """One of DIRECTIONS, by the claim's own p and that of its opposite."""
    same, opposite, neither = DIRECTIONS
    return same if tested.p < ALPHA else opposite if tested.p_opposite < ALPHA else neither


#: A row of the method table, a measure that claims have of it and no run's metrics, and its depth.
Measure = tuple[str, str, int | None]


def beside(study: Study, metrics: Metrics, **given: pd.DataFrame | None) -> pd.DataFrame:
    """What claims need beside the metrics of runs, as far as it was measured: METRIC_COLUMNS.

    Args:
        given: the judge's ``labels``, the sweep under ``softmax``, page recall by ``kept_pages``
            (:class:`lib.analysis.page_scorer.Measurements`), and ``numbers`` (METRIC_COLUMNS).
    """
    parts = [answers_known(study, metrics)]
    if (numbers := given.pop("numbers", None)) is not None:
        parts.append(numbers)
    measures = failures_of_fusion(study, metrics)
    for name, measure in {"labels": corrections, "softmax": fixed_weights, "kept_pages": by_kept_pages}.items():
        if given.get(name) is not None:
            measures |= measure(given[name], study.questions["question_id"])
    for (method, metric, k), values in measures.items():
        parts.append(long_frame(values.astype(float), metric, k).assign(method=method, condition="standard"))
    return pd.concat(parts, ignore_index=True)[METRIC_COLUMNS]


def answers_known(study: Study, metrics: Metrics) -> pd.DataFrame:
    """Measures of answers as chapter 06 left them; where it has not run here, unlike others, as they are published."""
    file = study.home / METRICS_FILE
    known = [read_metrics(file)] if file.is_file() else []
    known.append(study.published.metrics if study.published else metrics.frame)
    of_answers = [one[one["k"].isna() & one["metric"].isin({"numeric_match", "answer_rouge_l"})] for one in known]
    return next((one for one in of_answers if len(one)), of_answers[-1])


def failures_of_fusion(study: Study, metrics: Metrics) -> dict[Measure, pd.Series]:
    """Of hybrid retrieval's failures ``missed_by_both``, ``table_failure`` and ``vocabulary_failure``: fewer of the
    question's terms on a gold page than for half of the found questions."""
    if not all(row in metrics for row in ("hybrid_rrf", "bm25", "dense")):
        return {}
    fused, *both = (metrics[row, "doc_recall", 5] for row in ("hybrid_rrf", "bm25", "dense"))
    measures = {("hybrid_rrf", "missed_by_both", None): sum(both)[fused == 0] == 0}
    if (asked := or_without_filings(lambda: failed_questions(study, "hybrid_rrf"))) is not None:
        asked = asked.set_index("question_id").astype({"is_found": bool})
        failed, found = asked[~asked["is_found"]], asked[asked["is_found"]]
        usual = (found if len(found) else failed)["term_share"].median()
        measures["hybrid_rrf", "table_failure", None] = failed["figure_share"] >= FIGURE_SHARE
        measures["hybrid_rrf", "vocabulary_failure", None] = failed["term_share"] < usual
    return measures


def corrections(labels: pd.DataFrame, questions: pd.Series) -> dict[Measure, pd.Series]:
    """Where corrective RAG ``corrected``: the judge called none of the first chunks useful."""
    is_useful = labels["label"].eq(judge.USEFUL).groupby(labels["question_id"]).any()
    return {("crag", "corrected", None): ~is_useful.reindex(questions, fill_value=False)}


def fixed_weights(softmax: pd.DataFrame, questions: pd.Series) -> dict[Measure, pd.Series]:
    """Document recall at the FIXED weights of a sweep under softmax."""
    recall = softmax.set_index("question_id").groupby("alpha")["doc_recall"]
    return {(CHOOSING["softmax"], f"alpha_{n}", 5): recall.get_group(n / 100) for n in FIXED}


def by_kept_pages(kept: pd.DataFrame, questions: pd.Series) -> dict[Measure, pd.Series]:
    """Page recall in the first chunks of so many kept pages, and of stage one by their number."""
    kept, measures = kept.reindex(questions), {}
    for part, scorer, by, n_pages in sorted(kept):
        values = kept[part, scorer, by, n_pages]
        if (part, scorer, by) == ("ablation", "full", "filing"):
            measures["page_scorer_filing", f"pages_{n_pages}", None] = values
        elif part == "pages" and (scorer, by) in (("full", "company"), ("untrained", "")):
            measures[SCORERS[scorer, by], "stage_one", n_pages] = values
    return measures


def judge_labels(study: Study, metrics: Metrics) -> pd.DataFrame | None:
    """The labels of the judge of corrective RAG (:func:`lib.analysis.judge.labels_of_first`); None where it is not
    measured, or where labels need filings that are not here."""
    return or_without_filings(lambda: judge.labels_of_first(study)) if "crag" in metrics else None


def power_by_source(board: pd.DataFrame) -> pd.DataFrame:
    """How small a difference the tests of each source find, by ``source``: medians of half_width (of the intervals of
    95 %), detects (one test) and detects_holm (the first of all its tests), and the number of its tests.

    ``board`` has a row per claim: source, says and columns of :meth:`Scoreboard.scores`. Medians are over the claims
    about a mean, whose ``spread`` is known.
    """
    tested = board[board["p_holm"].notna()]
    n_tests = tested.groupby("source", sort=False).size()
    found = tested[tested["spread"].notna()]
    widths = ((found["high"] - found["low"]) / 2).where(found["says"] != "<=")
    powers = pd.DataFrame({"half_width": widths, "detects": statistic.detectable(found["spread"], found["n"])})
    powers["detects_holm"] = statistic.detectable(found["spread"], found["n"], found["source"].map(n_tests))
    return powers.groupby(found["source"], sort=False).median().assign(tests=n_tests)


def first_pair(board: pd.DataFrame, metrics: Metrics) -> Claim:
    """The first claim that one measured run exceeds one other in one measure, for an example, with a verdict if any
    has one; ``board`` is by claim, and ``metrics`` have both runs."""
    pairs = [one for one in claims() if one.kind == "difference" and len(one.a) == len(one.b) == 1]
    verdicts = board["verdict"]
    measured = [one for one in pairs if one.says == ">" and verdicts[one.id] != NOT_MEASURED]
    measured = [one for one in measured if one.a[0].key in metrics and one.b[0].key in metrics]
    return next((one for one in measured if verdicts[one.id] in DRAWN), measured[0])


def drawn_differences(board: pd.DataFrame) -> pd.DataFrame:
    """The claims of a board that are about a difference of two rows and got a verdict, by verdict (in the order of
    DRAWN) and falling estimate; ``board`` has ``kind``."""
    by_id = {claim.id: claim for claim in claims()}
    found = board[board["kind"].isin(["difference", "every", "pairs"]) & board["verdict"].isin(DRAWN)]
    found = found[[bool(by_id[name].b) for name in found.index]]
    found = found.assign(order=found["verdict"].map(DRAWN.index))
    return found.sort_values(["order", "estimate"], ascending=[True, False]).drop(columns="order")


def board_of(
    study: Study, metrics: Metrics, kept_pages: pd.DataFrame | None = None, numbers: pd.DataFrame | None = None
) -> pd.DataFrame:
    """The scores of the :class:`Scoreboard` of a question set, from its runs' metrics and :func:`beside`; stored.

    ``numbers`` are those that are read from pages (:func:`lib.analysis.answered.numbers_read`).
    """
    swept = {row: sweep(study, how) for how, row in CHOOSING.items() if row in metrics}
    labels = judge_labels(study, metrics)
    softmax = swept.get(CHOOSING["softmax"])
    more = beside(study, metrics, kept_pages=kept_pages, softmax=softmax, labels=labels, numbers=numbers)
    whole, sweeps = metrics + Metrics(more), {row: by_weight(values) for row, values in swept.items()}
    low = None if labels is None else judge.with_gold_pages(study, labels)["kappa_low"]
    values = [content_digest(metrics.frame[METRIC_COLUMNS], more), *map(content_digest, sweeps.values())]
    params = {"claims": digest_of_file(PATH), "margin": MARGIN, "judge": low, **study.profile.significance}
    make = lambda: Scoreboard(study, whole, sweeps, low).scores().reset_index()  # noqa: E731
    board = study.store.frame("analysis/claims", params | {"values": values}, make, VERSION, public=True)
    board = board.replace({"verdict": {"undecided": INCONCLUSIVE}})  # as boards were stored before
    return board.set_index("claim")
