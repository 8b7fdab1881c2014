"""Profile ``paper``: its models as hub snapshots of tiny random ones, each pinned and checked."""

import hashlib
import json
import shutil
from functools import partial
from pathlib import Path

import pytest
from huggingface_hub.errors import LocalEntryNotFoundError

from lib.models import encoders, weights
from lib.models.encoders import in_batches_that_fit
from lib.models.weights import fetch, fetch_snapshot, local_snapshot, lock, locked, weights_hash
from lib.profile import load_profile
from lib.words import StudyError

PAPER = ("bge-m3", "splade-cocondenser", "bge-reranker-v2-m3", "qwen2.5-7b-instruct")


@pytest.fixture
def hub_cache(tmp_path, monkeypatch) -> Path:
    """An empty hub cache, and no hub."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return tmp_path / "hub"


def put(hub_cache: Path, name: str, model: Path) -> Path:
    """Lay a model out as the hub's cache has it."""
    about = locked(name)["hub"]
    place = hub_cache / f"models--{about['id'].replace('/', '--')}" / "snapshots" / about["revision"]
    shutil.copytree(model, place)
    return place


@pytest.fixture
def pinned(monkeypatch):
    """Write the hashes of a folder's weights into the lock's record of a model; gives the folder."""

    def pin(name: str, place: Path) -> Path:
        files = [path for kind in (weights.SAFE, weights.PICKLED) for path in place.glob(kind)]
        hashes = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
        monkeypatch.setitem(locked(name)["hub"], "sha256", hashes)
        return place

    return pin


@pytest.fixture
def paper_models(tiny, hub_cache, pinned) -> dict[str, Path]:
    """The four models, tiny, of the published ones' architectures."""
    sizes = {"max_position_embeddings": 600, "pad_token_id": 0, "num_labels": 1, "num_key_value_heads": 2}
    classes = "XLMRobertaModel BertForMaskedLM XLMRobertaForSequenceClassification Qwen2ForCausalLM".split()
    models = {name: tiny(architecture, **sizes) for name, architecture in zip(PAPER, classes, strict=True)}
    return {name: pinned(name, put(hub_cache, name, model)) for name, model in models.items()}


def test_a_hub_model_is_pinned_to_a_commit_that_identifies_it():
    assert all(weights.COMMIT.fullmatch(lock()[name]["hub"]["revision"]) for name in PAPER)
    assert all({"gib", "parameters", "licence"} <= {*lock()[name]} for name in PAPER)
    assert len({weights_hash(name) for name in PAPER}) == len(PAPER)


def test_the_profile_differs_from_the_default_in_its_models():
    paper, default = load_profile("paper"), load_profile("default")
    assert [paper[role].weights for role in ("embedder", "splade", "rerank", "generator")] == list(PAPER)
    assert paper.chunks == default.chunks
    answers, texts, whole = paper.answers, paper.sibling_texts, paper.chunks.size
    assert (answers.segment, answers.context_tokens) == (whole, answers.n_chunks * whole)
    assert texts.judge.passage_tokens == texts.selection.passage_tokens == whole
    assert paper.generator.context > 2 * texts.selection.top * whole  # a figure is more tokens of the generator
    assert weights.hub_models(paper)
    assert not weights.hub_models(default)


@pytest.fixture
def model_of(tmp_path):
    """A folder with a configuration, a tokenizer and these files."""

    def make(*names: str) -> Path:
        (tmp_path / "model").mkdir()
        for name in ("config.json", "tokenizer.json", *names):
            (tmp_path / "model" / name).write_text("{}")
        return tmp_path / "model"

    return make


@pytest.mark.parametrize("hashes", [None, {}])
def test_weights_without_a_hash_in_the_lock_are_not_used(hub_cache, model_of, monkeypatch, hashes):
    put(hub_cache, "splade-cocondenser", model_of("model.safetensors"))
    monkeypatch.setitem(locked("splade-cocondenser")["hub"], "sha256", hashes)
    with pytest.raises(StudyError, match=r"has no SHA-256 of its weights, .* lib pin"):
        fetch("splade-cocondenser")


@pytest.mark.parametrize("lacking", [[], ["config.json"], ["tokenizer.json"], ["model-2.safetensors"]])
def test_a_snapshot_is_used_without_a_hub_unless_its_download_broke_off(hub_cache, model_of, pinned, lacking):
    place = pinned("bge-m3", put(hub_cache, "bge-m3", model_of("model-1.safetensors", "model-2.safetensors")))
    for name in lacking:
        (place / name).unlink()
    assert local_snapshot(locked("bge-m3")) == (None if lacking else place)
    if lacking:
        with pytest.raises(StudyError, match="BAAI/bge-m3 is not on this machine and the hub cannot be reached"):
            fetch("bge-m3")
    else:
        assert fetch("bge-m3") == place


@pytest.mark.parametrize("failure", [None, ConnectionResetError()])
def test_the_pinned_weights_alone_are_downloaded_and_used_while_they_are_the_same(
    hub_cache, model_of, monkeypatch, pinned, failure
):
    place, asked = pinned("bge-m3", model_of("pytorch_model.bin")), []

    def download(name, revision, local_files_only=False, **options):
        if local_files_only:
            raise LocalEntryNotFoundError("none")
        asked.append(options["allow_patterns"])
        if failure:
            raise failure
        return str(place)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    monkeypatch.setattr(weights, "is_reachable", lambda name: True)
    if failure:
        with pytest.raises(StudyError, match="the download broke off: ConnectionResetError; run again"):
            fetch_snapshot(locked("bge-m3"))
        return
    assert fetch_snapshot(locked("bge-m3"), say=lambda line: None) == place
    assert asked == [[*weights.FILES, "pytorch_model.bin"]]
    (place / "pytorch_model.bin").write_bytes(b"others!!")
    with pytest.raises(StudyError, match=r"pytorch_model\.bin is not the file .* delete it and run again"):
        fetch_snapshot(locked("bge-m3"))


@pytest.mark.parametrize(
    ("has_gpu", "is_native", "precision"),
    [(True, True, "bfloat16"), (True, False, "float16"), (False, True, "bfloat16"), (False, False, "float32")],
)
def test_precision_is_what_the_machine_is_fast_in(monkeypatch, has_gpu, is_native, precision):
    monkeypatch.setattr("torch.cuda.is_available", lambda: has_gpu)
    monkeypatch.setattr(encoders, "has_fast_bfloat16", lambda: is_native)
    assert encoders.automatic_precision() == precision


def test_a_batch_that_does_not_fit_is_halved():
    import torch

    def compute(batch_size: int, most: int) -> int:
        if batch_size > most:
            raise torch.OutOfMemoryError
        return batch_size

    assert in_batches_that_fit(partial(compute, most=5), 32) == (4, 4)
    with pytest.raises(StudyError, match="does not hold the model and one text"):
        in_batches_that_fit(partial(compute, most=0), 4)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["dense", "splade", "rerank", "hyde", "page_scorer"])
def test_the_published_models_path_end_to_end(method, paper_models, make_study, monkeypatch):
    study = make_study()
    small = {"embedder.window": 64, "embedder.precision": "float32", "chunks.size": 32, "chunks.overlap": 0}
    small |= {"splade.window": 64, "splade.precision": "float32", "rerank.window": 128}
    small |= {"hyde.n_passages": 1, "hyde.max_tokens": 8, "generator.context": 512}
    paper = load_profile("paper").replaced(small)
    study.profile.update({name: paper[name] for name in {name.partition(".")[0] for name in small}})
    study.store.say = lambda line: None
    run = study.run(method)
    assert set(run["question_id"]) == set(study.questions["question_id"])
    if method == "hyde":
        records = [json.loads(line) for line in (study.home / "generations.jsonl").read_text().splitlines()]
        assert {record["model"]["name"] for record in records} == {"qwen2.5-7b-instruct"}
