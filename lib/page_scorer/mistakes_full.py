"""The slips on the fine-tuned scorer: three of them train every fold again, so they run in the background.

``python -m lib.page_scorer.mistakes_full --dataset financebench`` computes them and goes on where it was killed.
"""

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from safetensors.torch import load_model, save_model
from sentence_transformers.base.sampler import DefaultBatchSampler
from transformers import TrainerCallback

from lib.command import open_study, status_of, study_parser
from lib.folds import By, Fold
from lib.models.index import windows
from lib.page_scorer.full import checked_pairs, fold_model, folds, model_params, scores_of_model, trained
from lib.page_scorer.mistakes_table import HONEST, PAGES, SLIPS, slip_values
from lib.page_scorer.scores import VERSION, load_scores, scores_params, stored_scores
from lib.page_scorer.search import chunks_on_pages, pages_of_chunks, rank_pages, scorer_scores, search
from lib.page_scorer.vectors import encode_with, page_rows, page_texts
from lib.retrievers.dense import best_window_scores
from lib.store import Entry, digest_of

STAGE = "page_scorer/slips"
SCORES = "page_scorer/slips/scores"


def slips(study, by: By = "company", k: int = 5) -> pd.DataFrame:
    """Every slip on the fine-tuned scorer: slip, question_id, metric, value."""
    everything, honest = study.candidates("standard"), scorer_scores(study, "full", by)
    matrices = {HONEST: search(study, honest, everything, PAGES)}
    for slip, model in MODELS.items():
        matrices[slip] = search(study, _slipped(study, by, slip, model), everything, PAGES)
    matrices["chunks"] = _chunks_by_the_scorer(study, honest, everything, by)
    return slip_values(study, {slip: matrices[slip] for slip in SLIPS}, k)


def are_trained(study, by: By = "company") -> bool:
    """Whether :func:`slips` has nothing to train any more."""
    parts = folds(study, by)
    keys = [
        study.store.key(SCORES, scores_params(study, _params(study, s, parts), parts), VERSION)
        for s in MODELS
    ]
    return all(study.store.find(SCORES, key) for key in keys)


def _params(study, slip: str, parts: list[Fold]) -> dict:
    models = [model_params(study, checked_pairs(study, fold)[0]) for fold in parts]
    return {"slip": slip, "models": models, "precision": study.profile.embedder.precision}


def _slipped(study, by: By, slip: str, model: Callable[[object, Fold], Entry]) -> np.ndarray:
    def score_fold(fold: Fold) -> tuple[np.ndarray, dict]:
        entry = model(study, fold)
        return scores_of_model(study, entry, fold.test), {"fold": fold.number, "model": entry.digest}

    parts = folds(study, by)
    entry = stored_scores(study, SCORES, _params(study, slip, parts), parts, score_fold)
    return load_scores(study, entry)


def _without_page_zero(study, fold: Fold) -> Entry:
    pairs, record = checked_pairs(study, fold)
    pairs = pairs[pairs["page"] != 0].reset_index(drop=True)
    return trained(study, f"{STAGE}/model", pairs, record, f"page-zero, fold {fold.number}")


class RepeatedBatches(DefaultBatchSampler):
    """Batches drawn with replacement, as many as an honest epoch has: a pair meets itself and its question's others.

    Args:
        n_pairs: pairs there are.
        batch_size: pairs a batch.
        seed: the batches of epoch ``e`` are those of ``seed + e``.
    """

    def __init__(self, n_pairs: int, batch_size: int, seed: int):
        super().__init__(range(n_pairs), batch_size=batch_size, drop_last=False, seed=seed)
        self.n_pairs = n_pairs

    def __len__(self) -> int:
        return -(-self.n_pairs // self.batch_size)

    def __iter__(self) -> Iterator[list[int]]:
        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        for _ in range(len(self)):
            yield torch.randint(
                self.n_pairs, (min(self.batch_size, self.n_pairs),), generator=generator
            ).tolist()


def _with_repeats(study, fold: Fold) -> Entry:
    def batches(pairs: pd.DataFrame, batch_size: int, seed: int) -> RepeatedBatches:
        return RepeatedBatches(len(pairs), batch_size, seed)

    pairs, record = checked_pairs(study, fold)
    title = f"repeats, fold {fold.number}"
    return trained(study, f"{STAGE}/model", pairs, record, title, {"slip": "repeats"}, batches=batches)


class KeepBest(TrainerCallback):
    """Keeps the epoch with the best mean reciprocal rank of test questions, and ends with that model.

    To be affordable the gold pages are ranked among every question's gold pages, as an evaluator over the pairs does;
    the model that it picks is then scored on all pages as any other.

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
        value = float((1 / (1 + (cosines > best_gold).sum(axis=1))).mean())
        kept = Path(args.output_dir) / "best.json"
        if not kept.is_file() or value > json.loads(kept.read_text())["mrr"]:
            kept.parent.mkdir(parents=True, exist_ok=True)
            save_model(model, str(kept.with_suffix(".safetensors")))
            kept.write_text(json.dumps({"mrr": value, "epoch": round(state.epoch)}))

    def on_train_end(self, args, state, control, model=None, **_):
        load_model(model, str(Path(args.output_dir) / "best.safetensors"))


def _with_the_best_epoch(study, fold: Fold) -> Entry:
    pairs, record = checked_pairs(study, fold)
    texts, row_of, questions = page_texts(study), page_rows(study), study.questions
    gold_texts = [[texts[row_of[q.doc_name, page]] for page in q.gold_pages] for q in questions.itertuples()]
    pages = list(dict.fromkeys(text for part in gold_texts for text in part))
    test = list(fold.test)
    gold = np.array([[page in gold_texts[row] for page in pages] for row in test])
    asked = questions["question"].iloc[test].tolist()
    extra = {"slip": "epoch", "test": digest_of(asked)}
    title = f"epoch, fold {fold.number}"
    return trained(
        study, f"{STAGE}/model", pairs, record, title, extra, callbacks=[KeepBest(asked, pages, gold)]
    )


MODELS = {"page-zero": _without_page_zero, "repeats": _with_repeats, "epoch": _with_the_best_epoch}


def _chunks_by_the_scorer(study, page_scores: np.ndarray, candidates: np.ndarray, by: By) -> np.ndarray:
    """Stage two with each fold's own model; only chunks on the kept pages are embedded."""
    table, pages = windows(study), pages_of_chunks(study)
    ranked = rank_pages(page_scores, pages, candidates, PAGES)
    owners, asked = table["chunk"].to_numpy(), study.questions["question"]
    scores = np.full(candidates.shape, -np.inf, np.float32)
    for fold in folds(study, by):
        entry, rows = fold_model(study, fold), list(fold.test)
        used = np.flatnonzero(np.isin(pages[owners], np.concatenate([ranked[row] for row in rows])))
        encode = partial(encode_with, study, weights=lambda entry=entry: entry.path, digest=entry.digest)
        queries = encode("page_scorer/questions", texts=asked.iloc[rows].tolist(), role="query")
        texts = table["text"].iloc[used].tolist()
        vectors = encode(
            "page_scorer/windows", texts=texts, role="document", window=study.profile.embedder.window
        )
        scores[rows] = best_window_scores(queries, vectors, owners[used], len(study.chunks))
    return chunks_on_pages(scores, ranked, pages)


def main() -> int:
    """Compute every slip on the fine-tuned scorer; what is stored is not done again."""
    parser = study_parser("lib.page_scorer.mistakes_full", main.__doc__)
    parser.add_argument("--by", default="company", choices=["company", "filing"])
    return status_of(lambda args: slips(open_study(args, "page_scorer"), args.by), parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
