"""The look before a run with the published models."""

from types import SimpleNamespace

import pytest

from extras import preflight
from lib.models.weights import hub_models
from lib.profile import load_profile
from lib.words import StudyError

PAPER = load_profile("paper")


@pytest.fixture
def look(tmp_path, monkeypatch):
    """Look before a run of the profile paper, with an empty cache of the hub; gives what was said."""

    def see(graphics=("GPU of tests", 24.0), reachable=True, free=1000.0, sha256: dict | None = None) -> str:
        changed = {} if sha256 is None else {"sha256": sha256}
        models = hub_models(PAPER)
        models = {role: one | {"hub": {"sha256": "ab"} | one["hub"] | changed} for role, one in models.items()}
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        found = {"hub_models": models, "gpu": graphics, "free_gib": free, "is_reachable": reachable}
        for name, value in found.items():
            monkeypatch.setattr(preflight, name, lambda *given, value=value: value)
        dataset, said = SimpleNamespace(filings=range(84)), []
        study = SimpleNamespace(profile=PAPER, questions=range(150), home=tmp_path, dataset=dataset)
        preflight.preflight(study, said.append)
        return "\n".join(said)

    return see


def test_before_the_run_it_says_what_will_happen(look):
    text = look()
    assert "generator: Qwen/Qwen2.5-7B-Instruct, 14.2 GiB, to be downloaded" in text
    assert "embedder: BAAI/bge-m3, 2.2 GiB, to be downloaded, a PyTorch file that is read as tensors only" in text
    assert "GPU: GPU of tests with 24 GiB, and Qwen/Qwen2.5-7B-Instruct needs 18 GiB" in text
    assert "hours for 84 filings and 150 questions" in text
    assert 0 < preflight.estimate_s(PAPER, 10, 150) < preflight.estimate_s(PAPER, 100, 150)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"graphics": None}, "GPU: none, and Qwen/Qwen2.5-7B-Instruct needs 18 GiB; take PROFILE=default"),
        ({"graphics": ("Small GPU", 8.0)}, "GPU: Small GPU with 8 GiB, and Qwen/Qwen2.5-7B-Instruct needs 18 GiB"),
        ({"free": 3.0}, r"the disk of .* has 3.0 GiB free and 19.1 are needed"),
        ({"reachable": False}, "the hub cannot be reached, and BAAI/bge-m3, .* would have to be downloaded"),
        ({"sha256": {}}, "Qwen2.5-7B-Instruct has no SHA-256 in the lock file: python -m lib pin"),
    ],
)
def test_one_wrong_thing_ends_in_a_sentence(look, change, sentence):
    with pytest.raises(StudyError, match=sentence):
        look(**change)
