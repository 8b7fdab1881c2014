"""Tiny models with random weights, of the architectures that the profiles name, and a study to train a scorer on."""

import json
import random
from pathlib import Path

import pytest

from lib.data.dataset import read_dataset
from lib.profile import load_profile
from lib.study import Study

COMPANIES = "ash birch cedar dogwood elm fir".split()
SMALL = {
    "n_folds": 3,
    "epochs": 2,
    "batch_size": 4,
    "max_tokens": 32,
    "compare_tokens": 16,
    "learning_rate": 1e-3,
    "pages": 3,
}
SMALL |= {"train_precision": "float32"}
LETTERS = "abcdefghijklm"


def code(letters: random.Random) -> str:
    return " ".join("".join(letters.choices(LETTERS, k=4)) for _ in range(6))


def write_dataset(root: Path, spoil=lambda questions, documents: None) -> Path:
    """Six companies with two filings of four pages each; 2020's question has gold page 0, 2021's pages 1 and 3.

    All texts are random letters, so that nothing of a question tells of its page.
    """
    letters, questions, documents = random.Random(0), [], []
    for name in ("data", "pages"):
        (root / name).mkdir(parents=True)
    for company in COMPANIES:
        for year, gold in ((2020, [0]), (2021, [1, 3])):
            name, texts = f"{company}_{year}", [code(letters) for _ in range(4)]
            lines = [{"doc_name": name, "page": page, "text": text} for page, text in enumerate(texts)]
            (root / "pages" / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
            documents.append({"doc_name": name, "company": company, "doc_type": "10k", "doc_period": year})
            evidence = [{"evidence_page_num": page, "evidence_text": texts[page]} for page in gold]
            question = {"financebench_id": name, "question": f"{company} {code(letters)}?", "answer": "1"}
            questions.append(question | {"question_type": "t", "doc_name": name, "evidence": evidence})
    spoil(questions, documents)
    for name, rows in (("open_source", questions), ("document_information", documents)):
        (root / "data" / f"tiny_{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return root


@pytest.fixture(scope="session")
def make_study(tiny, tmp_path_factory):
    """Make a study of the dataset above with a tiny random BERT; ``spoil`` changes its records."""
    weights = str(tiny("BertModel", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))

    def make(spoil=lambda questions, documents: None, **changes) -> Study:
        root = tmp_path_factory.mktemp("study")
        small = {"embedder.weights": weights, "embedder.window": 32, "embedder.precision": "float32"}
        small |= {"chunks.size": 16, "chunks.overlap": 0, "embedder.window_overlap": 0}
        small |= {f"page_scorer.{name}": value for name, value in (SMALL | changes).items()}
        small |= {"page_scorer_light.max_steps": 20, "page_scorer_light.inner_folds": 2}
        profile = load_profile("default").replaced(small)
        profile["name"] = "tiny"
        return Study(read_dataset(write_dataset(root / "data", spoil), "tiny"), profile, root / "artifacts")

    return make
