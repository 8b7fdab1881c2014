"""How much of each method's recall is left as filings are added: the same questions over nested parts of a collection.

A part contains every filing that a question is about, and others in a random order, drawn three times: all of them
mixed, those of asked companies alone (other years and forms), or those of other companies alone. Word statistics,
metadata match, fusion, reranking and the pool of ``ahead`` are those of the part; vectors do not depend on it. What is
trained stays as it was trained over the smallest part, by folds of companies: an archive grows after the training.
"""

import gzip
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from lib import runs
from lib.ahead.ranker import IN_INDEX, fold_rankers, inputs
from lib.ahead.search import BLANK_COSINE, pool_scores, spread_pages
from lib.ahead.views import study_pool
from lib.analysis.growth import ASKED, GROWTH, GROWTH_COLUMNS, METRICS, MIXED
from lib.analysis.measured import known_table
from lib.archive.ask import NEAREST, Archive
from lib.archive.index import Shards, shards_of
from lib.corpus import Corpus, edited
from lib.files import digest_of, write_atomically
from lib.metrics.retrieval import retrieval_metrics
from lib.models.index import window_vectors
from lib.page_scorer import light
from lib.page_scorer.pages import folds, load_records
from lib.page_scorer.residual import Plan
from lib.page_scorer.search import pages_of_chunks, scorer_scores
from lib.profile import load_profile
from lib.retrievers import dense
from lib.studies import open_study
from lib.study import Study
from lib.words import StudyError

STAGE, VERSION = "growth", 2
NO_INDEX = "this is measured over an index: make index DATASET=path, then --larger path"
SIZES, DRAWS, SEED = (84, 150, 250), 3, 13
DEPTHS = (1, 5, 20)
ALONE = ("parent_child",)  # rows whose score of a chunk depends on the question and the chunk alone
TRAINED = ("page_scorer_light_sum", "page_scorer_light_sum_records", "ahead")  # over the study's own filings
ROWS = ("bm25", "bm25_records", "bm25_covers", "ahead_untrained", "dense", "dense_records", "hybrid_rrf")
ROWS += (*TRAINED, "rerank_head_20")


class Drawn(NamedTuple):
    """The filings of a part: which kind of filings was added, the number of the draw, and their names."""

    kind: str
    draw: int
    doc_names: frozenset[str]


class Part(Corpus):
    """Some of the filings of a corpus, those that a question is about among them."""

    def __init__(self, whole: Corpus, doc_names: frozenset[str]):
        artifacts = whole.store.root.parent
        super().__init__(whole.dataset, whole.profile, whole.chunkings, artifacts, whole.published, whole.outputs)
        self.whole, self.doc_names, self.uses_published = whole, doc_names, whole.uses_published

    def _kept(self, frame: pd.DataFrame) -> pd.DataFrame:
        return frame[frame["doc_name"].isin(self.doc_names)].reset_index(drop=True)

    filings = property(lambda self: self._kept(self.whole.filings))
    pages = property(lambda self: self.memo("pages", lambda: self._kept(self.whole.pages)))

    def chunks(self) -> pd.DataFrame:
        """Those of the part, CHUNK_COLUMNS."""
        return self.memo("chunks", lambda: self._kept(self.whole.chunks()))

    def digest(self, name: str, table: str = "") -> str:
        """As :meth:`lib.corpus.Corpus.digest`; of what depends on the filings, with their names."""
        digest = self.whole.digest(name, table)
        return digest if name in ("questions", "evidence") else digest_of([digest, sorted(self.doc_names)])[:20]


def part_of(whole: Study, doc_names: frozenset[str], index: "Index | None" = None) -> Study:
    """A study over some of its filings; ``index`` gives the windows' vectors, which else are encoded."""
    study = Study(Part(whole.corpus, doc_names), whole.methods)
    if index:
        study.memo(window_vectors.key(), lambda: index.of(study.chunks))
    return study


class Index:
    """Windows' vectors of a larger collection: those of a study's own filings, and the shards of all others."""

    def __init__(self, home: Study, shards: Shards):
        self.home, self.shards = home, shards
        self.names = set(home.filings["doc_name"]) | set(shards.names())

    def of(self, chunks: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
        """As :func:`lib.models.index.window_vectors`, of some chunks (CHUNK_COLUMNS), filing by filing."""
        place, owners, vectors = pd.Index(chunks["chunk_id"]), [], []
        of_home, own = window_vectors(self.home)
        windows = self.home.chunks[["doc_name", "chunk_id"]].iloc[of_home]
        for name in chunks["doc_name"].unique():
            is_mine = (windows["doc_name"] == name).to_numpy()
            table, found = (windows[is_mine], own[is_mine]) if is_mine.any() else self.shards.windows(name)
            owners.append(place.get_indexer(table["chunk_id"]))
            vectors.append(found)
        return np.concatenate(owners), np.concatenate(vectors)


def opened(home: Study, larger: Path | None) -> tuple[Study, Index | None]:
    """The study of a larger collection with the same questions and its index; without one a study's own, and none."""
    if larger is None:
        return home, None
    return open_study(str(larger), home.profile.name), Index(home, shards_of(str(larger)))


def drawn_parts(
    filings: pd.DataFrame, questions: pd.DataFrame, sizes: Sequence[int] = SIZES, draws: int = DRAWS
) -> list[Drawn]:
    """The parts of a collection: the asked filings alone, nested samples of each kind, and all filings.

    Mixed parts have so many filings; those of one kind alone as many as there are of the kind with the fewest. Filings
    and questions have doc_name and company.
    """
    asked = frozenset(questions["doc_name"])
    others = filings[~filings["doc_name"].isin(asked)]
    is_known = others["company"].isin(set(questions["company"]))
    kinds = {MIXED: others, "asked companies": others[is_known], "other companies": others[~is_known]}
    few = len(asked) + min(is_known.sum(), (~is_known).sum())
    parts = [Drawn(MIXED, 0, asked)]
    for (kind, frame), draw in product(kinds.items(), range(draws)):
        order = np.random.default_rng([SEED, draw]).permutation(sorted(frame["doc_name"]))
        for size in sizes if kind == MIXED else [few]:
            if len(asked) < size < len(filings):
                parts.append(Drawn(kind, draw, asked | frozenset(order[: size - len(asked)])))
    parts.append(Drawn(MIXED, 0, frozenset(filings["doc_name"])))
    return list({(part.kind, part.doc_names): part for part in reversed(parts)}.values())[::-1]


def measure(
    home: Study, larger: Study, index: Index | None = None, methods: Sequence[str] = ROWS
) -> Iterator[pd.DataFrame]:
    """Measure methods over every part of a collection whose filings are indexed; GROWTH of the study's folder grows.

    Args:
        home: the questions over their own filings, where what is trained was trained, and whose table it is.
        larger: the same questions over these filings and others.
        index: of the larger collection; by default its vectors are the study's.
        methods: rows of the method table, or ``ask``: what ``make ask`` finds over the first draw of each size.

    Yields:
        GROWTH_COLUMNS, part by part, those with the fewest filings first, and method by method; stored.

    Raises:
        StudyError: what ``make ask`` finds is wanted, and no collection was indexed.
    """
    if "ask" in methods and index is None:
        raise StudyError(NO_INDEX)
    parts = drawn_parts(larger.filings, larger.questions)
    for part in sorted(parts, key=lambda part: (part.draw, len(part.doc_names))):
        is_indexed = index is None or part.doc_names <= index.names
        searched, is_first = part_of(larger, part.doc_names, index if is_indexed else None), part[:2] == (MIXED, 0)
        for name in methods:
            if name == "ask" and is_first and part.doc_names <= {*index.shards.names()}:
                found = _asked(home, index.shards, part)
            elif name != "ask" and (is_indexed or not needs_vectors(larger, name)):
                found = _measured(home, searched, part, name)
            else:
                continue
            write_table(home, found)
            yield found


def _asked(home: Study, shards: Shards, part: Drawn) -> pd.DataFrame:
    """GROWTH_COLUMNS of what ``make ask`` finds over a part.

    A question is ranked by the fold that did not see its company, trained over the study's own filings on what an index
    has; identities are those of the filings' own first pages.
    """

    def make() -> pd.DataFrame:
        archive = Archive(shards, load_profile("default"), sorted(part.doc_names))
        rankers = fold_rankers(home, IN_INDEX, home.profile.ahead.fold_seeds[0])
        of_company = {company: one for one in rankers for company in one.tested}
        companies, rows = home.filings.set_index("doc_name")["company"], []
        for asked in home.questions.itertuples():
            best = archive.ask(asked.question, max(DEPTHS), of_company[companies[asked.doc_name]])
            rows.append(best.assign(question_id=asked.question_id, rank=range(1, len(best) + 1)))
        run = pd.concat(rows, ignore_index=True)
        return _recalls(run, home.questions, part, len(archive.places), ASKED)

    params = {"draw": part.draw, "doc_names": sorted(part.doc_names), "plan": shards.plan._asdict()}
    params |= {"trained": digest_of(inputs(home)), "nearest": NEAREST}
    params |= {"questions": home.digest("questions")} | edited("ahead", "bm25")
    return home.store.kept(f"{STAGE}/{ASKED}", params, make, VERSION)


def needs_vectors(study: Study, name: str) -> bool:
    """Whether a row of the method table, or one that it uses, searches with the encoder."""
    method, is_exempt = study.method(name), name == "ahead_untrained"
    return not is_exempt and ("embedder" in method.settings or any(needs_vectors(study, one) for one in method.uses))


def write_table(home: Study, found: pd.DataFrame) -> None:
    """Put rows into GROWTH of a study's folder, in place of those of the same part and method."""
    keys = ["kind", "draw", "n_filings", "method", "question_id", "k"]
    both = pd.concat([known_table(home, GROWTH), found])
    both = both.drop_duplicates(keys, keep="last").sort_values(keys, kind="stable")
    write_atomically(home.home / GROWTH, gzip.compress(both[GROWTH_COLUMNS].to_csv(index=False).encode(), mtime=0))


def _measured(home: Study, study: Study, part: Drawn, name: str) -> pd.DataFrame:
    def make() -> pd.DataFrame:
        return _recalls(ranked(home, study, name), study.questions, part, len(study.pages), name)

    params = {"method": study.run_params(name, "standard"), "kind": part.kind, "draw": part.draw}
    params |= {"depths": list(DEPTHS), "trained": home.digest("chunks") if name in TRAINED else ""}
    return study.store.kept(f"{STAGE}/{name}", params, make, VERSION)


def _recalls(run: pd.DataFrame, questions: pd.DataFrame, part: Drawn, n_pages: int, method: str) -> pd.DataFrame:
    """GROWTH_COLUMNS of a run over a part."""
    found = retrieval_metrics(run, questions, DEPTHS)
    wide = found[found["metric"].isin(METRICS)].pivot(index=["question_id", "k"], columns="metric", values="value")
    about = {"kind": part.kind, "draw": part.draw, "n_filings": len(part.doc_names)}
    return wide.reset_index().assign(**about, n_pages=n_pages, method=method)[GROWTH_COLUMNS]


def ranked(home: Study, study: Study, name: str) -> pd.DataFrame:
    """The run of a method over a part; what is trained was trained over the filings of ``home``."""
    depth = study.profile.run.depth
    if name == "ahead":  # as of lib.ahead.search.score
        pool = study_pool(study, study.questions["question"].tolist(), has_kinds=True)
        cosines = dense.score(study, np.empty(0))
        cosines = np.where(np.isfinite(cosines), cosines, BLANK_COSINE)
        scores = spread_pages(pool, pool_scores(home, pool, kinds=True), cosines, pages_of_chunks(study))
        return runs.rank(scores, study.questions, study.chunks, depth)
    if name.startswith("page_scorer_light"):
        study.memo(scorer_scores.key("light", "company"), partial(light_scores, home, study))
    if name in ALONE and isinstance(study.corpus, Part):  # once for all parts
        study, kept = Study(study.corpus.whole, study.methods), study.corpus.doc_names
    else:
        kept = study.filings["doc_name"]
    allowed = np.tile(study.chunks["doc_name"].isin(kept), (len(study.questions), 1))
    return study.rank_method(name, allowed, depth)


def light_scores(home: Study, study: Study) -> np.ndarray:
    """The light page scorer's score of every page of a part for every question, shape (n_questions, n_pages).

    A page's vector is that of its first window, which has the tokens that the scorer reads of a page.
    """
    owners, vectors = window_vectors(study)
    pages, rows = np.unique(pages_of_chunks(study)[owners], return_index=True)
    scores = np.full((len(study.questions), len(study.pages)), -1.0, np.float32)
    asked = dense.question_vectors(study)
    for fold, data, scorer in home.memo("light scorers", partial(_light_scorers, home)):
        over = replace(data, questions=asked, pages=vectors[rows])
        scores[np.ix_(fold.test, pages)] = over.scores(scorer, fold.test)
    return scores


def _light_scorers(home: Study) -> list[tuple]:
    """Of each fold by company: the fold, its data, and the scorer trained by the plan that was chosen for it."""
    records, found = load_records(light.scores_entry(home, "company")), []
    for fold, record in zip(folds(home, "company"), records, strict=True):
        data = light.fold_data(home, fold)
        found.append((fold, data, data.trained(fold.train, Plan(**record["plan"]))))
    return found
