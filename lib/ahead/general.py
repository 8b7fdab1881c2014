"""One ranker for questions of every kind, trained on several question sets over the same filings, told none by name.

Trees order the pages by their views (:mod:`lib.ahead.views`), beside the untrained sum of identity and words. Outer
folds by company hold out a company's questions of every set and all its pages. Inner folds, by company again, choose
how much of the learnt order counts: with the share 0 the order is the untrained sum.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from lib.ahead.combiner import fit_trees, per_question
from lib.ahead.pool import Pool
from lib.ahead.search import BLANK_COSINE, spread_pages
from lib.ahead.sets import (
    DEPTH,
    Union,
    all_questions,
    fold_numbers,
    recalls,
    training_pairs,
    union_of,
)
from lib.ahead.views import VIEWS, page_views, pool_of, untrained
from lib.files import digest_of, digest_of_file
from lib.profile import Settings
from lib.retrievers import dense
from lib.study import Study

SAVED = Path(__file__).with_name("model_general")  # folder of the saved rankers
VERSION = 3
N_TREES, SEED = 200, 13
TREES = {"leaves": 15, "min_pages": 50}  # two of the profile's settings, as there is more to learn from
SHARES = (0.0, 0.5, 0.8, 1.0)  # of the learnt order; the rest is the untrained sum
INNER_FOLDS = 3
MIN_COMPANIES = 5
WITH_KINDS, WITH_LEARNT = "with hand-written kinds", "with learnt kinds"
FURTHER = {"kinds": WITH_KINDS, "learnt": WITH_LEARNT}  # features that one variant alone reads
#: What is trained: on every set, with the hand-written kinds too, on one set alone, or without one view.
WHOLE = "all views"
ENCODED = ("window", "core", "heads")  # the views that need an encoder
VARIANTS = (WHOLE, WITH_KINDS, WITH_LEARNT, *(f"without {view}" for view in VIEWS), "without encoder")


def columns_of(variant: str, table: pd.DataFrame) -> list[str]:
    """The features that a variant reads."""
    dropped = [name for name, reader in FURTHER.items() if variant != reader]
    if variant.startswith("without "):
        left = variant.removeprefix("without ")
        dropped += ENCODED if left == "encoder" else [left]
    return [name for name in table if name.split("_")[0] not in dropped]


def fit(study: Study, union: Union, kept: np.ndarray, variant: str) -> object:
    """Trees of the pairs that a mask keeps, a LightGBM booster."""
    pool = union.pool.part(kept)
    reduced = Pool(pool.rows, pool.columns, pool.table[columns_of(variant, pool.table)], pool.gold)
    settings = Settings(study.profile.ahead | TREES)
    return fit_trees(reduced, settings, N_TREES, settings.seeds[0], union.weights[pool.rows])


def mixed(booster: object, share: float, pool: Pool) -> np.ndarray:
    """The score of each pair: the learnt order's share, and the untrained sum for the rest."""
    learnt = booster.predict(pool.table[booster.feature_name()], num_threads=1)
    plain = per_question(pool.table["plain"].to_numpy(float), pool.rows)
    return share * per_question(learnt, pool.rows) + (1 - share) * plain


def choose(study: Study, union: Union, companies: set[str], sets: tuple[str, ...], variant: str) -> float:
    """The share of the learnt order that is best in inner folds by company, each set weighing the same.

    The least of equal ones is taken; pages of companies outside these are no candidates.
    """
    kept = training_pairs(union, companies, sets)
    mine = sorted(companies & set(union.questions["company"]))
    is_asked = union.questions["company"].isin(mine) & union.questions["set"].isin(sets)
    asked = union.questions[is_asked]
    number = fold_numbers(asked, INNER_FOLDS, SEED)
    inner = np.array([number.get(name, -1) for name in union.questions["company"]])[union.pool.rows]
    scores = {share: np.full(len(inner), -np.inf) for share in SHARES}
    for fold in range(max(number.values()) + 1):
        left = {name for name in companies if number.get(name) != fold}
        booster = fit(study, union, training_pairs(union, left, sets), variant)
        held = kept & (inner == fold)
        for share in SHARES:
            scores[share][held] = mixed(booster, share, union.pool.part(held))
    rows = np.unique(union.pool.rows[kept])
    gain = {
        share: (recalls(union, found)["page_recall"].to_numpy() * union.weights)[rows].sum()
        for share, found in scores.items()
    }
    return max(SHARES, key=lambda share: (round(gain[share], 9), -share))


def inputs(study: Study, *, kinds: bool = False, trained: bool = True) -> list:
    """What the ranker's scores depend on beside settings: all questions, what is known of filings, saved rankers."""
    asked = all_questions(study).astype(str).to_numpy().tolist()
    saved = [digest_of_file(path) for path in sorted([*SAVED.glob("*.json"), *SAVED.glob("*.txt")])]
    filings = study.filings.astype(str).to_numpy().tolist()
    return [VERSION, kinds, digest_of(asked), digest_of(filings), *([saved] if trained else [])]


def fold_rankers(study: Study, variant: str, seed: int, sets: tuple[str, ...] = ()) -> list[tuple]:
    """Of each outer fold: its companies, its booster and the chosen share; stored.

    Args:
        study: see :func:`union_of`.
        variant: one of VARIANTS.
        seed: of the folds.
        sets: those that are trained on, by default all.
    """
    import lightgbm

    asked = all_questions(study)
    names, of = (
        sets or tuple(dict.fromkeys(asked["set"])),
        fold_numbers(asked, study.profile.ahead.n_folds, seed),
    )
    everyone, found = set(study.filings["company"]), []
    for fold in range(max(of.values()) + 1):
        tested = {company for company, number in of.items() if number == fold}

        def compute(target: Path, tested: set[str] = tested) -> None:
            union, companies = union_of(study), everyone - tested
            share = choose(study, union, companies, names, variant)
            booster = fit(study, union, training_pairs(union, companies, names), variant)
            (target / "trees.txt").write_text(booster.model_to_string())
            (target / "ranker.json").write_text(json.dumps({"share": share, "tested": sorted(tested)}))

        settings = study.settings_of(("ahead", "embedder", "bm25"))
        params = {
            "inputs": study.memo("general-inputs", lambda: digest_of(inputs(study, trained=False))),
            "sets": list(names),
        }
        params |= {"pages": study.digest("pages"), "variant": variant, "seed": seed, "fold": fold}
        entry = study.store.get("ahead/general", params | {"settings": settings}, compute, VERSION)
        booster = lightgbm.Booster(model_str=(entry.path / "trees.txt").read_text())
        found.append((tested, booster, json.loads((entry.path / "ranker.json").read_text())["share"]))
    return found


def nested_scores(rankers: list[tuple], companies: np.ndarray, pool: Pool) -> np.ndarray:
    """The score of each pair by the ranker of the fold that tests the company of its question."""
    scores = np.full(len(pool.rows), -np.inf)
    for tested, booster, share in rankers:
        mine = np.isin(companies[pool.rows], sorted(tested))
        if mine.any():
            scores[mine] = mixed(booster, share, pool.part(mine))
    return scores


def saved_ranker(kinds: bool) -> tuple[dict, object]:
    """The ranker for other datasets, trained on every question: its record and its trees."""
    import lightgbm

    folder = SAVED / ("kinds" if kinds else "plain")
    record = json.loads(folder.with_suffix(".json").read_text())
    return record, lightgbm.Booster(model_str=folder.with_suffix(".txt").read_text())


def certainty(study: Study, pool: Pool, scores: np.ndarray) -> pd.DataFrame:
    """How sure an order is, one row per question of the pool: is a company named, and how many views agree.

    ``company`` is the best match of a company's name, 0 to 1; ``agree`` counts the views whose best page of the pool is
    the first of the order; ``lead`` is by how many deviations the first page is ahead of the second.
    """
    views, found = [name for name in VIEWS if name in pool.table], []
    for row in np.unique(pool.rows):
        mine = np.flatnonzero(pool.rows == row)
        order = mine[np.argsort(-scores[mine], kind="stable")]
        values, table = scores[order], pool.table.iloc[mine]
        agree = sum(int(mine[table[name].to_numpy().argmax()] == order[0]) for name in views)
        lead = (values[0] - values[1]) / (values.std() + 1e-9) if len(values) > 1 else np.inf
        found.append((row, float(table["identity_company_named"].max()), agree, float(lead)))
    return pd.DataFrame(found, columns=["row", "company", "agree", "lead"])


def score(study: Study, candidates: np.ndarray, *, kinds: bool = False, trained: bool = True) -> np.ndarray:
    """The order of the pages that have candidate chunks, shape (n_questions, n_chunks).

    Questions of the sets that are trained on are scored by folds by company, others by the saved ranker.

    Args:
        study, candidates: as every method's.
        kinds: whether the ranker reads the hand-written kinds.
        trained: False for the untrained sum.
    """
    pages, asked = page_views(study).chunk_pages, study.questions["question"].tolist()
    allowed = np.stack([np.bincount(pages[row], minlength=len(study.pages)) > 0 for row in candidates])
    if trained:
        pool = pool_of(study, asked, allowed, kinds)
        scores = pool_scores(study, pool, kinds)
        chunks = dense.score(study, candidates)
        chunks = np.where(np.isfinite(chunks), chunks, BLANK_COSINE)
    else:
        values = untrained(study, asked)
        rows, columns = np.nonzero(allowed)
        pool, scores = Pool(rows, columns, pd.DataFrame()), values[rows, columns]
        chunks = np.zeros(candidates.shape)
    return spread_pages(pool, scores, np.where(candidates, chunks, -np.inf), pages)


def pool_scores(study: Study, pool: Pool, kinds: bool = False) -> np.ndarray:
    """The score of each pair of the study's questions by a ranker that may answer them."""
    record, booster = saved_ranker(kinds)
    if set(record["question_ids"]).isdisjoint(study.questions["question_id"]):
        return mixed(booster, record["share"], pool)
    if study.questions["company"].nunique() < MIN_COMPANIES:
        return pool.table["plain"].to_numpy(float)
    companies = study.questions["doc_name"].map(study.filings.set_index("doc_name")["company"]).to_numpy()
    seed = study.profile.ahead.fold_seeds[0]
    return nested_scores(fold_rankers(study, WITH_KINDS if kinds else WHOLE, seed), companies, pool)


def nested_recalls(study: Study, variant: str, seed: int, sets: tuple[str, ...] = ()) -> pd.DataFrame:
    """What a variant finds in the questions of all sets, nested: question_id, set, question_type, company and
    both recalls; stored.

    The variant ``untrained`` needs no folds. ``sets`` are those that are trained on, by default all.
    """

    def make() -> pd.DataFrame:
        union = union_of(study)
        if variant == "untrained":
            scores = union.pool.table["plain"].to_numpy(float)
        else:
            rankers = fold_rankers(study, variant, seed, sets)
            scores = nested_scores(rankers, union.questions["company"].to_numpy(), union.pool)
        about = union.questions[["question_id", "set", "question_type", "company"]]
        return pd.concat([about, recalls(union, scores)], axis=1)

    depends = {"pages": study.digest("pages"), "inputs": study.inputs_digest("ahead_untrained")}
    depends |= {"settings": study.settings_of(("ahead", "embedder", "bm25"))}
    params = depends | {"variant": variant, "seed": seed, "sets": list(sets), "k": DEPTH}
    return study.store.frame("ahead/tested", params, make, VERSION, public=True)
