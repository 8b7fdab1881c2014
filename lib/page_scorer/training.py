"""Fine-tuning a bi-encoder on pairs with sentence-transformers' trainer: seeded, with checkpoints and a curve."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd
import torch
from datasets import Dataset
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.base.sampler import DefaultBatchSampler
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from sentence_transformers.util import cos_sim
from tqdm.auto import tqdm
from transformers import PrinterCallback, TrainerCallback, set_seed

from lib.models.encoders import has_fast_bfloat16
from lib.models.weights import fetch
from lib.page_scorer.batches import gold_aware_batches

EPOCHS_BETWEEN_CHECKPOINTS = 5


def train(
    study,
    pairs: pd.DataFrame,
    epochs: int,
    checkpoints: Path,
    title: str,
    batches: Callable[[pd.DataFrame, int, int], DefaultBatchSampler] = gold_aware_batches,
    callbacks: Sequence[TrainerCallback] = (),
) -> tuple[SentenceTransformer, list[dict]]:
    """Fine-tune the embedder on pairs.

    Args:
        study: gives the settings.
        pairs: question, text.
        epochs: how often each pair is seen.
        checkpoints: directory for checkpoints; training goes on from the last whole one in it.
        title: shown beside the progress.
        batches: makes the batch sampler from (pairs, batch_size, seed); by default one without false negatives.
        callbacks: further callbacks of the trainer.

    Returns:
        The SentenceTransformer in float32, and its curve: step, epoch, loss, learning_rate and grad_norm of each step.
    """
    settings = study.profile.page_scorer
    set_seed(settings.seed)
    model = SentenceTransformer(str(fetch(study.profile.embedder.weights)), local_files_only=True)
    model.max_seq_length = settings.max_tokens
    sampler = batches(pairs, settings.batch_size, settings.seed)
    trainer = PairTrainer(
        sampler,
        model=model,
        args=_arguments(settings, epochs, checkpoints, len(sampler)),
        train_dataset=Dataset.from_dict(
            {"anchor": pairs["question"].tolist(), "positive": pairs["text"].tolist()}
        ),
        loss=MultipleNegativesRankingLoss(model, scale=20.0, similarity_fct=cosines),
        callbacks=[Progress(title), *callbacks],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train(resume_from_checkpoint=last_checkpoint(checkpoints))
    kept = ("step", "epoch", "loss", "learning_rate", "grad_norm")
    curve = [{name: log[name] for name in kept} for log in trainer.state.log_history if "loss" in log]
    return model.eval(), curve


def cosines(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Cosines in float32 also under autocast, as bfloat16 has three digits and the loss multiplies by 20."""
    with torch.autocast(first.device.type, enabled=False):
        return cos_sim(first.float(), second.float())


class PairTrainer(SentenceTransformerTrainer):
    """The trainer with batches of our own.

    Args:
        batches: gives the batches of each epoch.
        arguments: those of SentenceTransformerTrainer.
    """

    def __init__(self, batches: DefaultBatchSampler, **arguments):
        self.batches = batches
        super().__init__(**arguments)

    def get_batch_sampler(self, *_, **__) -> DefaultBatchSampler:
        return self.batches

    def add_model_card_callback(self, *_) -> None:
        """None: its card would quote training texts, which are the dataset's."""


def _arguments(settings, epochs: int, checkpoints: Path, steps_an_epoch: int):
    fast = settings.train_precision == "bfloat16" or (
        settings.train_precision == "auto" and has_fast_bfloat16()
    )
    return SentenceTransformerTrainingArguments(
        output_dir=str(checkpoints),
        num_train_epochs=epochs,
        per_device_train_batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
        warmup_steps=settings.warmup,
        bf16=fast,
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
    """The newest checkpoint that was written to its end, or None; a kill can leave a part of one."""
    whole = [
        path.parent
        for path in folder.glob("checkpoint-*/trainer_state.json")
        if path.read_text().rstrip().endswith("}")
    ]
    return str(max(whole, key=lambda path: int(path.name.split("-")[1]))) if whole else None


class Progress(TrainerCallback):
    """One bar a model, with the loss.

    Args:
        title: shown beside the bar.
    """

    def __init__(self, title: str):
        self.title = title

    def on_train_begin(self, args, state, control, **_):
        self.bar = tqdm(
            total=state.max_steps, initial=state.global_step, desc=self.title, unit="step", mininterval=5
        )

    def on_log(self, args, state, control, logs=None, **_):
        if logs and "loss" in logs:
            self.bar.set_postfix(loss=f"{logs['loss']:.3f}", refresh=False)

    def on_step_end(self, args, state, control, **_):
        self.bar.update(1)

    def on_train_end(self, args, state, control, **_):
        self.bar.close()
