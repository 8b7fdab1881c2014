"""How much of each method's recall is left as filings are added: the same questions over nested parts of a collection.

A part contains every filing that a question is about, and others in a random order, drawn three times: all of them
mixed, those of asked companies alone (other years and forms), or those of other companies alone. Word statistics,
metadata match, fusion and reranking are those of the part; vectors do not depend on it.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from lib.files import digest_of
from lib.metrics.retrieval import retrieval_metrics
from lib.study import Study

STAGE, VERSION = "growth", 1
SIZES, DRAWS, SEED = (84, 150, 250), 3, 13
METRICS = ("doc_recall", "page_recall")
#: Rows whose score of a chunk depends on the question and the chunk alone.
ALONE = ("dense", "parent_child")
ROWS = (
    "dense",
    "bm25",
    "hybrid_rrf",
    "parent_child",
    "rerank",
    "dense_records",
    "bm25_records",
    "bm25_covers",
)
COLUMNS = ["kind", "draw", "n_filings", "n_pages", "method", "question_id", "metric", "k", "value"]


class Drawn(NamedTuple):
    """The filings of a part: which kind of filings was added, the number of the draw, and their names."""

    kind: str
    draw: int
    doc_names: frozenset[str]


class Part(Study):
    """A study over some of the filings of another.

    Args:
        whole: the study.
        doc_names: filings that are kept, those that a question is about among them.
    """

    def __init__(self, whole: Study, doc_names: frozenset[str]):
        self.__dict__.update(whole.__dict__)
        self.of, self.doc_names, self._memo = whole, doc_names, {}

    def _kept(self, frame: pd.DataFrame) -> pd.DataFrame:
        return frame[frame["doc_name"].isin(self.doc_names)].reset_index(drop=True)

    @property
    def filings(self) -> pd.DataFrame:
        """Those of the part."""
        return self._kept(self.of.filings)

    @property
    def pages(self) -> pd.DataFrame:
        """Those of the part."""
        return self.memo("pages", lambda: self._kept(self.of.pages))

    @property
    def chunks(self) -> pd.DataFrame:
        """Those of the part."""
        return self.memo("chunks", lambda: self._kept(self.of.chunks))

    def digest(self, name: str) -> str:
        """As :meth:`lib.frames.Frames.digest`; of what depends on the filings, with their names."""
        digest = self.of.digest(name)
        is_whole = name in ("questions", "evidence")
        return digest if is_whole else digest_of([digest, sorted(self.doc_names)])[:20]

    def rank_method(self, name: str, allowed: np.ndarray, depth: int) -> pd.DataFrame:
        """As :meth:`lib.study.Study.rank_method`; rows of ALONE are scored once for all parts."""
        if name not in ALONE:
            return super().rank_method(name, allowed, depth)
        is_kept = self.of.chunks["doc_name"].isin(self.doc_names).to_numpy()
        among = np.zeros((len(self.questions), len(is_kept)), bool)
        among[:, is_kept] = allowed
        return self.of.rank_method(name, among, depth)


def drawn_parts(
    filings: pd.DataFrame, questions: pd.DataFrame, sizes: Sequence[int] = SIZES, draws: int = DRAWS
) -> list[Drawn]:
    """The parts of a collection: the asked filings alone, nested samples of each kind, and all filings.

    The parts of one kind alone have as many filings as there are of the kind with the fewest.

    Args:
        filings: doc_name and company.
        questions: doc_name and company.
        sizes: of the mixed parts, in filings.
        draws: random orders of each kind.
    """
    asked = frozenset(questions["doc_name"])
    others = filings[~filings["doc_name"].isin(asked)]
    is_known = others["company"].isin(set(questions["company"]))
    kinds = {"mixed": others, "asked companies": others[is_known], "other companies": others[~is_known]}
    few = len(asked) + min(is_known.sum(), (~is_known).sum())
    parts = [Drawn("mixed", 0, asked)]
    for (kind, frame), draw in product(kinds.items(), range(draws)):
        order = np.random.default_rng([SEED, draw]).permutation(sorted(frame["doc_name"]))
        for size in sizes if kind == "mixed" else [few]:
            if len(asked) < size < len(filings):
                parts.append(Drawn(kind, draw, asked | frozenset(order[: size - len(asked)])))
    parts.append(Drawn("mixed", 0, frozenset(filings["doc_name"])))
    return list({(part.kind, part.doc_names): part for part in reversed(parts)}.values())[::-1]


def measure(study: Study, methods: Sequence[str] = ROWS) -> Iterator[pd.DataFrame]:
    """Measure methods over every part of a collection: COLUMNS, part by part and method by method; stored."""
    for part in drawn_parts(study.filings, study.questions):
        searched = Part(study, part.doc_names)
        for name in methods:
            yield _measured(searched, part, name)


def _measured(study: Part, part: Drawn, name: str) -> pd.DataFrame:
    ks = study.profile.metrics.ks

    def make() -> pd.DataFrame:
        allowed = np.ones((len(study.questions), len(study.chunks)), bool)
        run = study.rank_method(name, allowed, study.profile.run.depth)
        found = retrieval_metrics(run, study.questions, ks)
        return found[found["metric"].isin(METRICS)].assign(
            kind=part.kind,
            draw=part.draw,
            n_filings=len(part.doc_names),
            n_pages=len(study.pages),
            method=name,
        )[COLUMNS]

    params = {
        "method": study.run_params(name, "standard"),
        "kind": part.kind,
        "draw": part.draw,
        "ks": list(ks),
    }
    return study.store.frame(f"{STAGE}/{name}", params, make, VERSION, public=True)
