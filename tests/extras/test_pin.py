"""Hashes of the hub's models, written into the lock file."""

from types import SimpleNamespace

import pytest
import yaml

from extras import pin
from lib.words import StudyError

REVISION = "1a" * 20
LOCK = f"""# models
bare:
  title: Bare
  hub:
    id: someone/bare
    revision: {REVISION}
  files: {{}}
whole:
  hub: null
  files: {{a: b}}
"""


def hub(monkeypatch, *files: tuple[str, str | None]):
    """A hub whose commit has files, each with the hash that it states of it."""
    listed = [SimpleNamespace(rfilename=name, lfs=SimpleNamespace(sha256=sha) if sha else None) for name, sha in files]

    class Api:
        def __init__(self, token):
            assert token is False

        def model_info(self, name, revision, files_metadata):
            assert (name, revision, files_metadata) == ("someone/bare", REVISION, True)
            return SimpleNamespace(siblings=listed)

    monkeypatch.setattr("huggingface_hub.HfApi", Api)


def test_safetensors_come_before_pytorch_files_and_the_rest_of_the_lock_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(pin, "LOCK", tmp_path / "lock.yaml")
    pin.LOCK.write_text(LOCK)
    hub(monkeypatch, ("model.safetensors", "a" * 64), ("pytorch_model.bin", "b" * 64), ("config.json", None))
    pin.pin(say=lambda line: None)
    wanted = LOCK.replace(REVISION, f"{REVISION}\n    sha256:\n      model.safetensors: {'a' * 64}")
    assert pin.LOCK.read_text() == wanted
    assert yaml.safe_load(wanted)["bare"]["hub"]["sha256"] == {"model.safetensors": "a" * 64}
    hub(monkeypatch)
    pin.pin(say=lambda line: None)  # what has hashes is not asked for again
    assert pin.LOCK.read_text() == wanted


@pytest.mark.parametrize("files", [[], [("model.safetensors", None)], [("onnx/model.safetensors", "a" * 64)]])
def test_a_hub_that_states_no_hash_is_told(monkeypatch, files):
    hub(monkeypatch, *files)
    with pytest.raises(StudyError, match="states no SHA-256 of weights of someone/bare"):
        pin.stated({"id": "someone/bare", "revision": REVISION})
