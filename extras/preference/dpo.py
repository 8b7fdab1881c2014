"""Direct preference optimisation (Rafailov et al., NeurIPS 2023) with TRL: seeded, with checkpoints and a curve.

The loss of a pair is ``-log sigmoid(beta * (r_chosen - r_rejected))``, where ``r`` is the log-probability of an answer
under the model less that under the model before training; it is log 2 at the first step.
"""

from pathlib import Path

import pandas as pd
import torch
from datasets import Dataset
from peft import LoraConfig, PeftModel
from transformers import (
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PrinterCallback,
    TrainerCallback,
)
from trl import DPOConfig, DPOTrainer

from lib.models.encoders import has_fast_bfloat16
from lib.models.generator_transformers import from_files, load_model
from lib.page_scorer.trainer import Progress, last_checkpoint
from lib.words import StudyError

CURVE = {
    "step": "step",
    "epoch": "epoch",
    "loss": "loss",
    "learning_rate": "learning_rate",
    "grad_norm": "grad_norm",
    "rewards/margins": "margin",
    "rewards/accuracies": "accuracy",
}


class PreferenceTrainer(DPOTrainer):
    """TRL's trainer, which tells nobody of it and writes no card."""

    def _send_telemetry(self) -> None:
        """None: a study does not report to anyone that it runs."""

    def create_model_card(self, *_, **__) -> None:
        """None: what a model was trained on is in its record."""


def train(
    directory: Path,
    pairs: pd.DataFrame,
    settings: dict,
    checkpoints: Path,
    title: str,
    callbacks: tuple[TrainerCallback, ...] = (),
) -> tuple[PreTrainedModel | PeftModel, PreTrainedTokenizerBase, list[dict]]:
    """Train a language model on preference pairs; it is its own reference.

    Args:
        directory: the model and its tokenizer, as transformers saves them or in one GGUF file.
        pairs: messages, chosen, rejected.
        settings: the profile's section ``preference``.
        checkpoints: directory for checkpoints; training goes on from the last whole one in it.
        title: shown beside the progress.
        callbacks: further callbacks of the trainer.

    Returns:
        The model (with adapters, where the method is ``lora``), its tokenizer, and the curve: of each step its step,
        epoch, loss, learning_rate, grad_norm, margin (beta times the difference of the log-ratios) and accuracy (the
        share of pairs whose margin is positive).

    Raises:
        StudyError: a pair is longer than ``max_tokens``, the batch cannot be cut as the settings say, or there are
            several GPUs.
    """
    if settings["batch_size"] % settings["pairs_at_once"]:
        raise StudyError(
            f"preference.batch_size {settings['batch_size']} is no multiple of preference.pairs_at_once "
            f"{settings['pairs_at_once']}"
        )
    if torch.cuda.device_count() > 1:
        raise StudyError(
            f"{torch.cuda.device_count()} GPUs are visible and one is used: set CUDA_VISIBLE_DEVICES=0"
        )
    tokenizer = AutoTokenizer.from_pretrained(directory, **from_files(directory))
    _check_lengths(tokenizer, pairs, settings["max_tokens"])
    is_fast = settings["train_precision"] == "bfloat16" or (
        settings["train_precision"] == "auto" and has_fast_bfloat16()
    )
    with_adapters = settings["method"] == "lora"
    dtype = torch.bfloat16 if is_fast and with_adapters else torch.float32
    trainer = PreferenceTrainer(
        model=load_model(directory, dtype),
        args=_arguments(settings, checkpoints, is_fast),
        train_dataset=Dataset.from_list([_example(row) for row in pairs.itertuples()]),
        processing_class=tokenizer,
        peft_config=_adapters(settings) if with_adapters else None,
        callbacks=[Progress(title), *callbacks],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train(resume_from_checkpoint=last_checkpoint(checkpoints))
    steps = [log for log in trainer.state.log_history if "loss" in log]
    curve = [{name: log[key] for key, name in CURVE.items()} for log in steps]
    return trainer.accelerator.unwrap_model(trainer.model), tokenizer, curve


def _example(row) -> dict:
    said = {name: [{"role": "assistant", "content": getattr(row, name)}] for name in ("chosen", "rejected")}
    return {"prompt": row.messages, **said}


def _check_lengths(tokenizer, pairs: pd.DataFrame, max_tokens: int) -> None:
    """TRL would cut a long pair, and so train on answers that were never written."""
    lengths = []
    for row in pairs.itertuples():
        example = _example(row)
        chats = [example["prompt"] + example[name] for name in ("chosen", "rejected")]
        encoded = [tokenizer.apply_chat_template(chat, tokenize=True, return_dict=True) for chat in chats]
        lengths.append(max(len(chat["input_ids"]) for chat in encoded))
    n_long = sum(length > max_tokens for length in lengths)
    if n_long:
        raise StudyError(
            f"{n_long} of {len(pairs)} pairs are longer than preference.max_tokens = {max_tokens}; the longest has "
            f"{max(lengths)} tokens: raise it in the profile"
        )


def _adapters(settings: dict) -> LoraConfig:
    return LoraConfig(
        r=settings["rank"], lora_alpha=settings["alpha"], target_modules="all-linear", task_type="CAUSAL_LM"
    )


def _arguments(settings: dict, checkpoints: Path, is_fast: bool) -> DPOConfig:
    return DPOConfig(
        output_dir=str(checkpoints),
        beta=settings["beta"],
        learning_rate=settings["learning_rate"],
        num_train_epochs=settings["epochs"],
        per_device_train_batch_size=settings["pairs_at_once"],
        gradient_accumulation_steps=settings["batch_size"] // settings["pairs_at_once"],
        warmup_steps=settings["warmup"],
        bf16=is_fast,
        use_cpu=not torch.cuda.is_available(),
        seed=settings["seed"],
        max_length=None,
        precompute_ref_log_probs=True,  # so that no second model is held
        save_strategy="steps",
        save_steps=settings["checkpoint_every"],
        save_total_limit=1,
        logging_steps=1,
        report_to="none",
        disable_tqdm=True,
    )


def save(model, tokenizer, name: str, target: Path) -> None:
    """Write a trained model as safetensors: its adapters alone where it has some, else all of it and its tokenizer.

    Args:
        model, tokenizer: of :func:`train`.
        name: the untrained model's name in the lock file, kept with the adapters in place of this machine's path.
        target: directory.
    """
    if isinstance(model, PeftModel):
        model.peft_config["default"].base_model_name_or_path = name
        model.save_pretrained(str(target), safe_serialization=True)
        (target / "README.md").unlink()  # a card without content
        return
    model.save_pretrained(str(target))
    tokenizer.save_pretrained(str(target))
