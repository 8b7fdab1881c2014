"""What the questions of a set are like, and which method finds their pages because of that.

From a question's features, numbers without text, a ridge regression predicts by how much one method finds more than
another; it is fitted on one set and tested on another, because within one a feature may stand for whatever else its
writers did. Draws are of companies, in each set by itself.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from lib.analysis.breakdowns import MIN_QUESTIONS
from lib.analysis.claims import claims
from lib.analysis.failures import STATEMENTS, page_kind
from lib.analysis.measured import known_file
from lib.analysis.statistic import correlation_of
from lib.evaluation import read_metrics
from lib.files import read_yaml
from lib.filings.identity import years_in
from lib.filings.names import names_company
from lib.frames import read_frame
from lib.method_sets import compared
from lib.metrics.frame import Metrics
from lib.other_sets import KNOWN
from lib.published import METRICS_FILE, Published
from lib.retrievers import bm25
from lib.retrievers.places import texts_of_pages
from lib.schema import Condition, K, StudyError
from lib.stats import Resampling, columns_of, percentiles, resampled_sums
from lib.store import FRAME
from lib.study import Study

STAGE, VERSION = "analysis/question-features", 2
ROWS = ("dense", "bm25", "hybrid_rrf", "hybrid_rrf_records")  # among which a winner is predicted
GAIN = "recall_gain"  # page recall, BM25 minus dense
RIDGE = 0.005  # beside the features' mean squares: as if less than one question of 150 spoke against each
_FILE = read_yaml(Path(__file__).with_suffix(".yaml"))
CONTRADICTIONS = _FILE["contradictions"]
WITH_GOLD = ("overlap", "gold_is_statement", "names_company", "names_year", "asks_figure", "length")
WITHOUT_GOLD = ("best_overlap", *WITH_GOLD[2:])
_FIGURES, _AMOUNTS, _OTHERS = ("|".join(_FILE[name]) for name in ("figure", "amount", "no_figure"))
FIGURE = re.compile(rf"\b(?:{_FIGURES}|(?:{_AMOUNTS})s?)\b|[%$]", re.I)
NO_FIGURE = re.compile(rf"\s*(?:{_OTHERS})\b", re.I)


def asks_figure(question: str) -> bool:
    """Whether a question asks for a figure: it names an amount, and does not begin like one that asks otherwise."""
    return bool(FIGURE.search(question)) and not NO_FIGURE.match(question)


def word_share(model: bm25.BM25, text: str, columns: Sequence[int]) -> float:
    """The share of a text's distinct words, weighted by idf, that occur in any of the given texts of a model."""
    words = sorted(set(model.tokens(text)))
    rows = np.array([model.vocabulary.get(word, -1) for word in words], int)
    is_known, unknown = rows >= 0, bm25.sound_idf(model.corpus_size, 0)
    weights = np.array([model.idf.get(word, unknown) for word in words])
    is_held = model.weights[rows[is_known]][:, columns].sum(axis=1) > 0
    return float(weights[is_known][is_held].sum() / weights.sum()) if words else 0.0


def described(study: Study, asked: pd.DataFrame) -> pd.DataFrame:
    """The features of questions (``question``; where known company, doc_name and gold_pages) over a study's pages:
    ``overlap`` is :func:`word_share` of the best gold page, ``best_overlap`` that of the page that BM25 ranks first,
    ``length`` log2 of the number of words. What needs gold pages is NaN without them."""
    model, chunks = bm25.index(study), study.chunks
    of_page = chunks.groupby(["doc_name", "page"]).indices
    texts = texts_of_pages(study)
    companies, rows = list(study.filings["company"].unique()), []
    for one in asked.to_dict("records"):
        question = one["question"]
        best = chunks.iloc[int(np.argmax(model.get_scores(model.tokens(question))))]
        gold = [(one["doc_name"], page) for page in one.get("gold_pages", ())]
        places = [(best["doc_name"], best["page"]), *gold]
        shares = [word_share(model, question, of_page.get(place, [])) for place in places]
        named = [one["company"]] if "company" in one else companies
        found = {
            "overlap": max(shares[1:], default=np.nan),
            "gold_is_statement": max((page_kind(texts[page]) in STATEMENTS for page in gold), default=np.nan),
            "best_overlap": shares[0],
            "names_company": any(names_company(question, company) for company in named),
            "names_year": bool(years_in(question)),
            "asks_figure": asks_figure(question),
            "length": np.log2(max(1, len(question.split()))),
        }
        rows.append(found)
    return pd.DataFrame(rows).astype(float)


def features(study: Study) -> pd.DataFrame:
    """:func:`described` of the study's questions, and their question_id; without text, and stored."""
    params = {name: study.digest(name) for name in ("questions", "chunks", "pages")}
    params["settings"] = study.settings_of(("bm25",))

    def make() -> pd.DataFrame:
        return described(study, study.questions).assign(question_id=study.questions["question_id"].to_numpy())

    return study.store.frame(STAGE, params, make, VERSION, public=True)


def runs_of(study: Study, is_own: bool) -> list[tuple[str, Condition]]:
    """The runs of a profile that are compared; of another set only those that its results have, and those of ROWS."""
    wanted, known = compared(study.profile), known_file(study, METRICS_FILE)
    if is_own:
        return wanted
    found = {(name, "standard") for name in ROWS}
    found |= set(Metrics(read_metrics(known)).runs) if known else set()
    return [run for run in wanted if run in found]


def observed(found: pd.DataFrame, company: pd.Series, metrics: Metrics, k: int = K) -> pd.DataFrame:
    """The features of a set's questions (index question_id), ``company``, page recall at k of ROWS, and GAIN."""
    values = {name: metrics[name, "page_recall", k] for name in ROWS if name in metrics}
    return found.assign(company=company, **values, **{GAIN: values["bm25"] - values["dense"]})


def by_thirds(found: pd.DataFrame, n_draws: int) -> pd.DataFrame:
    """BM25 less dense search in thirds by overlap of what :func:`observed` gives: third, the means of overlap, bm25 and
    dense, and the difference's mean, low, high, n and n_clusters. Questions of equal overlap are in one third."""
    third, rows = (3 * (found["overlap"].rank() - 0.5) / len(found)).astype(int), []
    for number, part in found.groupby(third):
        about = {"third": ("first third", "middle third", "last third")[number]}
        about |= part[["overlap", "bm25", "dense"]].mean().to_dict()
        rows.append(about | Resampling(part["company"], n_draws).difference(part["bm25"], part["dense"])._asdict())
    return pd.DataFrame(rows)


def agreement(values: Mapping[str, pd.DataFrame], draws: Mapping[str, Resampling]) -> tuple[float, float, float]:
    """Spearman's correlation of two sets' leaderboards, and its interval, which draws the companies of each set.

    Args:
        values: name of a set to its values, questions × methods, with the same methods in both.

    Returns:
        NaN of fewer or more than two sets.
    """
    if len(values) != 2:
        return (np.nan,) * 3
    ranks = []
    for place, (name, of_set) in enumerate(values.items()):
        apart = replace(draws[name], seed=draws[name].seed + place)  # the sets are drawn apart
        ranks.append(pd.DataFrame(np.vstack([of_set.mean(), apart.means(of_set)])).rank(axis=1).to_numpy())
    rho, *drawn = correlation_of(np.hstack(ranks))
    return rho, *percentiles(np.array(drawn))


def side(board: pd.DataFrame, first: str, second: str, are_contrary: bool) -> int:
    """1 or 2 for the claim of two whose whole interval lies above its bound, 0 for neither or both.

    Args:
        board: low, high and bound by claim, as :func:`lib.analysis.scoreboard.board_of` gives them.
        are_contrary: whether the contrary of the first claim is what the second says.
    """
    a, b = board.loc[first], board.loc[second]
    is_first, is_second = a["low"] > a["bound"], b["low"] > b["bound"]
    is_second |= are_contrary and a["high"] < a["bound"]
    return 0 if is_first == is_second else 1 if is_first else 2


def resolved_by(sides: set[int]) -> str:
    """What resolves a contradiction of which each set is on one of some sides (:func:`side`)."""
    return "by the questions" if {1, 2} <= sides else "for all" if sides in ({1}, {2}) else "open"


def contradictions(boards: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """CONTRADICTIONS by the boards of question sets: about, first, second, each set's :func:`side`, and resolved."""
    found = pd.DataFrame(CONTRADICTIONS, columns=["about", "first", "second", "are_contrary"])
    pairs = found[["first", "second", "are_contrary"]].to_numpy()
    for name, board in boards.items():
        found[name] = [side(board, *pair) for pair in pairs]
    found["resolved"] = [resolved_by({*row}) for row in found[[*boards]].to_numpy()]
    return found.drop(columns="are_contrary")


def supported(found: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """:func:`contradictions` with the claims in words in place of the sides of the named sets."""
    texts = {claim.id: claim.claim for claim in claims()}
    sides = [("neither", texts[a], texts[b]) for a, b in found[["first", "second"]].to_numpy()]
    words = {name: [of[one] for of, one in zip(sides, found[name], strict=True)] for name in names}
    return found.assign(**words)


def published_features(profile: str = "default") -> dict[str, pd.DataFrame]:
    """:func:`observed` of each set of KNOWN whose features were published; needs neither filings nor questions."""
    found = {}
    for name, layer in ((name, Published.of(name, profile)) for name in KNOWN):
        records = layer.stages.items() if layer else ()
        for files in [one["files"] for (stage, _), one in records if stage == STAGE and "files" in one][-1:]:
            stored = read_frame(layer.root / files[FRAME]["path"]).set_index("question_id")
            company = layer.dataset().questions.set_index("question_id")["company"]
            found[name] = observed(stored, company, Metrics(layer.metrics))
    return found


class Fit(NamedTuple):
    """A linear prediction from features, and the same of every draw of companies."""

    names: tuple[str, ...]
    values: np.ndarray  # (1 + n_features,): the intercept, then a coefficient per feature
    draws: np.ndarray  # (n_draws, 1 + n_features)

    def predict(self, table: pd.DataFrame) -> pd.Series:
        """The predicted outcome of each question."""
        return pd.Series(_design(table, self.names) @ self.values, table.index)

    def mean(self, table: pd.DataFrame) -> tuple[float, float, float]:
        """The predicted mean over questions, and its interval."""
        middle = _design(table, self.names).mean(axis=0)
        return float(middle @ self.values), *percentiles(self.draws @ middle)


def _design(table: pd.DataFrame, names: Sequence[str]) -> np.ndarray:
    return np.column_stack([np.ones(len(table)), table[list(names)].to_numpy(float)])


def fit(parts: Sequence[pd.DataFrame], outcome: str, names: tuple[str, ...], n_draws: int) -> Fit:
    """Ridge regression (Hoerl & Kennard, 1970) of an outcome on features, in which every set (``parts``) counts alike
    and a feature is left out in which fewer than MIN_QUESTIONS questions differ from the others of their set."""
    differ = {name: sum(len(part) - part[name].value_counts().max() for part in parts) for name in names}
    names = tuple(name for name in names if differ[name] >= MIN_QUESTIONS)
    size, total, drawn = 1 + len(names), 0.0, 0.0
    for number, part in enumerate(parts):
        x, y = _design(part, names), part[outcome].to_numpy(float)
        products = (x[:, :, None] * np.column_stack([x, y])[:, None]).reshape(len(x), -1)
        sums = resampled_sums(products, part["company"], n_draws, number)
        drawn, total = drawn + sums / sums[:, :1], total + products.mean(axis=0)  # the first column counts
    penalty = len(parts) * RIDGE * np.diag([0.0] + [1.0] * len(names))
    moments = np.vstack([total, drawn]).reshape(-1, size, size + 1)
    solved = np.linalg.solve(moments[..., :size] + penalty, moments[..., size:])[..., 0]
    return Fit(names, solved[0], solved[1:])


def transfer(
    fitted: pd.DataFrame, tested: pd.DataFrame, outcome: str, names: tuple[str, ...], n_draws: int
) -> dict[str, float]:
    """Fit on one set and test on another, tables of :func:`observed`: ``correlation`` (Spearman, by question), and the
    ``predicted`` and the ``observed`` mean, each with ``_low`` and ``_high``; ``n``; and ``without``, the mean of the
    fitted set, which is the prediction without features."""
    model, draws = fit([fitted], outcome, names, n_draws), Resampling(tested["company"], n_draws)
    found = columns_of("correlation", draws.rank_correlation(model.predict(tested), tested[outcome]))
    found |= columns_of("predicted", model.mean(tested))
    found |= columns_of("observed", draws.interval(tested[outcome]))
    return found | {"without": float(fitted[outcome].mean()), "n": len(tested)}


def question_kind(
    study: Study, questions: pd.DataFrame | Sequence[str], known: Mapping[str, pd.DataFrame] | None = None
) -> pd.DataFrame:
    """What to expect of each of ROWS on a reader's questions over the study's filings, the highest gain first.

    Args:
        questions: texts, or a table as :func:`described` takes or gives it.
        known: name of a set to :func:`observed`; by default :func:`published_features`. A StudyError of fewer than two.

    Returns:
        method, page ``recall``, the ``gain`` on the first of ROWS with its interval (low, high), and ``error``: the
        largest error of such a gain predicted for one known set from another. A smaller gain should not be relied on.
    """
    parts = list((published_features() if known is None else known).values())
    if len(parts) < 2:
        raise StudyError("two question sets with published features are needed, as financebench and page-questions")
    asked = questions if isinstance(questions, pd.DataFrame) else pd.DataFrame({"question": list(questions)})
    table = asked if "length" in asked else described(study, asked)
    names = WITHOUT_GOLD if table["overlap"].isna().any() else WITH_GOLD
    n_draws = study.profile.significance.n_draws
    rows = []
    for name in (name for name in ROWS if all(name in part for part in parts)):
        gains = [part.assign(gain=part[name] - part[ROWS[0]]) for part in parts]
        tests = [transfer(one, other, "gain", names, n_draws) for one, other in permutations(gains, 2)]
        error = max(abs(test["predicted"] - test["observed"]) for test in tests)
        recall = np.clip(fit(parts, name, names, n_draws).mean(table)[0], 0, 1)
        rows.append((name, recall, *fit(gains, "gain", names, n_draws).mean(table), error))
    found = pd.DataFrame(rows, columns=["method", "recall", "gain", "low", "high", "error"])
    return found.sort_values("gain", ascending=False, ignore_index=True)
