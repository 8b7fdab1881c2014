"""Profile ``paper``: its models as hub snapshots of tiny random ones, each pinned and checked."""

import shutil
from pathlib import Path

import pytest
from huggingface_hub.errors import LocalEntryNotFoundError

from lib.files import digest_of_file
from lib.models import weights
from lib.models.encoders import in_batches_that_fit
from lib.models.weights import fetch, local_snapshot, locked
from lib.models.written import read_records
from lib.profile import load_profile
from lib.schema import StudyError

CLASSES = {"bge-m3": "XLMRobertaModel", "bge-reranker-v2-m3": "XLMRobertaForSequenceClassification"}
CLASSES |= {"splade-cocondenser": "BertForMaskedLM", "qwen2.5-7b-instruct": "Qwen2ForCausalLM"}
WHOLE = ("config.json", "tokenizer.json", "model-1.safetensors", "model-2.safetensors")


@pytest.fixture
def put(tmp_path, monkeypatch):
    """Put files or a whole model into an empty hub cache, and its weights' hashes into the lock; no hub answers."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)

    def put(name: str, *files: str, model: Path | None = None) -> Path:
        hub = locked(name)["hub"]
        place = tmp_path / f"models--{hub['id'].replace('/', '--')}" / "snapshots" / hub["revision"]
        shutil.copytree(model, place) if model else place.mkdir(parents=True)
        for file in files:
            (place / file).write_text("{}")
        found = [path for kind in (weights.SAFE, weights.PICKLED) for path in place.glob(kind)]
        monkeypatch.setitem(hub, "sha256", {path.name: digest_of_file(path) for path in found})
        return place

    return put


def test_weights_without_a_hash_in_the_lock_are_not_used(put, monkeypatch):
    put("splade-cocondenser", *WHOLE)
    monkeypatch.setitem(locked("splade-cocondenser")["hub"], "sha256", None)
    with pytest.raises(StudyError, match="no SHA-256"):
        fetch("splade-cocondenser")


@pytest.mark.parametrize("lacking", WHOLE[1:])
def test_a_snapshot_is_used_without_a_hub_unless_its_download_broke_off(put, lacking):
    place = put("bge-m3", *WHOLE)
    assert fetch("bge-m3") == place
    (place / lacking).unlink()
    assert local_snapshot(locked("bge-m3")) is None
    with pytest.raises(StudyError, match="BAAI/bge-m3 is not on this machine"):
        fetch("bge-m3")


def test_the_pinned_weights_alone_are_downloaded_and_used_while_they_are_the_same(put, monkeypatch):
    place, asked = put("bge-m3", "pytorch_model.bin", "config.json", "tokenizer.json"), []

    def download(name, revision, local_files_only=False, **options):
        if not local_files_only:
            asked.append(options["allow_patterns"])
        if len(asked) < 2:
            raise LocalEntryNotFoundError("none") if local_files_only else ConnectionResetError
        return str(place)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    with pytest.raises(StudyError, match="ConnectionResetError"):
        fetch("bge-m3")
    assert fetch("bge-m3") == place
    assert asked == [[*weights.FILES, "pytorch_model.bin"]] * 2
    (place / "pytorch_model.bin").write_bytes(b"others!!")
    with pytest.raises(StudyError, match="pytorch_model.bin is not the file"):
        fetch("bge-m3")


def test_a_model_that_does_not_fit_with_one_text_is_an_error():
    import torch

    def compute(batch_size: int):
        raise torch.OutOfMemoryError

    with pytest.raises(StudyError, match="memory"):
        in_batches_that_fit(compute, 4)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["dense", "splade", "rerank", "hyde", "page_scorer"])
def test_the_published_models_path_end_to_end(method, put, tiny, make_study):
    sizes = {"max_position_embeddings": 600, "pad_token_id": 0, "num_labels": 1, "num_key_value_heads": 2}
    for name, architecture in CLASSES.items():
        put(name, model=tiny(architecture, **sizes))
    study = make_study()
    small = {"embedder.window": 64, "embedder.precision": "float32", "chunks.size": 32, "chunks.overlap": 0}
    small |= {"splade.window": 64, "splade.precision": "float32", "rerank.window": 128}
    small |= {"hyde.n_passages": 1, "hyde.max_tokens": 8, "generator.context": 512}
    paper = load_profile("paper").replaced(small)
    study.profile.update({name: paper[name] for name in {name.partition(".")[0] for name in small}})
    study.store.say = lambda line: None
    assert set(study.run(method)["question_id"]) == set(study.questions["question_id"])
    if method == "hyde":
        records = read_records(study.home / "generations.jsonl").values()
        assert {record["model"]["name"] for record in records} == {"qwen2.5-7b-instruct"}
