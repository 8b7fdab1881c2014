"""A small language model judges the first chunks of a run, and retrieval follows its judgement.

Corrective RAG (Yan et al., 2024), as Akarsu et al. (2026) build it: the model labels each of the first five chunks;
where none is RELEVANT, it rewrites the question, hybrid retrieval is repeated, and the better round stays: that with
more RELEVANT chunks, then with more AMBIGUOUS ones, the first of equal ones. A selection agent (Kim et al., 2025) reads
ten chunks in one prompt and lists those that are needed; the others are dropped in the paper, and go behind here. A
chunk is read from its beginning (the papers' models read it whole).
"""

import re
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
import pandas as pd

from lib import runs
from lib.files import digest_of
from lib.method import Search
from lib.retrievers.prompts import asked, write
from lib.retrievers.rewritten import hybrid_scores, one_line

FIRST_STAGE = "hybrid_rrf"
LABELS = {"RELEV": "RELEVANT", "AMBIG": "AMBIGUOUS", "IRREL": "IRRELEVANT"}  # a text may be cut within one
_LABEL = re.compile(rf"\b({'|'.join(LABELS)})")


def label_of(text: str | None) -> str:
    """The first label in the judge's text; UNREADABLE where there is none."""
    found = _LABEL.search((text or "").upper())
    return LABELS[found[1]] if found else "UNREADABLE"


def first_ranks(run: pd.DataFrame, n: int) -> pd.DataFrame:
    """The first ``n`` ranks of a run."""
    return run[run["rank"] <= n].reset_index(drop=True)


def beginnings(study: Search, chunk_ids: Iterable[str], n_tokens: int) -> list[str]:
    """The first ``n_tokens`` tokens, of the embedder, of chunks; white space made single."""
    texts = [" ".join(text.split()) for text in study.chunks.set_index("chunk_id")["text"].loc[list(chunk_ids)]]
    read = [study.tokenizer.encode(text, add_special_tokens=False).offsets[:n_tokens] for text in texts]
    return [text[: offsets[-1][1]] if offsets else text for text, offsets in zip(texts, read, strict=True)]


def judgements(study: Search, pairs: pd.DataFrame) -> pd.DataFrame:
    """Pairs of question_id and chunk_id, each once, with their ``label``, see :func:`label_of`."""
    read = beginnings(study, pairs["chunk_id"], study.profile.sibling_texts.judge.passage_tokens)
    owners = dict(zip(pairs["question_id"] + "/" + pairs["chunk_id"], pairs["question_id"], strict=True))
    given, passages = asked(study), zip(owners.items(), read, strict=True)
    fields = {name: given[question_id] | {"passage": text} for (name, question_id), text in passages}
    texts = write(study, "judge", fields, owners).texts
    return pairs.assign(label=[label_of(texts.get(name)) for name in owners])


def judged_pairs(study: Search) -> pd.DataFrame:
    """The first ``sibling_texts.judge.top`` chunks of the first stage's standard run with ``rank`` and ``label``."""
    return judgements(study, first_ranks(study.run(FIRST_STAGE), study.profile.sibling_texts.judge.top))


def choices(study: Search, run: pd.DataFrame) -> dict[str, list[int]]:
    """Question id to the ranks that the model selects among the first ``sibling_texts.selection.top`` of a run: those
    whose numbers, from 0, its text contains, or all."""
    settings, given, fields = study.profile.sibling_texts.selection, asked(study), {}
    top = first_ranks(run, settings.top)
    top = top.assign(text=beginnings(study, top["chunk_id"], settings.passage_tokens))
    for question_id, texts in top.groupby("question_id", sort=False)["text"]:
        documents = "\n\n".join(f"Document {number}: {text}" for number, text in enumerate(texts))
        fields[question_id] = given[question_id] | {"documents": documents, "last": len(texts) - 1}
    texts, found = write(study, "selection", fields).texts, {}
    for question_id, read in fields.items():
        every = range(1, read["last"] + 2)
        named = {int(number) + 1 for number in re.findall(r"\d+", texts.get(question_id, ""))}
        found[question_id] = sorted(named & {*every}) or [*every]
    return found


def chosen(study: Search) -> dict[str, list[int]]:
    """The :func:`choices` among the first stage's standard run."""
    return choices(study, study.run(FIRST_STAGE))


def score_selected(study: Search, candidates: np.ndarray) -> np.ndarray:
    """Minus the rank with what is selected first and the rest behind, as it was, shape (n_questions, n_chunks)."""
    run = study.rank_method(FIRST_STAGE, candidates, study.profile.run.depth)
    selected, places = choices(study, run), zip(run["question_id"], run["rank"], strict=True)
    is_behind = np.array([rank not in selected[question_id] for question_id, rank in places], int)
    ranks = (run["rank"] + len(run) * is_behind).groupby(run["question_id"]).rank()
    return runs.to_matrix(run, study.questions, study.chunks, -ranks)


def _counts(study: Search, run: pd.DataFrame) -> pd.DataFrame:
    """How many of each question's first chunks are RELEVANT and AMBIGUOUS; by question id, in the study's order."""
    judged = judgements(study, first_ranks(run, study.profile.sibling_texts.judge.top))
    by_label, ids = pd.crosstab(judged["question_id"], judged["label"]), study.questions["question_id"]
    return by_label.reindex(index=ids, columns=["RELEVANT", "AMBIGUOUS"], fill_value=0)


def corrected(
    study: Search, first: pd.DataFrame, search: Callable[[pd.Series], pd.DataFrame]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The better round of each question: the run, and one row per question; ``search`` is such as :func:`second_round`.

    The row has RELEVANT and AMBIGUOUS (numbers of chunks), ``query`` (the rewrite, empty without a second round),
    RELEVANT_again and AMBIGUOUS_again, and ``is_second`` (whether the second round won).
    """
    table, given = _counts(study, first), asked(study)
    poor = {question_id: given[question_id] for question_id in table.index[table["RELEVANT"] == 0]}
    written = write(study, "correction", poor).texts if poor else {}
    table["query"] = [one_line(written.get(question_id, "")) for question_id in table.index]
    again = search(table["query"]) if poor else first[:0]
    table = table.join(_counts(study, again).add_suffix("_again"))
    more, more_ambiguous = (table[f"{label}_again"] - table[label] for label in ("RELEVANT", "AMBIGUOUS"))
    table["is_second"] = (more > 0) | ((more == 0) & (more_ambiguous > 0))  # without a query, nothing is found again
    won = table.index[table["is_second"]]
    rounds = [first[~first["question_id"].isin(won)], again[again["question_id"].isin(won)]]
    return pd.concat(rounds, ignore_index=True), table.reset_index(names="question_id")


def second_round(study: Search, queries: pd.Series, candidates: np.ndarray) -> pd.DataFrame:
    """The run of the rewritten questions; nothing for a question whose query is empty."""
    allowed = candidates & (queries != "").to_numpy()[:, None]
    scores = hybrid_scores(study, queries.tolist(), allowed)
    return runs.rank(scores, study.questions, study.chunks, study.profile.run.depth)


def score_corrected(study: Search, candidates: np.ndarray) -> np.ndarray:
    """The better round's hybrid score, shape (n_questions, n_chunks)."""
    first = study.rank_method(FIRST_STAGE, candidates, study.profile.run.depth)
    again = partial(second_round, study, candidates=candidates)
    return runs.to_matrix(corrected(study, first, again)[0], study.questions, study.chunks)


def verdicts(study: Search) -> pd.DataFrame:
    """What was judged and decided for each question under the standard condition, see :func:`corrected`."""
    top = study.profile.sibling_texts.judge.top

    def again(queries: pd.Series) -> pd.DataFrame:  # stored, so that what is published is not searched again
        params = {name: study.digest(name) for name in ("questions", "chunks")}
        params |= {"settings": study.settings_of(("embedder", "hybrid_rrf"))}
        params |= {"queries": digest_of(queries.tolist()), "top": top}
        make = lambda: first_ranks(second_round(study, queries, study.candidates("standard")), top)  # noqa: E731
        return study.store.frame("crag/second-round", params, make, public=True)

    return corrected(study, study.run(FIRST_STAGE), again)[1]
