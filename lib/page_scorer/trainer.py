"""Multiple negatives ranking (Henderson et al., 2017) with in-batch negatives, by sentence-transformers' trainer."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from sentence_transformers.base.sampler import DefaultBatchSampler
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from sentence_transformers.util import cos_sim
from tqdm.auto import tqdm
from transformers import PrinterCallback, ProgressCallback, TrainerCallback, set_seed

from lib.models.encoders import has_fast_bfloat16, loading, positions_of, reading
from lib.profile import Settings

SCALE = 20.0
EPOCHS_BETWEEN_CHECKPOINTS = 5
CURVE = ("step", "epoch", "loss", "learning_rate", "grad_norm")


def clashes(pages: np.ndarray, questions: Sequence[str]) -> np.ndarray:
    """Which pairs must not meet in a batch, since one's page is gold for the other's question, (n_pairs, n_pairs).

    ``pages`` has a number for each different page, shape (n_pairs,).
    """
    asked = np.asarray(questions, object)
    clash = np.array([np.isin(pages, pages[asked == question]) for question in asked])
    clash |= clash.T
    np.fill_diagonal(clash, False)
    return clash


class GoldAwareBatches(DefaultBatchSampler):
    """Batches without false negatives: each epoch contains every pair once, in batches as equal as can be.

    Pairs that clash come first, each into the emptiest batch without a clash. There are enough batches for all: a pair
    is shut out of its clashes' batches and of full ones at most. The learning rate relies on epochs of one size.
    """

    def __init__(self, clash: np.ndarray, batch_size: int, seed: int = 0):
        super().__init__(range(len(clash)), batch_size, drop_last=False, seed=seed)
        self.clash, degrees = clash, clash.sum(axis=1)
        n_clashing = int((degrees > 0).sum())
        closed = int(degrees.max()) + 1 + max(n_clashing - 1, 0) // batch_size if n_clashing else 0
        self.n_batches = min(len(clash), max(-(-len(clash) // batch_size), closed))

    def __len__(self) -> int:
        return self.n_batches

    def __iter__(self) -> Iterator[list[int]]:
        """The batches of the epoch that the trainer has set, by the generator of ``seed + epoch``."""
        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        order = torch.randperm(len(self.clash), generator=generator).numpy()
        order = order[np.argsort(~self.clash.any(axis=1)[order], kind="stable")]
        batches: list[list[int]] = [[] for _ in range(self.n_batches)]
        for pair in order.tolist():
            open_ones = [b for b in batches if len(b) < self.batch_size and not self.clash[pair, b].any()]
            min(open_ones, key=len).append(pair)
        yield from (batches[index] for index in torch.randperm(self.n_batches, generator=generator).tolist())


def train(
    weights: Path,
    recipe: Settings,
    pairs: pd.DataFrame,
    checkpoints: Path,
    title: str,
    batches: DefaultBatchSampler | None = None,
    callbacks: Sequence[TrainerCallback] = (),
) -> tuple[SentenceTransformer, list[dict]]:
    """Fine-tune an encoder on pairs (question, text): the SentenceTransformer in float32, and CURVE of each step.

    Training resumes from the last whole checkpoint in the directory of ``checkpoints``; ``title`` is shown beside the
    progress; ``batches`` are by default without false negatives.
    """
    set_seed(recipe.seed)
    with loading(weights):
        model = SentenceTransformer(str(weights), local_files_only=True)
    model.max_seq_length, precision = recipe.max_tokens, recipe.train_precision
    prompts = {"anchor": model.prompts.get("query"), "positive": model.prompts.get("document")}
    clash = clashes(pd.factorize(pairs["text"])[0], pairs["question"])
    batches = batches or GoldAwareBatches(clash, recipe.batch_size, recipe.seed)
    trainer = PairTrainer(
        model=model,
        args=SentenceTransformerTrainingArguments(
            output_dir=str(checkpoints),
            num_train_epochs=recipe.epochs,
            per_device_train_batch_size=recipe.batch_size,
            learning_rate=recipe.learning_rate,
            warmup_steps=recipe.warmup,
            bf16=precision == "bfloat16" or (precision == "auto" and has_fast_bfloat16()),
            use_cpu=not torch.cuda.is_available(),
            prompts={column: text for column, text in prompts.items() if text} or None,
            seed=recipe.seed,
            save_strategy="steps",
            save_steps=EPOCHS_BETWEEN_CHECKPOINTS * len(batches),
            save_total_limit=1,
            logging_steps=1,
            report_to="none",
            disable_tqdm=True,
        ),
        train_dataset=Dataset.from_dict({"anchor": pairs["question"].tolist(), "positive": pairs["text"].tolist()}),
        loss=MultipleNegativesRankingLoss(model, scale=SCALE, similarity_fct=cosines),
        callbacks=[Progress(title), *callbacks],
    )
    trainer.batches = batches
    trainer.remove_callback(PrinterCallback)
    with reading(recipe.max_tokens, positions_of(model)):
        trainer.train(resume_from_checkpoint=last_checkpoint(checkpoints))
    curve = [{name: log[name] for name in CURVE} for log in trainer.state.log_history if "loss" in log]
    return model.eval(), curve


def cosines(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Cosines in float32 also under autocast, as bfloat16 has three digits and the loss multiplies by 20."""
    with torch.autocast(first.device.type, enabled=False):
        return cos_sim(first.float(), second.float())


class PairTrainer(SentenceTransformerTrainer):
    """The trainer with given ``batches`` of each epoch."""

    batches: DefaultBatchSampler

    def get_batch_sampler(self, *_, **__) -> DefaultBatchSampler:
        return self.batches

    def add_model_card_callback(self, *_) -> None:
        """None: its card would quote training texts, which are the dataset's."""


def last_checkpoint(folder: Path) -> str | None:
    """The newest checkpoint that was written to its end, or None; a killed training can leave a part of one."""
    states = folder.glob("checkpoint-*/trainer_state.json")
    whole = [path.parent for path in states if path.read_text(encoding="utf-8").rstrip().endswith("}")]
    return str(max(whole, key=lambda path: int(path.name.split("-")[1]))) if whole else None


class Progress(ProgressCallback):
    """A progress bar of one training, with the loss."""

    def __init__(self, title: str):
        super().__init__()
        self.title = title

    def on_train_begin(self, args, state, control, **_):
        self.current_step, total = state.global_step, state.max_steps
        self.training_bar = tqdm(total=total, initial=self.current_step, desc=self.title, unit="step", mininterval=5)

    def on_log(self, args, state, control, logs=None, **_):
        if logs and "loss" in logs:
            self.training_bar.set_postfix(loss=f"{logs['loss']:.3f}", refresh=False)
