"""Commands that have the language model write: answers, the texts of the sibling studies, and the filings' contexts.

A chapter writes what it misses, too; here it is done ahead, by several processes if wanted. Every text is stored as it
is written; a killed run goes on where it was. Kinds are filled in the order of KINDS, as later ones need what earlier
ones gave: ``crag`` rewrites the questions whose first chunks ``judge`` found useless.
"""

from collections.abc import Callable, Iterator
from functools import partial

from lib.answers.answers import answers, best_baseline
from lib.answers.prompt_context import BEST_BASELINE, context
from lib.answers.relevance import labelled_pairs, questions_from
from lib.evaluation import evaluate_all
from lib.method_sets import baselines
from lib.methods import METHODS
from lib.retrievers import contextual, judged
from lib.retrievers.contextual import window_vectors
from lib.retrievers.judged import judgements
from lib.retrievers.prompts import asked, write
from lib.study import Study


def write_answers(study: Study, name: str, k: int = 5, limit: int | None = None) -> str:
    """Write the answers of one context, or its first; a sentence that says how many there are.

    ``k`` is the depth at which the best baseline is chosen.
    """
    best = best_baseline(evaluate_all(study, baselines(), ["standard"]), k) if name == BEST_BASELINE else ""
    wanted = context(name, best, "dense" if "dense" in METHODS else best)
    written = answers(study, wanted, limit)
    return f"{name} ({wanted.method}): {len(written.texts)} answers, {dict(written.filled.origins)}"


def _of_questions(kind: str, study: Study) -> str:
    return f"{len(write(study, kind, asked(study)).texts)} of {len(study.questions)} questions"


def _judgements(study: Study) -> str:
    """Judges the first chunks of hybrid retrieval, and the pairs that were labelled by hand."""
    pairs = labelled_pairs()
    if len(pairs := pairs[pairs["question_id"].isin(study.questions["question_id"])]):
        judgements(study, pairs.reset_index(drop=True))
    return str(judged.judged_pairs(study)["label"].value_counts().to_dict())


def _corrections(study: Study) -> str:
    table = judged.verdicts(study)
    return f"{(table['query'] != '').sum()} questions rewritten, {table['is_second'].sum()} won by it"


def _selections(study: Study) -> str:
    found = judged.chosen(study)
    return f"{sum(map(len, found.values()))} chunks selected for {len(found)} questions"


def _answer_questions(study: Study) -> str:
    """Has the question of every answer of the best baseline and of ``ahead`` written."""
    top, metrics = study.profile.sibling_texts.judge.top, evaluate_all(study, baselines(), ["standard"])
    best = best_baseline(metrics, top)
    named = [context(name, best) for name in (BEST_BASELINE, "ahead") if name in (BEST_BASELINE, *METHODS)]
    return str({one.method: len(questions_from(study, answers(study, one)).texts) for one in named})


#: What writes the texts of each kind, and gives how many there are.
KINDS: dict[str, Callable[[Study], str]] = {
    **{kind: partial(_of_questions, kind) for kind in ("rewrites", "keywords", "expansion", "hyde_akarsu")},
    **{"judge": _judgements, "crag": _corrections, "selection": _selections, "answer_question": _answer_questions},
}


def write_texts(study: Study, only: str = "") -> Iterator[str]:
    """Write the texts of all kinds of KINDS, or of one; a line about each when it is there."""
    for kind in [only] if only else KINDS:
        yield f"{kind}: {KINDS[kind](study)}"


def write_contexts(study: Study, embed: contextual.Context | None = None) -> str:
    """Write every filing's context for contextual retrieval, or encode the windows behind their ``header`` or
    ``written`` context; a sentence that says how many there are."""
    if embed:
        owners, vectors = window_vectors(study, embed)
        return f"embeddings/contextual-{embed}: {len(vectors)} windows of {len(set(owners))} chunks"
    filled = contextual.written(study)
    origins = ", ".join(f"{count} {origin}" for origin, count in sorted(filled.origins.items()))
    return f"contexts: {origins or 'none'}; {len(filled.missing)} missing"
