"""Measurements of page scorers beside their runs, without any text, so that they can be published."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from lib import runs
from lib.analysis import mistakes
from lib.folds import By
from lib.metrics.retrieval import doc_recall, page_recall
from lib.page_scorer import full, light
from lib.page_scorer.pages import base_vectors, folds, load_records
from lib.page_scorer.search import ORDERS, page_run, scorer_scores, search_pages_first
from lib.retrievers import matched
from lib.schema import K, or_without_filings
from lib.stats import Resampling, columns_of
from lib.study import Study

#: Of stored rows: ``part`` is what was measured, ``item`` a question, fold or epoch, ``k`` the pages or chunks kept.
COLUMNS = ["part", "scorer", "by", "item", "metric", "k", "value"]
FILE = "measured.csv"
MISTAKE = "slip "  # before a mistake's name in the column "part" of published files
PAGES = (5, 10, 20, 50)
SCORERS = {  # scorer and what its folds hold out: the row of the method table
    ("untrained", ""): "page_then_chunk",
    ("light", "filing"): "page_scorer_light_filing",
    ("light", "company"): "page_scorer_light",
    ("full", "filing"): "page_scorer_filing",
    ("full", "company"): "page_scorer",
}
TRAINED = [key for key in SCORERS if key[1]]
BEST = [("best", "company"), ("best", "filing")]  # trained by the profile's page_scorer_best; set-ups alone
#: How a set-up knows the filing, as tables name it.
IDENTITIES = {"none": "Not matched", "covers": "Covers", "records": "Records", "given": "Filing given"}
#: Changes of one part of a set-up, by what a table calls them.
CHANGES: dict[str, dict[str, str]] = {
    "Chunks in page order": {"order": "page"},
    "Chunks by the sum of both scores": {"order": "sum"},
    "Metadata match (cover pages)": {"identity": "covers"},
    "Metadata match": {"identity": "records"},
    "Filing given": {"identity": "given"},
    "The light page scorer in place of fine-tuning": {"scorer": "light"},
    "A header before each page": {"scorer": "best"},
    "Folds by filing: companies are known": {"by": "filing"},
}
#: The measured parts and the scorers as figures name them.
PARTS = {"pages": "among the P pages", "ablation": "in the first chunks", "page order": "in page order"}
SCORER_TITLES = {"full": "fine-tuned", "light": "light page scorer"}
SECTIONS = ("embedder", "page_scorer", "page_scorer_light")  # of the profile, that the measurements read
#: Stages of a recall by tokens: the columns of :func:`by_tokens`.
STAGES = {"page_recall_kept": "recall_of_kept_pages", "page_recall_both": "page_recall"}


class Measurements(NamedTuple):
    """What was measured of page scorers, a frame a thing; where nothing can be trained, ``kept`` alone has rows."""

    kept: pd.DataFrame  # page recall: questions × (part of PARTS, scorer, by, pages that stage one keeps)
    fold_of: pd.DataFrame  # the fold that tests a question: questions × by
    training: pd.DataFrame  # what a fold trains on and shares with its test questions: by, item (the fold), and numbers
    losses: pd.DataFrame  # the mean training loss ``value`` by, fold and epoch
    tokens: pd.DataFrame  # recall of the first fold by tokens read: k (tokens), scorer, item (question), metric, value
    mistakes: dict[str, pd.DataFrame]  # page recall with each evaluation mistake, by scorer: questions × MISTAKES


def measurements(study: Study, k: int = K) -> Measurements:
    """The measurements of page scorers at ``k`` chunks.

    The mistakes on the fine-tuned scorer are there once ``python -m lib mistakes`` has measured them.
    """
    parts = [_stored(study, f"page_scorer/measured/{k}", _params(study, k), lambda: _measured(study, k))]
    if (parts[0]["part"] == "training").any():
        for by in ("filing", "company"):  # used even where the measurements are stored, so that both are published
            full.scores_entry(study, by)
            light.scores_entry(study, by)
        parts.append(measured_mistakes(study, "light", k, mistakes.measure_light))
        parts.append(measured_mistakes(study, "full", k))
    return measurements_of(pd.concat(parts, ignore_index=True))


def known_measurements(study: Study, k: int) -> Measurements:
    """:func:`measurements`; no rows where they would be made now and the filings are not here."""
    return or_without_filings(lambda: measurements(study, k), measurements_of(pd.DataFrame(columns=COLUMNS)))


def measurements_of(rows: pd.DataFrame) -> Measurements:
    """What the stored rows (COLUMNS) measure."""
    of_part = dict([*rows.groupby("part", sort=False)])
    curve, fold_of, training, tokens = (of_part.get(name, rows[:0]) for name in ("curve", "fold", "training", "tokens"))
    places = curve["item"].str.split(":", expand=True).reindex(columns=[0, 1]).astype(float)
    return Measurements(
        kept=_kept(rows[(rows["metric"] == "page_recall") & rows["part"].isin(PARTS)]),
        fold_of=fold_of.pivot(index="item", columns="by", values="value").astype(int),
        training=training.pivot(index=["by", "item"], columns="metric", values="value").reset_index(),
        losses=curve.assign(fold=places[0], epoch=places[1]),
        tokens=tokens,
        mistakes=_mistakes(rows[rows["part"].str.startswith(MISTAKE) & (rows["metric"] == "page_recall")]),
    )


def _kept(rows: pd.DataFrame) -> pd.DataFrame:
    place = ["part", "scorer", "by", "k"]
    wide = rows.pivot(index="item", columns=place, values="value")
    wide = wide[[*dict.fromkeys(rows[place].itertuples(index=False, name=None))]]
    return wide.rename_axis(index="question_id", columns=["part", "scorer", "by", "pages"])


def _mistakes(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    rows, found = rows.assign(mistake=rows["part"].str.removeprefix(MISTAKE)), {}
    for scorer, part in rows.groupby("scorer", sort=False):
        wide = part.pivot(index="item", columns="mistake", values="value")
        found[scorer] = wide[part["mistake"].unique()].rename_axis("question_id")
    return found


def measured_mistakes(
    study: Study, scorer: str, k: int, measure: Callable[[Study, int], pd.DataFrame] | None = None
) -> pd.DataFrame | None:
    """What the evaluation mistakes give on the scorer ``light`` or ``full``, folds by company: COLUMNS; None where they
    were not measured and there is no ``measure``, such as :func:`lib.analysis.mistakes.measure_light`."""

    def rows() -> Iterable[tuple]:
        for row in measure(study, k).itertuples():
            yield f"{MISTAKE}{row.mistake}", scorer, "company", row.question_id, row.metric, k, row.value

    stage, params = f"page_scorer/slips/measured/{scorer}/{k}", _params(study, k)
    for name in ("pages", "compare_tokens"):
        del params["settings"]["page_scorer"][name]
    return _stored(study, stage, params, rows) if measure or study.store.find(stage, params) else None


def setups(study: Study, k: int = K) -> pd.DataFrame:
    """Document and page recall at k chunks of every set-up: question_id, metric, and a column for each, by its scorer
    and folds (of TRAINED and BEST), ORDERS and IDENTITIES, such as ``light/company/page/none``."""
    identities = [study.inputs_digest(f"page_scorer_order_{kind}") for kind in ("covers", "records")]
    params = _params(study, k) | {"identities": identities}
    recipe = {"settings": study.settings_of(("embedder", "page_scorer", "page_scorer_best"))}
    parts = [
        study.store.frame(f"page_scorer/{stage}/{k}", given, partial(_setups, study, k, scorers), public=True)
        for stage, given, scorers in (("setups", params, TRAINED), ("setups_best", params | recipe, BEST))
    ]
    return parts[0].merge(parts[1], on=["metric", "question_id"], validate="one_to_one")


def why_untrained(study: Study, measured: Measurements) -> str:
    """A sentence with the reason why measurements are of no trained scorer; empty where they are."""
    if len(measured.training):
        return ""
    return f"No scorer is trained here, the untrained encoder is in its place: {full.untrainable(study)}."


def by_fold(fold_of: pd.DataFrame, values: pd.DataFrame, folds_by: Mapping[str, By]) -> pd.DataFrame:
    """The mean of each method's values (questions × methods) in each fold, and the mean and deviation of these means.

    ``folds_by`` says what the folds of a method keep together. Indexed by ``method``: ``Folds by``, ``Fold 0`` and so
    on, ``mean``, ``SD`` and the number of questions ``n``; no rows where there are no folds.
    """
    rows = []
    for name, by in folds_by.items() if len(fold_of) else ():
        means = values[name].groupby(fold_of[by]).mean().rename("Fold {}".format)
        about = {"method": name, "Folds by": by, **means, "mean": means.mean(), "SD": means.std()}
        rows.append(about | {"n": fold_of[by].count()})
    return pd.DataFrame(rows, columns=None if rows else ["method"]).set_index("method")


def trained_folds(measured: Measurements) -> pd.DataFrame:
    """What each fold trains on and shares with its test questions: by, item (the fold), counts (``n_…``), nearest (the
    similarity of the nearest question), last_loss, minutes."""
    found = measured.training
    if found.empty:
        return pd.DataFrame(columns=["by", "item"])
    losses = measured.losses.assign(item=measured.losses["item"].str.split(":").str[0])
    last = losses.groupby(["by", "item"])["value"].last().rename("last_loss")
    found = found.join(last, on=["by", "item"]).assign(minutes=found["wall_s"] / 60)
    return found.astype(dict.fromkeys([name for name in found if name.startswith("n_")] + ["light_steps"], int))


def by_tokens(measured: Measurements, draws: Resampling) -> pd.DataFrame:
    """What more tokens of a page bring on one fold: scorer, Tokens, minutes of training, n, and the recall of kept
    pages and of both stages (STAGES) with their intervals."""
    own = measured.tokens.set_index(["k", "scorer", "item"])
    is_time, rows = own["metric"] == "wall_s", []
    minutes = own[is_time]["value"].groupby(["k", "scorer"]).first() / 60
    for (n_tokens, scorer), part in own[~is_time].groupby(["k", "scorer"], sort=False):
        row = {"scorer": scorer, "Tokens": n_tokens, "minutes": minutes.get((n_tokens, scorer))}
        for metric, column in STAGES.items():
            values = part[part["metric"] == metric]["value"].droplevel(["k", "scorer"])
            row |= columns_of(column, draws.interval(values)) | {"n": len(values)}
        rows.append(row)
    return pd.DataFrame(rows)


def _setups(study: Study, k: int, scorers: Sequence[tuple[str, By]]) -> pd.DataFrame:
    asked, shared = (study.questions, study.chunks, k), study.candidates("standard")
    values = {}
    for (scorer, by), order, identity in product(scorers, ORDERS, IDENTITIES):
        scores = scorer_scores(study, scorer, by)

        def rank(allowed: np.ndarray, scores: np.ndarray = scores, order: str = order) -> pd.DataFrame:
            return runs.rank(search_pages_first(study, scores, allowed, order=order), *asked)

        if identity in ("none", "given"):
            run = rank(shared if identity == "none" else study.candidates("oracle-document"))
        else:
            run = matched.run_within(study, shared, identity == "covers", rank)
        both = [metric(run, study.questions, k) for metric in (doc_recall, page_recall)]
        values["/".join((scorer, by, order, identity))] = pd.concat(both, keys=["doc_recall", "page_recall"])
    return pd.DataFrame(values).rename_axis(["metric", "question_id"]).reset_index()


def _params(study: Study, k: int) -> dict:
    inputs = {name: study.digest(name) for name in ("pages", "chunks", "questions")}
    return {"k": k, **inputs, "settings": study.settings_of(SECTIONS)}


def _stored(study: Study, stage: str, params: dict, rows: Callable[[], Iterable[tuple]]) -> pd.DataFrame:
    def compute(target: Path) -> None:
        study.need_filings("measuring page scorers")
        pd.DataFrame(rows(), columns=COLUMNS).to_csv(target / FILE, index=False, float_format="%.6g")

    entry = study.store.files(stage, params, compute, public=True)
    return pd.read_csv(entry.file(FILE), dtype={"item": str, "by": str}, keep_default_na=False)


def _measured(study: Study, k: int) -> Iterable[tuple]:
    for scorer, by in SCORERS:
        yield from _recalls(study, scorer, by, k)
    if not full.untrainable(study):
        for by in ("filing", "company"):
            yield from _folds(study, by)
        yield from _tokens(study, k)


def _recalls(study: Study, scorer: str, by: str, k: int) -> Iterable[tuple]:
    scores, everything = scorer_scores(study, scorer, by or "company"), study.candidates("standard")
    ranked = page_run(study, scores, everything, max(PAGES))
    rankings = [("pages", n_pages, ranked, n_pages) for n_pages in PAGES]
    for part, n_pages in [*(("ablation", n) for n in PAGES), ("page order", study.profile.page_scorer.pages)]:
        found = search_pages_first(study, scores, everything, n_pages, "page" if part == "page order" else "base")
        rankings.append((part, n_pages, runs.rank(found, study.questions, study.chunks, k), k))
    for part, n_pages, run, depth in rankings:
        for metric in (doc_recall, page_recall):
            for question, value in metric(run, study.questions, depth).items():
                yield part, scorer, by, question, metric.__name__, n_pages, value


def _folds(study: Study, by: str) -> Iterable[tuple]:
    records = [load_records(scorer.scores_entry(study, by)) for scorer in (full, light)]
    for fold, record, choice in zip(folds(study, by), *records, strict=True):
        for row in fold.test:
            yield "fold", "", by, study.questions["question_id"].iloc[row], "fold", 0, fold.number
        for epoch, loss in enumerate(record["curve"], 1):
            yield "curve", "full", by, f"{fold.number}:{epoch}", "loss", 0, loss
        sides = [f"{side}_{what}" for side in ("train", "test") for what in ("filings", "companies")]
        known = {f"n_{name}": len(record[name]) for name in sides}
        known |= {"n_pairs": record["n_train_pairs"], "n_questions": record["n_test_questions"]}
        known |= {"wall_s": record["wall_s"], "nearest": record["nearest_question_similarity"]}
        known |= {f"n_shared_{what}": len(record[f"shared_{what}"]) for what in ("filings", "companies")}
        known |= {"light_steps": choice["plan"]["steps"], "light_both_sides": choice["plan"]["sides"] == "both"}
        for metric, value in known.items():
            yield "training", "", by, str(fold.number), metric, 0, float(value)


def _tokens(study: Study, k: int) -> Iterable[tuple]:
    """What reading more of a page brings, on the test questions of the first fold by company."""
    settings, everything = study.profile.page_scorer, study.candidates("standard")
    trained = {settings.max_tokens, settings.compare_tokens} - {0}
    for n_tokens in sorted(trained | {study.profile.page_scorer_light.max_tokens}):
        names = ("page_scorer.max_tokens", "page_scorer_light.max_tokens")
        other = study.with_changes(dict.fromkeys(names, n_tokens))
        fold, (queries, pages) = folds(other, "company")[0], base_vectors(other)
        rows = list(fold.test)
        found = {"untrained": queries[rows] @ pages.T}
        if n_tokens in trained:
            entry = full.fold_model(other, fold)
            found["full"] = full.scores_of_model(other, entry, rows)
        for scorer, part in found.items():
            if scorer == "full":
                yield "tokens", scorer, "company", "0", "wall_s", n_tokens, entry.wall_s
            scores = np.full((len(study.questions), len(study.pages)), -np.inf, np.float32)
            scores[rows] = part
            kept = page_run(study, scores, everything, settings.pages)
            both = runs.rank(search_pages_first(study, scores, everything), study.questions, study.chunks, k)
            for name, run, depth in (("kept", kept, settings.pages), ("both", both, k)):
                for question, value in page_recall(run, study.questions.iloc[rows], depth).items():
                    yield "tokens", scorer, "company", question, f"page_recall_{name}", n_tokens, value
