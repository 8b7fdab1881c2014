"""The look before a run with the published models."""

from types import SimpleNamespace

import pytest

from extras import preflight
from lib.models.weights import hub_models
from lib.profile import load_profile
from lib.words import StudyError


def pinned(profile: dict) -> dict:
    """The models of the hub, each with a hash of its weights."""
    models = hub_models(profile)
    return {role: record | {"hub": {"sha256": "ab"} | record["hub"]} for role, record in models.items()}


def unpinned(profile: dict) -> dict:
    return {role: record | {"hub": record["hub"] | {"sha256": {}}} for role, record in pinned(profile).items()}


@pytest.fixture
def look(tmp_path, monkeypatch):
    """Look before a run of the profile paper, with an empty cache of the hub; gives what was said."""

    def see(graphics=("GPU of tests", 24.0), reachable=True, free=1000.0, models=pinned) -> str:
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        monkeypatch.setattr(preflight, "hub_models", models)
        monkeypatch.setattr(preflight, "gpu", lambda: graphics)
        monkeypatch.setattr(preflight, "free_gib", lambda place: free)
        monkeypatch.setattr(preflight, "is_reachable", lambda name: reachable)
        dataset, said = SimpleNamespace(filings=range(84)), []
        paper = load_profile("paper")
        study = SimpleNamespace(profile=paper, questions=range(150), home=tmp_path, dataset=dataset)
        preflight.preflight(study, said.append)
        return "\n".join(said)

    return see


def test_before_the_run_it_says_what_will_happen(look):
    text = look()
    assert "generator: Qwen/Qwen2.5-7B-Instruct, 14.2 GiB, to be downloaded" in text
    assert "embedder: BAAI/bge-m3, 2.2 GiB, to be downloaded, a PyTorch file that is read as tensors only" in text
    assert "GPU: GPU of tests with 24 GiB, and Qwen/Qwen2.5-7B-Instruct needs 18 GiB" in text
    assert "hours for 84 filings and 150 questions" in text


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"graphics": None}, "GPU: none, and Qwen/Qwen2.5-7B-Instruct needs 18 GiB; take PROFILE=default"),
        ({"graphics": ("Small GPU", 8.0)}, "GPU: Small GPU with 8 GiB, and Qwen/Qwen2.5-7B-Instruct needs 18 GiB"),
        ({"free": 3.0}, r"the disk of .* has 3.0 GiB free and 19.1 are needed"),
        ({"reachable": False}, "the hub cannot be reached, and BAAI/bge-m3, .* would have to be downloaded"),
        ({"models": unpinned}, "Qwen2.5-7B-Instruct has no SHA-256 in the lock file: python -m lib pin"),
    ],
)
def test_one_wrong_thing_ends_in_a_sentence(look, change, sentence):
    with pytest.raises(StudyError, match=sentence):
        look(**change)


def test_more_filings_take_longer():
    few, many = (preflight.estimate_s(load_profile("paper"), n, 150) for n in (10, 100))
    assert 0 < few < many
