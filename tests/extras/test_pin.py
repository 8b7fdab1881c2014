"""Hashes of the hub's models, written into the lock file."""

from types import SimpleNamespace

import pytest
from huggingface_hub.errors import HTTPError

from extras import pin
from lib.schema import StudyError

HUB = {"id": "someone/bare", "revision": "1a" * 20}
LOCK = """# models
bare:
  hub:
    id: {id}
    revision: {revision}
  files: {{}}
whole:
  hub: null
  files: {{a: b}}
""".format(**HUB)


@pytest.fixture
def hub(monkeypatch):
    """Make a hub whose commit has files, each with the hash that it states of it; one that is not reached without."""

    def make(**files: str) -> None:
        def info(name, revision, files_metadata):
            assert (name, revision, files_metadata) == (*HUB.values(), True)
            if not files:
                raise HTTPError("no route to host")
            hashes = {file: SimpleNamespace(sha256=sha) if sha else None for file, sha in files.items()}
            return SimpleNamespace(siblings=[SimpleNamespace(rfilename=file, lfs=sha) for file, sha in hashes.items()])

        without_a_token = {False: SimpleNamespace(model_info=info)}
        monkeypatch.setattr("huggingface_hub.HfApi", lambda token: without_a_token[token])

    return make


def test_safetensors_come_before_pytorch_files_and_the_rest_of_the_lock_stays(tmp_path, monkeypatch, hub):
    monkeypatch.setattr(pin, "LOCK", tmp_path / "lock.yaml")
    pin.LOCK.write_text(LOCK)
    hub(**{"model.safetensors": "a" * 64, "pytorch_model.bin": "b" * 64, "config.json": ""})
    for _ in range(2):  # what has hashes is not asked for again
        pin.pin(say=lambda line: None)
        hashes = f"{HUB['revision']}\n    sha256:\n      model.safetensors: {'a' * 64}"
        assert pin.LOCK.read_text() == LOCK.replace(HUB["revision"], hashes)
        hub()


@pytest.mark.parametrize(
    "files", [{}, {"config.json": "a" * 64}, {"model.safetensors": "no hash"}, {"onnx/model.safetensors": "a" * 64}]
)
def test_a_hub_that_is_not_there_or_states_no_hash_is_an_error(hub, files):
    hub(**files)
    with pytest.raises(StudyError, match="no SHA-256 .* someone/bare" if files else "someone/bare: HTTPError"):
        pin.stated(HUB)
