"""Fine-tuning a bi-encoder on (question, gold page) pairs: batches without false negatives, checkpoints, a curve.

Multiple negatives ranking (Henderson et al., 2017) with in-batch negatives, trained by sentence-transformers' trainer.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer
from sentence_transformers import SentenceTransformerTrainingArguments as TrainingArguments
from sentence_transformers.base.sampler import DefaultBatchSampler
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from sentence_transformers.util import cos_sim
from tqdm.auto import tqdm
from transformers import PrinterCallback, TrainerCallback, set_seed

from lib.models.encoders import has_fast_bfloat16
from lib.models.weights import fetch
from lib.study import Study

EPOCHS_BETWEEN_CHECKPOINTS = 5
CURVE = ("step", "epoch", "loss", "learning_rate", "grad_norm")


def false_negatives(pairs: pd.DataFrame) -> np.ndarray:
    """Which pairs must not meet in a batch, since one's page is (or reads as) a gold page of the other's question.

    The matrix (n_pairs, n_pairs) is boolean, symmetric, and false on the diagonal.
    """
    texts_of = pairs.groupby("question")["text"].agg(set)
    clash = np.array(
        [[text in texts_of[question] for text in pairs["text"]] for question in pairs["question"]]
    )
    clash |= clash.T
    np.fill_diagonal(clash, False)
    return clash


class GoldAwareBatches(DefaultBatchSampler):
    """Batches without false negatives: each epoch contains every pair once, in batches as equal as can be.

    Pairs that clash with others are placed first, each into the emptiest batch that contains none of the others. The
    number of batches is such that this always succeeds: at most a pair's clashes' batches and the full ones are closed
    to it. The size of an epoch therefore never changes, which the trainer's schedule relies on. The batches of epoch
    ``e`` are those of ``seed + e``.
    """

    def __init__(self, clash: np.ndarray, batch_size: int, seed: int = 0):
        super().__init__(range(len(clash)), batch_size=batch_size, drop_last=False, seed=seed)
        self.clash = clash
        degrees = clash.sum(axis=1)
        n_clashing = int((degrees > 0).sum())
        closed = int(degrees.max()) + 1 + max(n_clashing - 1, 0) // batch_size if n_clashing else 0
        self.n_batches = min(len(clash), max(-(-len(clash) // batch_size), closed))

    def __len__(self) -> int:
        return self.n_batches

    def __iter__(self) -> Iterator[list[int]]:
        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        order = torch.randperm(len(self.clash), generator=generator).numpy()
        order = order[np.argsort(~self.clash.any(axis=1)[order], kind="stable")]
        batches: list[list[int]] = [[] for _ in range(self.n_batches)]
        for pair in order.tolist():
            open_ones = [b for b in batches if len(b) < self.batch_size and not self.clash[pair, b].any()]
            min(open_ones, key=len).append(pair)
        for index in torch.randperm(self.n_batches, generator=generator).tolist():
            yield batches[index]


def train(
    study: Study,
    pairs: pd.DataFrame,
    checkpoints: Path,
    title: str,
    batches: DefaultBatchSampler | None = None,
    callbacks: Sequence[TrainerCallback] = (),
) -> tuple[SentenceTransformer, list[dict]]:
    """Fine-tune the embedder on pairs, for the profile's number of epochs.

    Args:
        study, pairs: the settings, and question and text of each pair.
        checkpoints: directory for checkpoints; training resumes from the last whole one in it.
        title: shown beside the progress.
        batches, callbacks: rows of the pairs, by default without false negatives, and the trainer's further callbacks.

    Returns:
        The SentenceTransformer in float32, and its curve: step, epoch, loss, learning_rate and grad_norm of each step.
    """
    settings = study.profile.page_scorer
    set_seed(settings.seed)
    model = SentenceTransformer(str(fetch(study.profile.embedder.weights)), local_files_only=True)
    model.max_seq_length = settings.max_tokens
    if batches is None:
        batches = GoldAwareBatches(false_negatives(pairs), settings.batch_size, settings.seed)
    columns = {"anchor": pairs["question"].tolist(), "positive": pairs["text"].tolist()}
    trainer = PairTrainer(
        model=model,
        args=_arguments(settings, checkpoints, len(batches)),
        train_dataset=Dataset.from_dict(columns),
        loss=MultipleNegativesRankingLoss(model, scale=20.0, similarity_fct=cosines),
        callbacks=[Progress(title), *callbacks],
    )
    trainer.batches = batches
    trainer.remove_callback(PrinterCallback)
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


def _arguments(settings, checkpoints: Path, steps_an_epoch: int) -> TrainingArguments:
    precision = settings.train_precision
    return TrainingArguments(
        output_dir=str(checkpoints),
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
        warmup_steps=settings.warmup,
        bf16=precision == "bfloat16" or (precision == "auto" and has_fast_bfloat16()),
        use_cpu=not torch.cuda.is_available(),
        seed=settings.seed,
        save_strategy="steps",
        save_steps=EPOCHS_BETWEEN_CHECKPOINTS * steps_an_epoch,
        save_total_limit=1,
        logging_steps=1,
        report_to="none",
        disable_tqdm=True,
    )


def last_checkpoint(folder: Path) -> str | None:
    """The newest checkpoint that was written to its end, or None; a killed training can leave a part of one."""
    states = folder.glob("checkpoint-*/trainer_state.json")
    whole = [path.parent for path in states if path.read_text().rstrip().endswith("}")]
    return str(max(whole, key=lambda path: int(path.name.split("-")[1]))) if whole else None


class Progress(TrainerCallback):
    """A progress bar of one training, with the loss."""

    def __init__(self, title: str):
        self.title = title

    def on_train_begin(self, args, state, control, **_):
        done = state.global_step
        self.bar = tqdm(total=state.max_steps, initial=done, desc=self.title, unit="step", mininterval=5)

    def on_log(self, args, state, control, logs=None, **_):
        if logs and "loss" in logs:
            self.bar.set_postfix(loss=f"{logs['loss']:.3f}", refresh=False)

    def on_step_end(self, args, state, control, **_):
        self.bar.update(1)

    def on_train_end(self, args, state, control, **_):
        self.bar.close()
