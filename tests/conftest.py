"""What several tests need: a dataset folder to spoil, a tokenizer without weights, a study without models."""

import hashlib
import json
import os
import random
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # what tests multiply is small; threads only wait for each other

import hypothesis
import numpy as np
import pandas as pd
import pymupdf
import pytest

from lib import runs
from lib.cache import Cache
from lib.data.dataset import read_dataset
from lib.files import digest_of
from lib.models import vectors
from lib.profile import Settings, load_profile
from lib.store import Store
from lib.study import Study

hypothesis.settings.register_profile("steady", deadline=None, derandomize=True, max_examples=100)
hypothesis.settings.load_profile("steady")

WORDS = ("net", "sales", "rose", "in", "the", "year", "cash", "flow", "##s", "##ing", "##ed", "profit", "$", ",", ".")
CHAT = "{% for message in messages %}{{ message['content'] }} {% endfor %}"


def write_lines(path: Path, lines: Sequence[dict | str]) -> Path:
    """Write a line each: a dictionary as JSON, text as it is."""
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n")
    return path


def write_pdf(path: Path, *texts: str, side: int = 842, **saving) -> Path:
    """Write a PDF, one page a text, ``side`` points high; an empty text gives a blank page."""
    path.parent.mkdir(exist_ok=True)
    with pymupdf.open() as pdf:
        for text in texts:
            pdf.new_page(height=side).insert_textbox((50, 50, 550, 800), text)
        pdf.save(path, **saving)
    return path


class DatasetFolder:
    """A dataset in FinanceBench's layout that a test fills, and spoils where it wants.

    Attributes:
        root: the folder.
        documents, questions: the lines to come, see ``write_lines``.
    """

    def __init__(self, root: Path):
        self.root = root
        self.documents: list[dict | str] = []
        self.questions: list[dict | str] = []
        for name in ("data", "pdfs", "pages"):
            (root / name).mkdir(parents=True)

    def pdf(self, doc_name: str, *texts: str, **saving) -> Path:
        """Write a filing as a PDF."""
        self.document(doc_name)
        return write_pdf(self.root / "pdfs" / f"{doc_name}.pdf", *texts, **saving)

    def text(self, doc_name: str, *texts: str, numbers: list[int] | None = None, **about) -> Path:
        """Write a filing as page text; ``numbers`` replaces the page numbers."""
        self.document(doc_name, **about)
        path = self.root / "pages" / f"{doc_name}.jsonl"
        pages = zip(numbers or range(len(texts)), texts, strict=True)
        return write_lines(path, [{"doc_name": doc_name, "page": page, "text": text} for page, text in pages])

    def document(self, doc_name: str, /, **changes) -> None:
        company = doc_name.split("_")[0]
        line = {"doc_name": doc_name, "company": company, "doc_type": "10k", "doc_period": 2020, "gics_sector": "Tools"}
        self.documents.append(line | changes)

    def question(self, question_id: str, doc_name: str, /, *evidence: tuple[object, str], **changes) -> None:
        """Add a question whose evidence is (page, text) pairs."""
        pieces = [{"evidence_page_num": page, "evidence_text": text, "doc_name": doc_name} for page, text in evidence]
        line = {"financebench_id": question_id, "question": f"What does {doc_name} say?", "answer": "$1,577.0"}
        line |= {"question_type": "metrics-generated", "doc_name": doc_name, "evidence": pieces}
        self.questions.append(line | changes)

    def write(self) -> Path:
        for name, lines in (("open_source", self.questions), ("document_information", self.documents)):
            write_lines(self.root / "data" / f"test_{name}.jsonl", lines)
        return self.root


def write_questions(root: Path, *records: dict) -> Path:
    """A question set of its own: records of ``financebench_id``, ``doc_name`` and ``pages``, and other fields.

    A record has neither an answer nor evidence texts unless it brings them.
    """
    lines = []
    for record in records:
        pieces = [{"evidence_page_num": page, "evidence_text": ""} for page in record.get("pages", [0])]
        own = {"question": f"What of {record['financebench_id']}?", "question_type": "t", "evidence": pieces}
        lines.append(own | record)
    (root / "data").mkdir(parents=True, exist_ok=True)
    write_lines(root / "data" / "my_questions.jsonl", lines)
    return root


def open_folder(root: Path, artifacts: Path, changes: dict, name: str = "tiny", chunkings=None, methods=None, **given):
    """The study of a dataset's folder, with these changes of the default profile and every method unless given."""
    from lib.methods import METHODS

    profile = load_profile("default").replaced(changes)
    profile["name"] = "default"
    rows = METHODS if methods is None else methods
    study = Study(read_dataset(root, name), profile, rows, chunkings or {}, artifacts, **given)
    study.store.say = lambda line: None
    return study


@pytest.fixture
def folder(tmp_path) -> DatasetFolder:
    return DatasetFolder(tmp_path / "filings")


def bag_of_words(texts: Sequence[str], role: str = "document") -> np.ndarray:
    """Unit vectors in which each word has a place: texts that share words are alike."""
    counts = np.full((len(texts), 256), 1e-3, np.float32)
    for row, text in zip(counts, texts, strict=True):
        for word in text.lower().split():
            row[hashlib.sha256(word.encode()).digest()[0]] += 1
    return counts / np.linalg.norm(counts, axis=1, keepdims=True)


@pytest.fixture
def open_words(folder, tokenizer_folder, tmp_path, monkeypatch):
    """Open the study of ``folder`` with changes of its profile; its encoder is a bag of words."""

    def open_with(changes: dict | None = None, **given) -> Study:
        monkeypatch.setattr(vectors, "load_encoder", lambda *settings: SimpleNamespace(encode=bag_of_words))
        weights = dict.fromkeys(("embedder.weights", "spans.weights"), str(tokenizer_folder))
        changes = weights | (changes or {})
        return open_folder(folder.write(), tmp_path / "artifacts", changes, **given)

    return open_with


@pytest.fixture(scope="session")
def wordpiece():
    """A WordPiece tokenizer over letters and a few words: every ASCII word has tokens, none needs weights."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *letters, *(f"##{letter}" for letter in letters)]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tokenizer


@pytest.fixture(scope="session")
def tokenizer_folder(wordpiece, tmp_path_factory) -> Path:
    """The tokenizer as a model's directory that has no weights."""
    path = tmp_path_factory.mktemp("tokenizer")
    wordpiece.save(str(path / "tokenizer.json"))
    return path


class FakeStudy(SimpleNamespace):
    """What a retriever asks of a study, with scores of other methods given as matrices."""

    tokenizer = Study.tokenizer

    def with_chunks(self, chunking: str) -> "FakeStudy":
        return self

    def digest(self, name: str) -> str:
        return digest_of(getattr(self, name).astype(str).to_numpy().tolist())

    def memo(self, key, compute):
        if key not in self.remembered:
            self.remembered[key] = compute()
        return self.remembered[key]

    def rank_method(self, name: str, candidates: np.ndarray, depth: int) -> pd.DataFrame:
        allowed = np.where(candidates, self.scores[name], -np.inf)
        return runs.rank(allowed, self.questions, self.chunks, depth)


@pytest.fixture
def fake_study(tmp_path):
    """Make a study of questions and chunk texts: one chunk a page of one filing ``DOC``."""

    def make(questions: list[str], texts: list[str], profile: dict, scores: dict | None = None) -> FakeStudy:
        ids = [f"DOC#p{page:04d}#c00" for page in range(len(texts))]
        chunks = pd.DataFrame({"chunk_id": ids, "key": ids, "doc_name": "DOC", "page": range(len(ids)), "text": texts})
        asked = pd.DataFrame({"question_id": [f"q{i}" for i in range(len(questions))], "question": questions})
        settings = Settings({name: Settings(section) for name, section in profile.items()})
        made = FakeStudy(
            questions=asked, chunks=chunks, profile=settings, scores=scores or {}, remembered={}, chunking=""
        )
        made.store, made.cache = Store(tmp_path / "store", say=lambda line: None), Cache(tmp_path / "cache.sqlite")
        made.index_folder, made.dataset, made.settings_of = tmp_path / "chroma", SimpleNamespace(root=tmp_path), str
        return made

    return make


@pytest.fixture(scope="session")
def tiny(wordpiece, tmp_path_factory):
    """Save a random model of two layers of a class, such as BertModel, with its tokenizer; gives its directory."""

    def make(architecture: str, **settings):
        import torch
        import transformers

        torch.manual_seed(13)
        model = getattr(transformers, architecture)
        sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
        sizes |= {"max_position_embeddings": 128, "initializer_range": 0.5} | settings
        path = tmp_path_factory.mktemp("tiny")
        model(model.config_class(vocab_size=wordpiece.get_vocab_size(), **sizes)).eval().save_pretrained(path)
        marks = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
        about = marks | {"model_max_length": 128}
        about |= {"eos_token": "[SEP]", "chat_template": CHAT} if "CausalLM" in architecture else {}
        transformers.PreTrainedTokenizerFast(tokenizer_object=wordpiece, **about).save_pretrained(path)
        return path

    return make


COMPANIES = "ash birch cedar dogwood elm fir".split()
SMALL = {"n_folds": 3, "epochs": 2, "batch_size": 4, "learning_rate": 1e-3, "pages": 3}
SMALL |= {"max_tokens": 32, "compare_tokens": 16, "train_precision": "float32"}
LETTERS = "abcdefghijklm"


def code(letters: random.Random) -> str:
    return " ".join("".join(letters.choices(LETTERS, k=4)) for _ in range(6))


def write_dataset(root: Path, spoil=lambda questions, documents: None) -> Path:
    """Six companies with two filings of four pages each; 2020's question has gold page 0, 2021's pages 1 and 3.

    All texts are random letters, so that nothing of a question tells of its page.
    """
    letters, made = random.Random(0), DatasetFolder(root)
    for company in COMPANIES:
        for year, gold in ((2020, [0]), (2021, [1, 3])):
            name, texts = f"{company}_{year}", [code(letters) for _ in range(4)]
            made.text(name, *texts, doc_period=year, gics_sector="")
            asked = {"question": f"{company} {code(letters)}?", "answer": "1", "question_type": "t"}
            made.question(name, name, *((page, texts[page]) for page in gold), **asked)
    spoil(made.questions, made.documents)
    return made.write()


@pytest.fixture(scope="session")
def make_study(tiny, tmp_path_factory):
    """Make a study of the dataset above with a tiny random BERT; ``spoil`` changes its records."""
    weights = str(tiny("BertModel", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))

    def make(spoil=lambda questions, documents: None, **changes) -> Study:
        from lib.chunkings.table import CHUNKINGS

        root = tmp_path_factory.mktemp("study")
        small = {"embedder.weights": weights, "embedder.window": 32, "embedder.precision": "float32"}
        small |= {"chunks.size": 16, "chunks.overlap": 0, "embedder.window_overlap": 0}
        small |= {f"page_scorer.{name}": value for name, value in (SMALL | changes).items()}
        small |= {"page_scorer_light.max_steps": 20, "page_scorer_light.inner_folds": 2}
        return open_folder(write_dataset(root / "data", spoil), root / "artifacts", small, chunkings=CHUNKINGS)

    return make


def pytest_collection_modifyitems(items):
    """Mark the tests that open a browser."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
