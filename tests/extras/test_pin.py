"""Hashes of the hub's models, written into the lock file."""

from types import SimpleNamespace

import pytest
import yaml

from extras import pin
from lib.words import StudyError

HUB = {"id": "someone/bare", "revision": "1a" * 20}
LOCK = f"""# models
bare:
  title: Bare
  hub:
    id: {HUB["id"]}
    revision: {HUB["revision"]}
  files: {{}}
whole:
  hub: null
  files: {{a: b}}
"""


@pytest.fixture
def hub(monkeypatch):
    """Make a hub whose commit has files, each with the hash that it states of it; one that is not reached without."""

    def make(*files: tuple[str, str | None]) -> None:
        def info(name, revision, files_metadata):
            assert (name, revision, files_metadata) == (*HUB.values(), True)
            listed = [(name, SimpleNamespace(sha256=sha) if sha else None) for name, sha in files]
            if not files:
                raise OSError("no route to host")
            return SimpleNamespace(siblings=[SimpleNamespace(rfilename=name, lfs=lfs) for name, lfs in listed])

        def api(token):
            assert token is False
            return SimpleNamespace(model_info=info)

        monkeypatch.setattr("huggingface_hub.HfApi", api)

    return make


def test_safetensors_come_before_pytorch_files_and_the_rest_of_the_lock_stays(tmp_path, monkeypatch, hub):
    monkeypatch.setattr(pin, "LOCK", tmp_path / "lock.yaml")
    pin.LOCK.write_text(LOCK)
    wanted = LOCK.replace(HUB["revision"], f"{HUB['revision']}\n    sha256:\n      model.safetensors: {'a' * 64}")
    hub(("model.safetensors", "a" * 64), ("pytorch_model.bin", "b" * 64), ("config.json", None))
    for _ in range(2):  # what has hashes is not asked for again
        pin.pin(say=lambda line: None)
        assert pin.LOCK.read_text() == wanted
        hub()
    assert yaml.safe_load(wanted)["bare"]["hub"]["sha256"] == {"model.safetensors": "a" * 64}


@pytest.mark.parametrize("name", ["", "config.json", "model.safetensors", "onnx/model.safetensors"])
def test_a_hub_that_is_not_there_or_states_no_hash_is_one_sentence(hub, name):
    hub(*([(name, None if name.startswith("model") else "a" * 64)] if name else []))
    said = "states no SHA-256 of weights of someone/bare" if name else "what someone/bare has: OSError; connect to it"
    with pytest.raises(StudyError, match=said):
        pin.stated(HUB)
