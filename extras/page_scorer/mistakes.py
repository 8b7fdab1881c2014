"""The evaluation mistakes on the fine-tuned scorer: three of them train every fold again, which takes hours.

They are measured by ``python -m lib mistakes`` alone, which resumes where it was killed; chapter 04 looks them up.
"""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from safetensors.torch import load_model, save_model
from sentence_transformers.base.sampler import DefaultBatchSampler
from transformers import TrainerCallback

from lib.files import digest_of
from lib.folds import Fold
from lib.models.index import windows
from lib.page_scorer.full import checked_pairs, fold_model, score_fold, trained, training_settings
from lib.page_scorer.measured import measured_mistakes
from lib.page_scorer.mistakes import HONEST, Vectors, mistake_values
from lib.page_scorer.pages import encode_distinct, load_scores, scores_in_folds, text_by_page
from lib.page_scorer.search import scorer_scores
from lib.store import Entry
from lib.study import Study


def train_mistakes(study: Study, k: int = 5) -> pd.DataFrame:
    """Every mistake on the fine-tuned scorer, see :func:`lib.page_scorer.measured.measured_mistakes`."""
    return measured_mistakes(study, "full", k, measure)


def measure(study: Study, k: int) -> pd.DataFrame:
    """Every mistake on the fine-tuned scorer: mistake, question_id, metric, value. Trains what is not stored."""
    scores = {HONEST: scorer_scores(study, "full")}
    for mistake, model in MODELS.items():
        params, score = training_settings(study) | {"mistake": mistake}, partial(score_fold, model=model)
        entry = scores_in_folds(study, "page_scorer/slips/scores", "company", score, params)
        scores[mistake] = load_scores(study, entry)
    return mistake_values(study, scores, {}, _encoded, k)


def _trained(study: Study, fold: Fold, mistake: str, pairs: pd.DataFrame, params: dict, **changes) -> Entry:
    _, record = checked_pairs(study, fold)
    title = f"{mistake}, fold {fold.number}"
    return trained(study, "page_scorer/slips/model", pairs, record, title, params, **changes)


def _without_page_zero(study: Study, fold: Fold) -> Entry:
    pairs, _ = checked_pairs(study, fold)
    return _trained(study, fold, "page-zero", pairs[pairs["page"] != 0].reset_index(drop=True), {})


class RepeatedBatches(DefaultBatchSampler):
    """Batches drawn with replacement, as many as an honest epoch has: a pair meets itself and its question's others.

    Args:
        n_pairs: pairs there are.
        batch_size: pairs per batch.
        seed: the batches of epoch ``e`` are those of ``seed + e``.
    """

    def __init__(self, n_pairs: int, batch_size: int, seed: int):
        super().__init__(range(n_pairs), batch_size=batch_size, drop_last=False, seed=seed)
        self.n_pairs = n_pairs

    def __len__(self) -> int:
        return -(-self.n_pairs // self.batch_size)

    def __iter__(self) -> Iterator[list[int]]:
        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        size = (min(self.batch_size, self.n_pairs),)
        for _ in range(len(self)):
            yield torch.randint(self.n_pairs, size, generator=generator).tolist()


def _with_repeats(study: Study, fold: Fold) -> Entry:
    pairs, _ = checked_pairs(study, fold)
    settings = study.profile.page_scorer
    batches = RepeatedBatches(len(pairs), settings.batch_size, settings.seed)
    return _trained(study, fold, "repeats", pairs, {"slip": "repeats"}, batches=batches)


class KeepBest(TrainerCallback):
    """Keeps the epoch with the best mean reciprocal rank of test questions, and ends with that model.

    To be affordable the gold pages are ranked among every question's gold pages, as an evaluator over the pairs does;
    the chosen model is then scored on all pages as any other.

    Args:
        questions: the test questions.
        pages: texts of the pages to rank.
        gold: which page is gold, boolean, shape (n_questions, n_pages).
    """

    def __init__(self, questions: list[str], pages: list[str], gold: np.ndarray):
        self.questions, self.pages, self.gold = questions, pages, gold

    def on_epoch_end(self, args, state, control, model=None, **_):
        encode = partial(
            model.encode, normalize_embeddings=True, show_progress_bar=False, convert_to_tensor=True
        )
        with torch.autocast(model.device.type, torch.bfloat16, enabled=args.bf16):
            questions, pages = encode(self.questions), encode(self.pages)
        cosines = (questions.float() @ pages.float().T).cpu().numpy()  # autocast would multiply in bfloat16
        model.train()
        best_gold = np.where(self.gold, cosines, -np.inf).max(axis=1, keepdims=True)
        mrr = float((1 / (1 + (cosines > best_gold).sum(axis=1))).mean())
        kept = Path(args.output_dir) / "best.json"
        if not kept.is_file() or mrr > json.loads(kept.read_text())["mrr"]:
            kept.parent.mkdir(parents=True, exist_ok=True)
            save_model(model, str(kept.with_suffix(".safetensors")))
            kept.write_text(json.dumps({"mrr": mrr, "epoch": round(state.epoch)}))

    def on_train_end(self, args, state, control, model=None, **_):
        load_model(model, str(Path(args.output_dir) / "best.safetensors"))


def _with_the_best_epoch(study: Study, fold: Fold) -> Entry:
    text_of = text_by_page(study)
    gold_texts = [
        [text_of[row.doc_name, page] for page in row.gold_pages] for row in study.questions.itertuples()
    ]
    pages = list(dict.fromkeys(text for texts in gold_texts for text in texts))
    gold = np.array([[page in gold_texts[row] for page in pages] for row in fold.test])
    questions = study.questions["question"].iloc[list(fold.test)].tolist()
    params = {"slip": "epoch", "test": digest_of(questions)}
    keep_best = KeepBest(questions, pages, gold)
    return _trained(study, fold, "epoch", checked_pairs(study, fold)[0], params, callbacks=[keep_best])


MODELS = {"page-zero": _without_page_zero, "repeats": _with_repeats, "epoch": _with_the_best_epoch}


def _encoded(study: Study, fold: Fold, is_kept: np.ndarray) -> Vectors:
    """Vectors of a fold's test questions and of the kept chunks' windows by its model, and the windows' chunks."""
    entry, table, profile = fold_model(study, fold), windows(study), study.profile
    table = table[is_kept[table["chunk"]]]
    questions = study.questions["question"].iloc[list(fold.test)].tolist()
    encode = partial(encode_distinct, study, lambda: entry.path, entry.digest)
    return (
        encode(profile.page_scorer.max_tokens, "page_scorer/questions", questions, "query"),
        encode(profile.embedder.window, "page_scorer/windows", table["text"].tolist(), "document"),
        table["chunk"].to_numpy(),
    )
