"""From a study to its trained folds and their answers: stored, resumed, compared, and told from the command line."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from transformers import TrainerCallback

from lib.analysis.preference import compared_before, folds, prompt_context
from lib.chunkings.table import CHUNKINGS
from lib.corpus import Corpus
from lib.methods import METHODS
from lib.study import Study

pytest.importorskip("trl", reason="trl is not installed; run make env")

from extras.preference import dpo, needs
from extras.preference import train as training
from extras.preference.tuned import LOG, compared, open_tuned, tuned_answers

LORA = {"method": "lora", "learning_rate": 1e-2}


@pytest.fixture
def no_gpu(monkeypatch):
    monkeypatch.setattr(needs, "gpu", lambda: None)


def tensors(folder) -> dict:
    from safetensors.torch import load_file

    return {name: part for path in folder.glob("*.safetensors") for name, part in load_file(path).items()}


@pytest.fixture(scope="module", params=["full", "lora"])
def trained(request, make_study):
    """A study, its folds' models and what was said; trained once for all tests that only read."""
    study, said = make_study(**(LORA if request.param == "lora" else {})), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(needs, "gpu", lambda: None)
        return study, training.train_all(study, said.append), said


def test_every_fold_is_trained_once_and_stored_as_safetensors(trained):
    study, models, said = trained
    assert sorted(models) == [fold.number for fold in folds(study)] == [0, 1]
    for entry in models.values():
        kinds = {path.suffix for path in entry.path.iterdir()}
        assert ".safetensors" in kinds
        assert not kinds & {".bin", ".pt", ".pth", ".md"}
        assert json.loads((entry.path / "curves.json").read_text())[0]["loss"] == pytest.approx(np.log(2), abs=1e-3)
        assert json.loads((entry.path / "fold.json").read_text())["shared_companies"] == []
        assert not list(entry.path.parent.glob("checkpoints-*"))
    assert models[0].digest != models[1].digest
    assert "fold 0: " in said[0]
    assert said[0].endswith("computed")
    again = Study(Corpus(study.dataset, study.profile, CHUNKINGS, study.store.root.parent), METHODS)
    assert {entry.origin for entry in training.train_all(again, said.append).values()} == {"reused"}


@pytest.mark.parametrize("changes", [{}, LORA], ids=["full", "lora"])
def test_a_fold_that_was_killed_is_resumed(make_study, no_gpu, monkeypatch, changes):
    class Killed(TrainerCallback):
        def on_step_end(self, args, state, control, **_):
            if state.global_step == 3:
                raise KeyboardInterrupt

    study, whole = (make_study(epochs=4, **changes) for _ in range(2))
    expected = tensors(training.fold_model(whole, folds(whole)[0]).path)
    progress = dpo.Progress
    monkeypatch.setattr(dpo, "Progress", lambda title: Killed())
    with pytest.raises(KeyboardInterrupt):
        training.fold_model(study, folds(study)[0])
    kept = [path.name for path in (study.store.root / training.STAGE).glob("checkpoints-*/checkpoint-*")]
    assert kept == ["checkpoint-2"]
    monkeypatch.setattr(dpo, "Progress", progress)
    found = tensors(training.fold_model(study, folds(study)[0]).path)
    assert all(np.array_equal(found[name], expected[name]) for name in expected)


def test_held_out_questions_are_answered_by_the_trained_model(trained):
    study, models, _ = trained
    wanted = prompt_context(study)
    written = tuned_answers(study, wanted, models)
    assert set(written.texts) | set(written.filled.missing) == set(study.questions["question_id"])
    records = [json.loads(line) for line in (study.home / LOG).read_text().splitlines()]
    held_out = {entry.digest: set() for entry in models.values()}
    for record in records:
        held_out[record["model"]["sha256"]].add(record["question_id"])
    for fold in folds(study):
        tested = set(study.questions["question_id"].iloc[list(fold.test)])
        assert held_out[models[fold.number].digest] <= tested
    again = tuned_answers(study, wanted, models)
    assert again.texts == written.texts
    assert set(again.filled.origins) == {"reused"}
    found = compared(study, wanted, models).set_index("metric")
    assert found["n"].to_dict()["token_f1"] == len(study.questions)
    moved = (found["tuned"] - found["untuned"]).to_numpy()
    assert found["difference"].to_numpy() == pytest.approx(moved)


@pytest.mark.parametrize("trained", ["lora"], indirect=True)
def test_the_tuned_generator_has_the_trained_weights(trained):
    import torch

    study, models, _ = trained
    entry = models[0]
    before, after = study.make_generator().model, open_tuned(study, entry).model
    assert before.state_dict().keys() == after.state_dict().keys()
    name = "model.layers.0.self_attn.q_proj"
    parts = tensors(entry.path)
    low, high = (parts[f"base_model.model.{name}.lora_{part}.weight"] for part in "AB")
    moved = after.state_dict()[f"{name}.weight"] - before.state_dict()[f"{name}.weight"]
    scale = study.profile.preference.alpha / study.profile.preference.rank
    assert torch.allclose(moved.float(), scale * high @ low, atol=1e-2 if moved.dtype != torch.float32 else 1e-5)
    assert moved.abs().max() > 0


@pytest.fixture
def command(no_gpu, monkeypatch):
    """Run the command over a study; gives what was said, and the status."""

    def run(study: Study) -> tuple[str, int]:
        monkeypatch.setattr(training, "open_study", lambda *_: study)
        result = CliRunner().invoke(training.main, [])
        return result.output, result.exit_code

    return run


def test_the_command_trains_compares_and_writes(make_study, command):
    study = make_study()
    said, status = command(study)
    assert status == 0
    assert "training takes 0.0 GiB" in said
    found = compared_before(study, study.profile, None)
    assert set(found["context"]) == {"oracle-page", "bm25"}
    assert (found["n_train_pairs"] > 0).all()
    assert compared_before(study, study.profile, 1).empty


def test_one_fold_alone_is_trained_and_compared_on_its_questions(make_study, no_gpu):
    study = make_study()
    models = training.train_all(study, list, only=1)
    assert list(models) == [1]
    found = compared(study, prompt_context(study), models).set_index("metric")
    assert found["n"]["token_f1"] == len(folds(study)[1].test)


def test_the_command_says_in_a_sentence_what_cannot_be_trained(make_study, command):
    study = make_study()
    study.profile = study.profile.replaced({"generator.backend": "llama.cpp"})
    said, status = command(study)
    assert status == 1
    assert said.startswith("error: the generator")
