"""The evaluation mistakes on the fine-tuned scorer: three of them train every fold again, which takes hours.

They are measured by ``python -m lib mistakes`` alone, which resumes where it was killed; appendix a1 looks them up.
"""

import copy
from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.sampler import DefaultBatchSampler
from transformers import TrainerCallback

from lib.analysis.mistakes import HONEST, Vectors, mistake_values
from lib.analysis.page_scorer import measured_mistakes
from lib.files import digest_of
from lib.folds import Fold
from lib.models.vectors import encode_texts, windows
from lib.page_scorer.full import SECTION, checked_pairs, fold_model, recipe_params, score_fold, trained
from lib.page_scorer.pages import folds, load_scores, scores_in_folds, text_by_page
from lib.page_scorer.search import scorer_scores
from lib.profile import Settings
from lib.store import Entry
from lib.study import Study

SLIPS = ("page-zero", "repeats", "epoch")  # that train every fold again


def train_mistakes(study: Study, k: int = 5) -> pd.DataFrame:
    """Every mistake on the fine-tuned scorer, see :func:`lib.analysis.page_scorer.measured_mistakes`."""
    return measured_mistakes(study, "full", k, measure)


def measure(study: Study, k: int) -> pd.DataFrame:
    """Every mistake on the fine-tuned scorer: mistake, question_id, metric, value. Trains what is not stored."""
    scores = {HONEST: scorer_scores(study, "full")}
    for mistake in SLIPS:
        params = recipe_params(study, SECTION) | {"mistake": mistake}
        score = partial(score_fold, model=partial(train_with, mistake=mistake))
        entry = scores_in_folds(study, "page_scorer/slips/scores", folds(study, "company"), score, params)
        scores[mistake] = load_scores(study, entry)
    return mistake_values(study, scores, {}, _encoded, k)


def train_with(study: Study, fold: Fold, mistake: str) -> Entry:
    """The model of a fold, trained with one of SLIPS."""
    settings, (pairs, record) = study.profile.page_scorer, checked_pairs(study, fold)
    params, changes = {}, {}
    if mistake == "page-zero":
        pairs = pairs[pairs["page"] != 0].reset_index(drop=True)
    elif mistake == "repeats":
        params, changes = {"slip": "repeats"}, {"batches": RepeatedBatches(len(pairs), settings)}
    else:
        params, keep_best = _keep_best(study, fold)
        changes["callbacks"] = [keep_best]
    title = f"{mistake}, fold {fold.number}"
    return trained(study, "page_scorer/slips/model", pairs, record, title, params, **changes)


class RepeatedBatches(DefaultBatchSampler):
    """Batches drawn with replacement, as many as an honest epoch has: a pair meets itself and its question's others."""

    def __init__(self, n_pairs: int, settings: Settings):
        super().__init__(range(n_pairs), settings.batch_size, drop_last=False, seed=settings.seed)

    def __iter__(self) -> Iterator[list[int]]:
        """The batches of the epoch that the trainer has set, by the generator of ``seed + epoch``."""
        generator, n_pairs = torch.Generator().manual_seed(self.seed + self.epoch), len(self.sampler)
        for _ in range(len(self)):
            yield torch.randint(n_pairs, (min(self.batch_size, n_pairs),), generator=generator).tolist()


class KeepBest(TrainerCallback):
    """Keeps the epoch with the best mean reciprocal rank of test questions, and ends with that model.

    To be affordable the gold pages are ranked among every question's gold pages, as an evaluator over the pairs does.
    The epochs before a training was resumed do not count. ``gold`` is boolean, shape (n_questions, n_pages).
    """

    def __init__(self, questions: list[str], pages: list[str], gold: np.ndarray, n_epochs: int):
        self.questions, self.pages, self.gold, self.n_epochs = questions, pages, gold, n_epochs
        self.best = 0, -1.0, {}

    def on_epoch_end(self, args, state, control, model: SentenceTransformer, **_) -> None:
        """Measure the model after an epoch."""
        questions, pages = (model.encode(part, normalize_embeddings=True) for part in (self.questions, self.pages))
        cosines = questions @ pages.T
        best_gold = np.where(self.gold, cosines, -np.inf).max(axis=1, keepdims=True)
        mrr = float((1 / (1 + (cosines > best_gold).sum(axis=1))).mean())
        epoch = round(state.epoch)
        if mrr > self.best[1]:
            self.best = epoch, mrr, copy.deepcopy(model.state_dict())
        if epoch == self.n_epochs:
            model.load_state_dict(self.best[-1])


def _keep_best(study: Study, fold: Fold) -> tuple[dict, KeepBest]:
    """What chooses the epoch by a fold's test questions, and what the trained model depends on for that."""
    text_of = text_by_page(study)
    gold_texts = [[text_of[row.doc_name, page] for page in row.gold_pages] for row in study.questions.itertuples()]
    pages = list(dict.fromkeys(text for texts in gold_texts for text in texts))
    gold = np.array([[page in gold_texts[row] for page in pages] for row in fold.test])
    questions = study.questions["question"].iloc[list(fold.test)].tolist()
    params = {"slip": "epoch", "test": digest_of(questions)}
    return params, KeepBest(questions, pages, gold, study.profile.page_scorer.epochs)


def _encoded(study: Study, fold: Fold, is_kept: np.ndarray) -> Vectors:
    """Vectors of a fold's test questions and of the kept chunks' windows by its model, and the windows' chunks."""
    entry, table, profile = fold_model(study, fold), windows(study), study.profile
    table = table[is_kept[table["chunk"]]]
    questions = study.questions["question"].iloc[list(fold.test)].tolist()
    encode = partial(encode_texts, study, is_pinned=True, model=(lambda: entry.path, entry.digest))
    return (
        encode("page_scorer/questions", questions, "query", window=profile.page_scorer.max_tokens),
        encode("page_scorer/windows", table["text"].tolist(), window=profile.embedder.window),
        table["chunk"].to_numpy(),
    )
