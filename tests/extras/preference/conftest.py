"""A tiny random language model with a chat template, preference pairs for it, and a study that it answers."""

from pathlib import Path

import pandas as pd
import pytest

from lib.chunkings.table import CHUNKINGS
from lib.corpus import Corpus
from lib.data.dataset import read_dataset
from lib.methods import METHODS
from lib.profile import Settings, load_profile
from lib.study import Study

COMPANIES = "ash birch cedar dogwood".split()
SETTINGS = {"context": "oracle-page", "rejected": "bm25", "right_from": 0.5, "n_folds": 2, "seed": 13, "method": "full"}
SETTINGS |= {"rank": 4, "alpha": 8, "beta": 0.1, "learning_rate": 1e-3, "epochs": 2, "batch_size": 4}
SETTINGS |= {"pairs_at_once": 2, "warmup": 0.0, "max_tokens": 1024, "train_precision": "float32", "checkpoint_every": 2}
SHAPE = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2}
SHAPE |= {"intermediate_size": 64, "max_position_embeddings": 2048, "initializer_range": 0.2}
CHAT = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.fixture(scope="session")
def tiny_qwen(tmp_path_factory) -> Path:
    """A random two-layer Qwen2 that reads bytes."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    marks = ["<|pad|>", "<|im_start|>", "<|im_end|>"]
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {piece: number for number, piece in enumerate([*marks, *letters])}
    pieces = Tokenizer(models.BPE(vocabulary, []))
    pieces.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    pieces.decoder = decoders.ByteLevel()
    named = {"pad_token": marks[0], "eos_token": marks[2], "additional_special_tokens": [marks[1]]}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=pieces, **named)
    tokenizer.chat_template = CHAT
    torch.manual_seed(13)
    config = Qwen2Config(vocab_size=len(vocabulary), pad_token_id=0, eos_token_id=2, **SHAPE)
    path = tmp_path_factory.mktemp("tiny-qwen")
    Qwen2ForCausalLM(config).save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


@pytest.fixture(scope="session")
def settings() -> Settings:
    return Settings(SETTINGS)


@pytest.fixture(scope="session")
def pairs() -> pd.DataFrame:
    """Eight pairs whose chosen answers are numbers and whose rejected ones are words."""
    brief = {"role": "system", "content": "Be brief."}
    chats = [[brief, {"role": "user", "content": f"Sales of {number}?"}] for number in range(8)]
    rows = [(chat, f"${number * 7}.0", f"I cannot say {number}") for number, chat in enumerate(chats)]
    return pd.DataFrame(rows, columns=["messages", "chosen", "rejected"])


@pytest.fixture(scope="session")
def make_study(dataset_folder, tiny_qwen, tiny, tmp_path_factory):
    """Make a study of four companies with two filings each, of two pages; ``spoil`` changes its folder's records."""

    tiny_bert = tiny("BertModel")

    def make(spoil=lambda folder: None, **changes) -> Study:
        root = tmp_path_factory.mktemp("study")
        folder = dataset_folder(root / "data")
        for number, company in enumerate(COMPANIES):
            for year in (2020, 2021):
                name, sales = f"{company}_{year}", 100 * number + year
                folder.text(name, f"{company} sales {sales} cash", f"{company} profit flow {year}")
                folder.question(name, name, (0, f"{company} sales {sales}"), answer=f"${sales}.50")
        spoil(folder)
        profile = load_profile("default").updated({"preference": SETTINGS})
        small = {"embedder.weights": str(tiny_bert), "embedder.window": 32, "embedder.window_overlap": 0}
        small |= {"embedder.precision": "float32", "chunks.size": 64, "chunks.overlap": 0}
        small |= {"generator.weights": str(tiny_qwen), "generator.backend": "transformers"}
        small |= {"answers.max_tokens": 6, "significance.n_draws": 100}
        profile = profile.replaced(small | {f"preference.{name}": value for name, value in changes.items()})
        profile["name"] = "tiny"
        return Study(Corpus(read_dataset(folder.write(), "tiny"), profile, CHUNKINGS, root / "artifacts"), METHODS)

    return make
