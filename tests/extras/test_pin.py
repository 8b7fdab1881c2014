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


@pytest.fixture
def hub(monkeypatch):
    """Make a hub whose commit has files, each with the hash that it states of it."""

    def make(*files: tuple[str, str | None]) -> None:
        class Api:
            def __init__(self, token):
                assert token is False

            def model_info(self, name, revision, files_metadata):
                assert (name, revision, files_metadata) == ("someone/bare", REVISION, True)
                listed = [(name, SimpleNamespace(sha256=sha) if sha else None) for name, sha in files]
                return SimpleNamespace(siblings=[SimpleNamespace(rfilename=name, lfs=lfs) for name, lfs in listed])

        monkeypatch.setattr("huggingface_hub.HfApi", Api)

    return make


def test_safetensors_come_before_pytorch_files_and_the_rest_of_the_lock_stays(tmp_path, monkeypatch, hub):
    monkeypatch.setattr(pin, "LOCK", tmp_path / "lock.yaml")
    pin.LOCK.write_text(LOCK)
    wanted = LOCK.replace(REVISION, f"{REVISION}\n    sha256:\n      model.safetensors: {'a' * 64}")
    hub(("model.safetensors", "a" * 64), ("pytorch_model.bin", "b" * 64), ("config.json", None))
    for _ in range(2):  # what has hashes is not asked for again
        pin.pin(say=lambda line: None)
        assert pin.LOCK.read_text() == wanted
        hub()
    assert yaml.safe_load(wanted)["bare"]["hub"]["sha256"] == {"model.safetensors": "a" * 64}


@pytest.mark.parametrize("files", [[], [("model.safetensors", None)], [("onnx/model.safetensors", "a" * 64)]])
def test_a_hub_that_states_no_hash_is_told(hub, files):
    hub(*files)
    with pytest.raises(StudyError, match="states no SHA-256 of weights of someone/bare"):
        pin.stated({"id": "someone/bare", "revision": REVISION})
