"""What the small model writes for the sibling studies: ``python -m lib.answers.written_kinds --dataset financebench``.

Each text is kept as it is written; a killed run goes on where it was. Kinds are filled in the order of KINDS, as later
ones need what earlier ones gave: ``crag`` rewrites the questions whose first chunks ``judge`` found useless.
"""

import argparse
import sys
from collections.abc import Callable

from lib.analysis.hand import labelled_pairs
from lib.answers.answers import answers, best_baseline
from lib.answers.prompt_context import BEST_BASELINE, context
from lib.command import open_study, status_of, study_parser
from lib.evaluation import evaluate_all
from lib.methods import METHODS, baselines
from lib.metrics.answer_relevance import questions_from
from lib.retrievers import crag, selection
from lib.retrievers.judge import judgements
from lib.retrievers.texts import write


def fill_texts(kind: str) -> Callable[[object], str]:
    """What has the texts of one kind written for every question."""

    def fill(study) -> str:
        return f"{kind}: {len(write(study, kind).of)} of {len(study.questions)} questions"

    return fill


def fill_judgements(study) -> str:
    """Judge the first chunks of hybrid retrieval, and the pairs that were labelled by hand."""
    pairs = labelled_pairs()
    if len(pairs := pairs[pairs["question_id"].isin(study.questions["question_id"])]):
        judgements(study, pairs.reset_index(drop=True))
    return f"judge: {selection.judged_pairs(study)['label'].value_counts().to_dict()}"


def fill_crag(study) -> str:
    """Rewrite, search again and judge again where corrective RAG does."""
    table = crag.verdicts(study)
    return f"crag: {(table['query'] != '').sum()} questions rewritten, {table['is_second'].sum()} won by it"


def fill_answer_questions(study) -> str:
    """Write the question of every answer of the best baseline and of ``ahead``."""
    best = best_baseline(evaluate_all(study, baselines(), ["standard"]), study.profile.sibling_texts.crag.top)
    named = [context(name, best) for name in (BEST_BASELINE, "ahead") if name in (BEST_BASELINE, *METHODS)]
    counts = {one.method: len(questions_from(study, answers(study, one)).texts) for one in named}
    return f"answer_question: {counts}"


KINDS: dict[str, Callable[[object], str]] = {
    "rewrites": fill_texts("rewrites"),
    "keywords": fill_texts("keywords"),
    "expansion": fill_texts("expansion"),
    "judge": fill_judgements,
    "crag": fill_crag,
    "answer_question": fill_answer_questions,
}


def main() -> int:
    """Have the texts of all kinds, or of one, written; what is there already is not written again."""
    parser = study_parser("lib.answers.written_kinds", main.__doc__)
    parser.add_argument("--only", choices=list(KINDS))
    return status_of(write_kinds, parser.parse_args())


def write_kinds(args: argparse.Namespace) -> None:
    """What the command line asks for."""
    study = open_study(args, "08_siblings")
    for kind in [args.only] if args.only else KINDS:
        print(KINDS[kind](study), flush=True)


if __name__ == "__main__":
    sys.exit(main())
