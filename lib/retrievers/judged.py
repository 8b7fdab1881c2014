"""A small language model judges the first chunks of a run, and retrieval follows its judgement.

Corrective RAG (Yan et al., 2024), as Akarsu et al. (2026) build it: the model labels each of the first five chunks;
where none is RELEVANT, it rewrites the question, hybrid retrieval is repeated, and the better round stays: that with
more RELEVANT chunks, then with more AMBIGUOUS ones, the first of equal ones. A selection agent (Kim et al., 2025) reads
ten chunks in one prompt and lists those that are needed; the others are dropped in the paper, and follow here. A
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
    label = _LABEL.search((text or "").upper())
    return LABELS[label[1]] if label else "UNREADABLE"


def first_ranks(run: pd.DataFrame, n: int) -> pd.DataFrame:
    """The first ``n`` ranks of a run."""
    return run[run["rank"] <= n].reset_index(drop=True)


def beginnings(search: Search, chunk_ids: Iterable[str], n_tokens: int) -> list[str]:
    """The first ``n_tokens`` tokens, of the embedder, of chunks; white space made single."""
    texts = [" ".join(text.split()) for text in search.chunks.set_index("chunk_id")["text"].loc[list(chunk_ids)]]
    read = [search.tokenizer.encode(text, add_special_tokens=False).offsets[:n_tokens] for text in texts]
    return [text[: offsets[-1][1]] if offsets else text for text, offsets in zip(texts, read, strict=True)]


def judgements(search: Search, pairs: pd.DataFrame) -> pd.DataFrame:
    """Pairs of question_id and chunk_id, each once, with their ``label``, see :func:`label_of`."""
    read = beginnings(search, pairs["chunk_id"], search.profile.sibling_texts.judge.passage_tokens)
    owners = dict(zip(pairs["question_id"] + "/" + pairs["chunk_id"], pairs["question_id"], strict=True))
    given, passages = asked(search), zip(owners.items(), read, strict=True)
    fields = {name: given[question_id] | {"passage": text} for (name, question_id), text in passages}
    texts = write(search, "judge", fields, owners).texts
    return pairs.assign(label=[label_of(texts.get(name)) for name in owners])


def judged_pairs(search: Search) -> pd.DataFrame:
    """The first ``sibling_texts.judge.top`` chunks of the first stage's standard run with ``rank`` and ``label``."""
    return judgements(search, first_ranks(search.run(FIRST_STAGE), search.profile.sibling_texts.judge.top))


def choices(search: Search, run: pd.DataFrame) -> dict[str, list[int]]:
    """Question id to the ranks that the model selects among the first ``sibling_texts.selection.top`` of a run: those
    whose numbers, from 0, its text contains, or all."""
    settings, given, fields = search.profile.sibling_texts.selection, asked(search), {}
    top = first_ranks(run, settings.top)
    top = top.assign(text=beginnings(search, top["chunk_id"], settings.passage_tokens))
    for question_id, texts in top.groupby("question_id", sort=False)["text"]:
        documents = "\n\n".join(f"Document {number}: {text}" for number, text in enumerate(texts))
        fields[question_id] = given[question_id] | {"documents": documents, "last": len(texts) - 1}
    texts, selected = write(search, "selection", fields).texts, {}
    for question_id, read in fields.items():
        every = range(1, read["last"] + 2)
        named = {int(number) + 1 for number in re.findall(r"\d+", texts.get(question_id, ""))}
        selected[question_id] = sorted(named & {*every}) or [*every]
    return selected


def chosen(search: Search) -> dict[str, list[int]]:
    """The :func:`choices` among the first stage's standard run."""
    return choices(search, search.run(FIRST_STAGE))


def score_selected(search: Search, candidates: np.ndarray) -> np.ndarray:
    """Minus the rank with what is selected first and the rest behind, as it was, shape (n_questions, n_chunks)."""
    run = search.rank_method(FIRST_STAGE, candidates, search.profile.run.depth)
    selected, places = choices(search, run), zip(run["question_id"], run["rank"], strict=True)
    is_behind = np.array([rank not in selected[question_id] for question_id, rank in places], int)
    ranks = (run["rank"] + len(run) * is_behind).groupby(run["question_id"]).rank()
    return runs.to_matrix(run, search.questions, search.chunks, -ranks)


def _counts(search: Search, run: pd.DataFrame) -> pd.DataFrame:
    """How many of each question's first chunks are RELEVANT and AMBIGUOUS; by question id, in the study's order."""
    judged = judgements(search, first_ranks(run, search.profile.sibling_texts.judge.top))
    by_label, ids = pd.crosstab(judged["question_id"], judged["label"]), search.questions["question_id"]
    return by_label.reindex(index=ids, columns=["RELEVANT", "AMBIGUOUS"], fill_value=0)


def corrected(
    search: Search, first: pd.DataFrame, search_again: Callable[[pd.Series], pd.DataFrame]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The better round of each question: the run, and one row per question; ``search_again`` is a
    :func:`second_round`.

    The row has RELEVANT and AMBIGUOUS (numbers of chunks), ``query`` (the rewrite, empty without a second round),
    RELEVANT_again and AMBIGUOUS_again, and ``is_second`` (whether the second round won).
    """
    table, given = _counts(search, first), asked(search)
    poor = {question_id: given[question_id] for question_id in table.index[table["RELEVANT"] == 0]}
    written = write(search, "correction", poor).texts if poor else {}
    table["query"] = [one_line(written.get(question_id, "")) for question_id in table.index]
    again = search_again(table["query"]) if poor else first[:0]
    table = table.join(_counts(search, again).add_suffix("_again"))
    more, more_ambiguous = (table[f"{label}_again"] - table[label] for label in ("RELEVANT", "AMBIGUOUS"))
    table["is_second"] = (more > 0) | ((more == 0) & (more_ambiguous > 0))  # without a query, nothing is found again
    won = table.index[table["is_second"]]
    rounds = [first[~first["question_id"].isin(won)], again[again["question_id"].isin(won)]]
    return pd.concat(rounds, ignore_index=True), table.reset_index(names="question_id")


def second_round(search: Search, queries: pd.Series, candidates: np.ndarray) -> pd.DataFrame:
    """The run of the rewritten questions; nothing for a question whose query is empty."""
    allowed = candidates & (queries != "").to_numpy()[:, None]
    scores = hybrid_scores(search, queries.tolist(), allowed)
    return runs.rank(scores, search.questions, search.chunks, search.profile.run.depth)


def score_corrected(search: Search, candidates: np.ndarray) -> np.ndarray:
    """The better round's hybrid score, shape (n_questions, n_chunks)."""
    first = search.rank_method(FIRST_STAGE, candidates, search.profile.run.depth)
    again = partial(second_round, search, candidates=candidates)
    return runs.to_matrix(corrected(search, first, again)[0], search.questions, search.chunks)


def verdicts(search: Search) -> pd.DataFrame:
    """What was judged and decided for each question under the standard condition, see :func:`corrected`."""
    top = search.profile.sibling_texts.judge.top

    def again(queries: pd.Series) -> pd.DataFrame:  # stored, so that what is published is not searched again
        params = {name: search.digest(name) for name in ("questions", "chunks")}
        params |= {"settings": search.settings_of(("embedder", "hybrid_rrf"))}
        params |= {"queries": digest_of(queries.tolist()), "top": top}
        make = lambda: first_ranks(second_round(search, queries, search.candidates("standard")), top)  # noqa: E731
        return search.store.frame("crag/second-round", params, make, public=True)

    return corrected(search, search.run(FIRST_STAGE), again)[1]
