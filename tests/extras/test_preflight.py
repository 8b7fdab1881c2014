"""The look before a run with the published models."""

from types import SimpleNamespace

import pytest

from extras import preflight
from lib.models.weights import hub_models
from lib.profile import load_profile
from lib.schema import StudyError

PAPER = load_profile("paper")
HERE = {"gpu": ("GPU of tests", 24.0), "is_reachable": True, "free_gib": 1000.0}
GPU = "GPU: {}, and Qwen/Qwen2.5-7B-Instruct needs 18 GiB"


@pytest.mark.parametrize(
    ("change", "hashes", "sentence"),
    [
        ({}, {}, ""),
        ({"gpu": None}, {}, f"{GPU.format('none')}; take PROFILE=default"),
        ({"gpu": ("Small GPU", 8.0)}, {}, GPU.format("Small GPU with 8 GiB")),
        ({"free_gib": 3.0}, {}, r"the disk of .* has 3.0 GiB free and 19.1 are needed"),
        ({"is_reachable": False}, {}, "the hub cannot be reached, and BAAI/bge-m3, .* would have to be downloaded"),
        ({}, {"sha256": {}}, "Qwen2.5-7B-Instruct has no SHA-256 in the lock file: python -m lib pin"),
    ],
)
def test_before_the_run_it_says_what_will_happen_and_one_wrong_thing_is_a_sentence(
    tmp_path, monkeypatch, change, hashes, sentence
):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))  # an empty one
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    models = hub_models(PAPER)
    models = {role: one | {"hub": {"sha256": "ab"} | one["hub"] | hashes} for role, one in models.items()}
    for name, value in (HERE | change | {"hub_models": models}).items():
        monkeypatch.setattr(preflight, name, lambda *given, value=value: value)
    dataset, said = SimpleNamespace(filings=range(84)), []
    study = SimpleNamespace(profile=PAPER, questions=range(150), home=tmp_path, dataset=dataset)
    if sentence:
        with pytest.raises(StudyError, match=sentence):
            preflight.preflight(study, said.append)
        return
    preflight.preflight(study, said.append)
    text = "\n".join(said)
    assert "generator: Qwen/Qwen2.5-7B-Instruct, 14.2 GiB, to be downloaded" in text
    assert "embedder: BAAI/bge-m3, 2.2 GiB, to be downloaded, a PyTorch file that is read as tensors only" in text
    assert GPU.format("GPU of tests with 24 GiB") in text
    assert "hours for 84 filings and 150 questions" in text
    assert 0 < preflight.estimate_s(PAPER, 10, 150) < preflight.estimate_s(PAPER, 100, 150)
