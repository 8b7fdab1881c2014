"""Train the combiner that other datasets use, on every question of a study: ``python -m lib.ahead.train``."""

import argparse
import sys

from lib.ahead.combiner import fit_combiner
from lib.ahead.nested import choose
from lib.ahead.pool import SAVED, task_of
from lib.command import open_study, status_of, study_parser


def train(study, target=SAVED) -> dict:
    """Choose by folds by company, train on all questions, and save.

    Args:
        study: with gold pages.
        target: directory of the combiner.

    Returns:
        What is said of it in ``combiner.json``.
    """
    task, settings = task_of(study), study.profile.ahead
    choice = choose(task, settings)
    parts = task.pool.table, task.gold, task.pool.rows
    about = {
        "dataset": study.dataset.name,
        "fingerprint": study.dataset.fingerprint,
        "profile": study.profile.name,
        "embedder": study.settings_of(("embedder",))["embedder"],
        "n_questions": len(task.questions),
        "n_companies": study.questions["company"].nunique(),
        "question_ids": study.questions["question_id"].tolist(),
        "curve": list(choice.curve),
    }
    fit_combiner(*parts, settings, choice.n_trees, choice.share, settings.seeds).save(target, about)
    return about


def main() -> int:
    """Train the combiner that other questions are asked of, and keep it with the code."""
    parser = study_parser("lib.ahead.train", main.__doc__)
    return status_of(train_and_tell, parser.parse_args())


def train_and_tell(args: argparse.Namespace) -> None:
    """What the command line asks for."""
    about = train(open_study(args, "07_ahead"))
    print(
        f"trained on {about['n_questions']} questions of {about['n_companies']} companies; saved in {SAVED}"
    )


if __name__ == "__main__":
    sys.exit(main())
