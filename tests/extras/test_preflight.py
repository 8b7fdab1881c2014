"""The look before a run with the published models."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from extras import preflight
from lib.models.weights import hub_models
from lib.profile import load_profile
from lib.schema import StudyError

PAPER = load_profile("paper")
HERE = {"gpu": ("GPU of tests", 24.0), "is_reachable": True, "free_gib": 1000.0}
#: What is otherwise here, what the lock file then has of each model, and what the error names.
CASES = {
    "all is here": ({}, {}, ""),
    "no GPU": ({"gpu": None}, {}, "GPU: none"),
    "a small GPU": ({"gpu": ("Small GPU", 8.0)}, {}, "Small GPU with 8 GiB, .* needs 18 GiB"),
    "a full disk": ({"free_gib": 3.0}, {}, "has 3.0 GiB free and 19.1"),
    "no hub": ({"is_reachable": False}, {}, "BAAI/bge-m3"),
    "no hash": ({}, {"sha256": {}}, "Qwen2.5-7B-Instruct has no SHA-256"),
}


@pytest.mark.parametrize("what", CASES)
def test_before_the_run_it_says_what_will_happen_and_what_is_missing_is_an_error(tmp_path, monkeypatch, what):
    change, hashes, words = CASES[what]
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))  # an empty one
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    models = hub_models(PAPER)
    models = {role: one | {"hub": {"sha256": "ab"} | one["hub"] | hashes} for role, one in models.items()}
    for name, value in (HERE | change | {"hub_models": models}).items():
        monkeypatch.setattr(preflight, name, lambda *given, value=value: value)
    dataset, said = SimpleNamespace(filings=range(84)), []
    study = SimpleNamespace(profile=PAPER, questions=range(150), home=tmp_path, dataset=dataset)
    with pytest.raises(StudyError, match=words) if words else nullcontext():
        preflight.preflight(study, said.append)
    text = "\n".join(said)
    assert "generator: Qwen/Qwen2.5-7B-Instruct, 14.2 GiB, to be downloaded" in text
    assert ("a PyTorch file" in text) == (what != "no hash")
    assert "hours for 84 filings and 150 questions on one GPU" in text
    assert 0 < preflight.estimate_s(PAPER, 10, 150) < preflight.estimate_s(PAPER, 100, 150)


def test_a_profile_without_models_of_the_hub_has_no_estimate_of_a_gpu(tmp_path):
    said, profile = [], load_profile("default")
    dataset = SimpleNamespace(filings=range(4))
    study = SimpleNamespace(profile=profile, questions=range(12), home=tmp_path, dataset=dataset)
    preflight.preflight(study, said.append)
    assert "4 filings and 12 questions on this machine's processor" in said[-1]
    assert "hours" not in said[-1]
