"""A tiny random language model, and a study that it answers."""

from pathlib import Path

import pytest

from lib.chunkings.table import CHUNKINGS
from lib.data.dataset import read_dataset
from lib.methods import METHODS
from lib.profile import Settings, load_profile
from lib.study import Study
from tests.conftest import DatasetFolder

SETTINGS = {"context": "oracle-page", "rejected": "bm25", "right_from": 0.5, "n_folds": 2, "seed": 13, "method": "full"}
SETTINGS |= {"rank": 4, "alpha": 8, "beta": 0.1, "learning_rate": 1e-3, "epochs": 2, "batch_size": 4}
SETTINGS |= {"pairs_at_once": 2, "warmup": 0.0, "max_tokens": 1024, "train_precision": "float32", "checkpoint_every": 2}
SETTINGS = Settings(SETTINGS)


@pytest.fixture(scope="session")
def tiny_qwen(tiny) -> Path:
    """A random two-layer Qwen2."""
    return tiny("Qwen2ForCausalLM", num_key_value_heads=2, max_position_embeddings=2048, initializer_range=0.2)


@pytest.fixture(scope="session")
def make_study(tiny_qwen, tiny, tmp_path_factory):
    """Make a study of four companies with two filings each, of two pages; ``spoil`` changes its folder's records."""
    tiny_bert = tiny("BertModel")

    def make(spoil=lambda folder: None, **changes) -> Study:
        root = tmp_path_factory.mktemp("study")
        folder = DatasetFolder(root / "data")
        for number, company in enumerate("ash birch cedar dogwood".split()):
            for year in (2020, 2021):
                name, sales = f"{company}_{year}", 100 * number + year
                folder.text(name, f"{company} sales {sales} cash", f"{company} profit flow {year}")
                folder.question(name, name, (0, f"{company} sales {sales}"), answer=f"${sales}.50")
        spoil(folder)
        small = {"embedder.weights": str(tiny_bert), "embedder.window": 32, "embedder.window_overlap": 0}
        small |= {"embedder.precision": "float32", "chunks.size": 64, "chunks.overlap": 0}
        small |= {"generator.weights": str(tiny_qwen), "generator.backend": "transformers"}
        small |= {"answers.max_tokens": 6, "significance.n_draws": 100}
        profile = load_profile("default").updated({"preference": SETTINGS | changes}).replaced(small)
        profile["name"] = "tiny"
        return Study(read_dataset(folder.write(), "tiny"), profile, METHODS, CHUNKINGS, root / "artifacts")

    return make
