"""The learned page scorer: a bi-encoder fine-tuned on (question, gold page) pairs, one model a fold.

Multiple negatives ranking (Henderson et al., 2017) with in-batch negatives, trained by sentence-transformers (Reimers &
Gurevych, EMNLP 2019). A question is scored only by the model of the fold in which its filing (or company) was held out.
The number of epochs is fixed beforehand; nothing here reads a test question before its fold's model is stored.

``python -m lib.page_scorer.full --dataset financebench`` trains and scores all folds and goes on where it was killed.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from lib.command import open_study, status_of, study_parser
from lib.folds import By, Fold, LeakError, check_fold, make_folds
from lib.models.weights import weights_hash
from lib.page_scorer.scores import load_scores, stored_scores
from lib.page_scorer.vectors import encode_with, page_rows, page_texts
from lib.store import Entry, digest_of

VERSION = 1
MIN_COMPANIES = 3
MIN_QUESTIONS = 10
TRAINING = ("max_tokens", "learning_rate", "batch_size", "warmup", "seed", "train_precision")


def folds(study, by: By) -> list[Fold]:
    """The study's folds by filing or by company."""
    settings = study.profile.page_scorer
    return make_folds(study.questions, study.filings, by, settings.n_folds, settings.seed)


def untrainable(study) -> str:
    """Why no scorer can be trained and tested on a study's own questions, in a sentence; empty where one can."""
    n_companies, n_questions = study.questions["company"].nunique(), len(study.questions)
    if n_companies < MIN_COMPANIES or n_questions < MIN_QUESTIONS:
        return (
            f"{n_questions} questions about {n_companies} companies are too few to train on some and test on others; "
            f"it takes {MIN_QUESTIONS} about {MIN_COMPANIES}"
        )
    try:
        for by in ("filing", "company"):
            for fold in folds(study, by):
                checked_pairs(study, fold)
    except LeakError as error:
        return str(error)
    return ""


def training_pairs(study, rows: Sequence[int]) -> pd.DataFrame:
    """Every gold page of the given questions, page 0 included.

    Args:
        study: gives questions and pages.
        rows: rows of the questions.

    Returns:
        question_id, question, doc_name, page, text (the normalised page), one row a question and gold page.
    """
    texts, row_of = page_texts(study), page_rows(study)
    pairs = study.questions.iloc[list(rows)][["question_id", "question", "doc_name", "gold_pages"]]
    pairs = pairs.explode("gold_pages").rename(columns={"gold_pages": "page"}).astype({"page": int})
    where = zip(pairs["doc_name"], pairs["page"], strict=True)
    return pairs.assign(text=[texts[row_of[key]] for key in where]).reset_index(drop=True)


def checked_pairs(study, fold: Fold) -> tuple[pd.DataFrame, dict]:
    """A fold's training pairs, and the record of the check that they hold nothing of its test questions.

    Raises:
        LeakError: they do.
    """

    def check() -> tuple[pd.DataFrame, dict]:
        pairs = training_pairs(study, fold.train)
        texts, rows = page_texts(study), page_rows(study)
        test = study.questions.iloc[list(fold.test)]
        gold = [(row.doc_name, page) for row in test.itertuples() for page in row.gold_pages]
        pages = {key: texts[rows[key]] for key in gold}
        return pairs, check_fold(fold, pairs, study.questions, study.filings, pages)

    return study.memo(("checked pairs", fold), check)


def model_params(study, pairs: pd.DataFrame) -> dict:
    """All that a trained model depends on."""
    settings = study.profile.page_scorer
    return {
        "weights": weights_hash(study.profile.embedder.weights),
        "pairs": digest_of(pairs[["question", "text"]].values.tolist()),
        "epochs": settings.epochs,
        **{name: settings[name] for name in TRAINING},
    }


def fold_model(study, fold: Fold) -> Entry:
    """The model of a fold, trained if it is not stored: its directory also holds ``curves.json`` and ``fold.json``.

    Raises:
        LeakError: the training data holds something of the test fold.
    """
    pairs, record = checked_pairs(study, fold)
    return trained(study, "page_scorer/model", pairs, record, f"fold {fold.number} by {fold.by}")


def trained(
    study, stage: str, pairs: pd.DataFrame, record: dict, title: str, extra: dict | None = None, **changes
):
    """A model trained on pairs, from the store or now.

    Args:
        study: gives the settings and the store.
        stage: the store's stage.
        pairs: question, text.
        record: written beside the model as ``fold.json``.
        title: shown beside the progress.
        extra: what else the model depends on.
        changes: passed to :func:`lib.page_scorer.training.train`.
    """
    params = model_params(study, pairs) | (extra or {})
    checkpoints = study.store.root / stage / f"checkpoints-{study.store.key(stage, params, VERSION)}"

    def compute(target: Path) -> None:
        from lib.page_scorer.training import train

        model, curve = train(study, pairs, study.profile.page_scorer.epochs, checkpoints, title, **changes)
        model.save_pretrained(str(target), safe_serialization=True, create_model_card=False)
        (target / "curves.json").write_text(json.dumps(curve, indent=1))
        (target / "fold.json").write_text(json.dumps(record, indent=1))

    entry = study.store.get(stage, params, compute, VERSION)
    shutil.rmtree(checkpoints, ignore_errors=True)
    return entry


def scores_of_model(study, entry: Entry, rows: Sequence[int]) -> np.ndarray:
    """The cosine of every page for the given questions under a trained model, shape (n_rows, n_pages)."""
    questions = study.questions["question"].iloc[list(rows)].tolist()
    queries = encode_with(
        study, "page_scorer/questions", lambda: entry.path, entry.digest, questions, "query"
    )
    texts = page_texts(study)
    pages = encode_with(study, "page_scorer/pages", lambda: entry.path, entry.digest, texts, "document")
    return queries @ pages.T


def page_scores(study, by: By) -> np.ndarray:
    """The score of every page for every question, each by the model that its fold held out of.

    Args:
        study: one dataset under one profile.
        by: ``filing`` or ``company``.

    Returns:
        float32, shape (n_questions, n_pages), rows and columns as ``study.questions`` and ``study.pages``; ``-inf`` for
        pages whose score is not kept, see :mod:`lib.page_scorer.scores`.
    """
    return load_scores(study, scores_entry(study, by))


def fold_records(study, by: By) -> list[dict]:
    """Each fold's record: the check, the model, seconds of training ``wall_s`` and the loss of each epoch ``curve``."""
    return json.loads((scores_entry(study, by).path / "folds.json").read_text())


def scores_entry(study, by: By) -> Entry:
    """The stored scores and records of all folds, trained and computed if they are not there."""
    parts = folds(study, by)
    params = {
        "models": [model_params(study, checked_pairs(study, fold)[0]) for fold in parts],
        "precision": study.profile.embedder.precision,
    }

    def score_fold(fold: Fold) -> tuple[np.ndarray, dict]:
        entry = fold_model(study, fold)
        record = json.loads((entry.path / "fold.json").read_text())
        record |= {"model": entry.digest, "wall_s": entry.wall_s, "curve": losses(entry)}
        return scores_of_model(study, entry, fold.test), record

    entry = stored_scores(study, f"page_scorer/scores/{by}", params, parts, score_fold)
    study.show(entry.path / "folds.json", f"folds/page_scorer-{by}.json")
    return entry


def losses(entry: Entry) -> list[float]:
    """The mean training loss of each epoch of a trained model."""
    curve = pd.DataFrame(json.loads((entry.path / "curves.json").read_text()))
    return curve.groupby(np.ceil(curve["epoch"]))["loss"].mean().round(5).tolist()


def main() -> int:
    """Train and score every fold; what is stored is not done again."""
    parser = study_parser("lib.page_scorer.full", main.__doc__)
    parser.add_argument("--by", nargs="+", default=["company", "filing"], choices=["company", "filing"])
    parser.add_argument("--fold", type=int, help="this fold only")
    return status_of(train_folds, parser.parse_args())


def train_folds(args: argparse.Namespace) -> None:
    """What the command line asks for."""
    study = open_study(args, "page_scorer")
    for by in args.by:
        for fold in folds(study, by):
            if args.fold in (None, fold.number):
                scores_of_model(study, fold_model(study, fold), fold.test)
        if args.fold is None:
            scores_entry(study, by)


if __name__ == "__main__":
    sys.exit(main())
