"""Direct preference optimisation (Rafailov et al., NeurIPS 2023) with TRL: seeded, with checkpoints and a curve.

The loss of a pair is ``-log sigmoid(beta * (r_chosen - r_rejected))``, where ``r`` is the log-probability of an answer
under the model less that under the model before training; it is log 2 at the first step.
"""

from pathlib import Path

import pandas as pd
import torch
from datasets import Dataset
from peft import LoraConfig, PeftModel
from transformers import AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase, PrinterCallback
from trl import DPOConfig, DPOTrainer

from lib.models.encoders import has_fast_bfloat16
from lib.models.generator_transformers import from_files, load_model
from lib.page_scorer.trainer import Progress, last_checkpoint
from lib.schema import StudyError

#: What a step logs, as the curve has it.
CURVE = {name: name for name in ("step", "epoch", "loss", "learning_rate", "grad_norm")}
CURVE |= {"rewards/margins": "margin", "rewards/accuracies": "accuracy"}


class PreferenceTrainer(DPOTrainer):
    """TRL's trainer, which tells nobody of it and writes no card."""

    def _send_telemetry(self) -> None:
        """None: a study does not report to anyone that it runs."""

    def create_model_card(self, *_, **__) -> None:
        """None: what a model was trained on is in its record."""


def train(
    directory: Path, pairs: pd.DataFrame, settings: dict, checkpoints: Path, title: str
) -> tuple[PreTrainedModel | PeftModel, PreTrainedTokenizerBase, list[dict]]:
    """Train a language model, which is its own reference, on ``pairs``: messages, chosen, rejected.

    ``directory`` has the model and its tokenizer, as transformers saves them or in one GGUF file; ``settings`` are the
    profile's section ``preference``; training goes on from the last whole one of ``checkpoints``. Gives the model (with
    adapters, where the method is ``lora``), its tokenizer, and the curve: CURVE of each step, where margin is beta
    times the difference of the log-ratios, and accuracy the share of pairs that have a positive one. A StudyError where
    a pair is longer than ``max_tokens``, a batch cannot be cut as the settings say, or there are several GPUs.
    """
    size, at_once, n_gpus = settings["batch_size"], settings["pairs_at_once"], torch.cuda.device_count()
    if size % at_once:
        raise StudyError(f"preference.batch_size {size} is no multiple of preference.pairs_at_once {at_once}")
    if n_gpus > 1:
        raise StudyError(f"{n_gpus} GPUs are visible and one is used: set CUDA_VISIBLE_DEVICES=0")
    tokenizer, data = AutoTokenizer.from_pretrained(directory, **from_files(directory)), {"prompt": pairs["messages"]}
    for name in ("chosen", "rejected"):
        data[name] = [[{"role": "assistant", "content": text}] for text in pairs[name]]
    examples = pd.DataFrame(data).to_dict("records")
    _check_lengths(tokenizer, examples, settings["max_tokens"])
    precision, with_adapters = settings["train_precision"], settings["method"] == "lora"
    is_fast = precision == "bfloat16" or (precision == "auto" and has_fast_bfloat16())
    shape = {"r": settings["rank"], "lora_alpha": settings["alpha"]}
    adapters = LoraConfig(target_modules="all-linear", task_type="CAUSAL_LM", **shape)
    given = {name: settings[name] for name in ("beta", "learning_rate", "seed")}
    given |= {"num_train_epochs": settings["epochs"], "warmup_steps": settings["warmup"], "bf16": is_fast}
    given |= {"per_device_train_batch_size": at_once, "gradient_accumulation_steps": size // at_once}
    given |= {"save_strategy": "steps", "save_steps": settings["checkpoint_every"], "save_total_limit": 1}
    given |= {"logging_steps": 1, "report_to": "none", "disable_tqdm": True, "use_cpu": not n_gpus}
    given |= {"max_length": None, "precompute_ref_log_probs": True}  # so that no second model is held
    trainer = PreferenceTrainer(
        model=load_model(directory, torch.bfloat16 if is_fast and with_adapters else torch.float32),
        args=DPOConfig(output_dir=str(checkpoints), **given),
        train_dataset=Dataset.from_list(examples),
        processing_class=tokenizer,
        peft_config=adapters if with_adapters else None,
        callbacks=[Progress(title)],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train(resume_from_checkpoint=last_checkpoint(checkpoints))
    steps = [log for log in trainer.state.log_history if "loss" in log]
    curve = [{name: log[key] for key, name in CURVE.items()} for log in steps]
    return trainer.accelerator.unwrap_model(trainer.model), tokenizer, curve


def _check_lengths(tokenizer, examples: list[dict], most: int) -> None:
    chats = [one["prompt"] + one[name] for one in examples for name in ("chosen", "rejected")]
    encoded = (tokenizer.apply_chat_template(chat, tokenize=True, return_dict=True) for chat in chats)
    if (longest := max(len(chat["input_ids"]) for chat in encoded)) > most:
        raise StudyError(f"a pair has {longest} tokens, and preference.max_tokens is {most}: raise it in the profile")


def save(model, tokenizer, name: str, target: Path) -> None:
    """Write a trained model as safetensors: its adapters alone where it has some, else all of it and its tokenizer.

    ``name`` is the untrained model's in the lock file, kept with the adapters in place of this machine's path.
    """
    if isinstance(model, PeftModel):
        model.peft_config["default"].base_model_name_or_path = name
    else:
        tokenizer.save_pretrained(str(target))
    model.save_pretrained(str(target))
    (target / "README.md").unlink(missing_ok=True)  # a card without content
