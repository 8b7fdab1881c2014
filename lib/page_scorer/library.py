"""The published recipe by sentence-transformers' own trainer, whose models the published rows are of.

Multiple negatives ranking (Henderson et al., 2017) with in-batch negatives. :mod:`lib.page_scorer.training` trains all
other recipes; its losses are those of this trainer to a thousandth, but dropout draws other numbers.
"""

from collections.abc import Iterator
from pathlib import Path

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
from lib.page_scorer.recipe import Recipe
from lib.page_scorer.training import CURVE, EPOCHS_BETWEEN_CHECKPOINTS, SCALE, GoldAwareBatches


def train(
    weights: Path,
    recipe: Recipe,
    pairs: pd.DataFrame,
    batches: GoldAwareBatches,
    checkpoints: Path,
    title: str,
) -> tuple[SentenceTransformer, list[dict]]:
    """Fine-tune an encoder on pairs, for the recipe's number of epochs.

    Args:
        weights, recipe: the encoder's directory, and how it is trained.
        pairs, batches: question and text of each pair, and which rows of them are a batch.
        checkpoints: directory for checkpoints; training resumes from the last whole one in it.
        title: shown beside the progress.

    Returns:
        The SentenceTransformer in float32, and its curve: step, epoch, loss, learning_rate and grad_norm of each step.
    """
    set_seed(recipe.seed)
    model = SentenceTransformer(str(weights), local_files_only=True)
    model.max_seq_length = recipe.max_tokens
    columns = {"anchor": pairs["question"].tolist(), "positive": pairs["text"].tolist()}
    trainer = PairTrainer(
        model=model,
        args=_arguments(recipe, checkpoints, len(batches)),
        train_dataset=Dataset.from_dict(columns),
        loss=MultipleNegativesRankingLoss(model, scale=SCALE, similarity_fct=cosines),
        callbacks=[Progress(title)],
    )
    trainer.batches = Batches(batches, len(pairs), recipe)
    trainer.remove_callback(PrinterCallback)
    trainer.train(resume_from_checkpoint=last_checkpoint(checkpoints))
    curve = [{name: log[name] for name in CURVE} for log in trainer.state.log_history if "loss" in log]
    return model.eval(), curve


def cosines(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Cosines in float32 also under autocast, as bfloat16 has three digits and the loss multiplies by 20."""
    with torch.autocast(first.device.type, enabled=False):
        return cos_sim(first.float(), second.float())


class Batches(DefaultBatchSampler):
    """The batches of each epoch, as the trainer asks for them."""

    def __init__(self, batches: GoldAwareBatches, n_pairs: int, recipe: Recipe):
        super().__init__(range(n_pairs), recipe.batch_size, drop_last=False, seed=recipe.seed)
        self.of = batches

    def __len__(self) -> int:
        return len(self.of)

    def __iter__(self) -> Iterator[list[int]]:
        yield from self.of.of_epoch(self.epoch)


class PairTrainer(SentenceTransformerTrainer):
    """The trainer with given ``batches`` of each epoch."""

    batches: DefaultBatchSampler

    def get_batch_sampler(self, *_, **__) -> DefaultBatchSampler:
        return self.batches

    def add_model_card_callback(self, *_) -> None:
        """None: its card would quote training texts, which are the dataset's."""


def _arguments(recipe: Recipe, checkpoints: Path, steps_an_epoch: int) -> TrainingArguments:
    precision = recipe.train_precision
    return TrainingArguments(
        output_dir=str(checkpoints),
        num_train_epochs=recipe.epochs,
        per_device_train_batch_size=recipe.batch_size,
        learning_rate=recipe.learning_rate,
        warmup_steps=recipe.warmup,
        bf16=precision == "bfloat16" or (precision == "auto" and has_fast_bfloat16()),
        use_cpu=not torch.cuda.is_available(),
        seed=recipe.seed,
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
