"""What preference training of the generator changed: the results of ``extras.preference``, read by their keys."""

import pandas as pd

from lib.study import Study

VERSION = 1
#: The standard methods of which the best was trained with.
RUNS = (
    *("dense", "bm25", "bm25_rank_bm25", "splade", "hybrid_rrf", "parent_child", "query_expansion"),
    *("hyde", "multi_hyde", "rerank", "multi_hyde_rerank", "page_then_chunk"),
)


def counts_entry(study: Study) -> tuple[str, dict]:
    """The stage and parameters of the counts of pairs."""
    params = {name: study.digest(name) for name in ("chunks", "questions")}
    params["settings"] = study.settings_of(["preference", "answers", "generator"])
    return "preference/counts", params | {"runs": [study.run_entry(name).digest for name in RUNS]}


def comparison_entry(study: Study, profile: dict, fold: int | None) -> tuple[str, dict]:
    """The stage and parameters of the comparison under the ``profile`` of a training, of one ``fold`` or (None) all."""
    params = {name: study.digest(name) for name in ("chunks", "questions")}
    params |= {"gold": study.dataset.fingerprint, "fold": fold}
    return "preference/compared", params | {
        name: dict(profile[name]) for name in ("preference", "answers", "generator")
    }


def counts(study: Study) -> dict[str, int]:
    """The number of questions by what became of them: ``pair``, ``right``, ``missing``; empty if not trained here."""
    return study.store.frame(*counts_entry(study), None, VERSION) or {}


def comparison(study: Study, profile: dict, fold: int | None = 0) -> pd.DataFrame:
    """Answers before and after training (:func:`extras.preference.tuned.compared`); empty if not trained here."""
    stored = study.store.frame(*comparison_entry(study, profile, fold), None, VERSION)
    return pd.DataFrame() if stored is None else stored
