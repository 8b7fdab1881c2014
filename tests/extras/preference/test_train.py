"""From a study to its trained folds and their answers: stored, resumed, compared, and told from the command line."""

import json

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from safetensors.torch import load_file
from transformers import TrainerCallback

from lib.__main__ import commands
from lib.analysis.preference import compared_before, folds, prompt_context
from lib.chunkings.table import CHUNKINGS
from lib.methods import METHODS
from lib.study import Study

pytest.importorskip("trl", reason="trl is not installed; run make env")

from extras.preference import dpo
from extras.preference import train as training
from extras.preference.tuned import LOG, compared, open_tuned, tuned_answers

CHANGES = {"full": {}, "lora": {"method": "lora", "learning_rate": 1e-2}}


def tensors(folder) -> dict:
    return {name: part for path in folder.glob("*.safetensors") for name, part in load_file(path).items()}


@pytest.fixture(scope="module", params=CHANGES)
def trained(request, make_study):
    """A study, its folds' models and what was said; trained once for all tests that only read."""
    study, said = make_study(**CHANGES[request.param]), []
    return study, training.train_all(study, said.append), said


def test_every_fold_is_trained_once_and_stored_as_safetensors(trained):
    study, models, said = trained
    assert sorted(models) == [fold.number for fold in folds(study)] == [0, 1]
    for entry in models.values():
        kinds = {path.suffix for path in entry.path.iterdir()}
        assert ".safetensors" in kinds
        assert not kinds & {".bin", ".pt", ".pth", ".md"}
        assert json.loads((entry.path / "curves.json").read_text())[0]["loss"] == pytest.approx(np.log(2), abs=1e-3)
        assert not list(entry.path.parent.glob("checkpoints-*"))
    assert models[0].digest != models[1].digest
    assert said[0].startswith("fold 0: ")
    again = Study(study.dataset, study.profile, METHODS, CHUNKINGS, study.store.root.parent)
    assert {entry.origin for entry in training.train_all(again, said.append).values()} == {"reused"}


def test_a_fold_that_was_killed_is_resumed(make_study, monkeypatch):
    class Killed(TrainerCallback):
        def on_step_end(self, args, state, control, **_):
            if state.global_step == 3:
                raise KeyboardInterrupt

    study, whole = (make_study(epochs=4, **CHANGES["lora"]) for _ in range(2))
    expected = tensors(training.fold_model(whole, folds(whole)[0]).path)
    with monkeypatch.context() as patch:
        patch.setattr(dpo, "Progress", lambda title: Killed())
        with pytest.raises(KeyboardInterrupt):
            training.fold_model(study, folds(study)[0])
    kept = [path.name for path in (study.store.root / training.STAGE).glob("checkpoints-*/checkpoint-*")]
    assert kept == ["checkpoint-2"]
    found = tensors(training.fold_model(study, folds(study)[0]).path)
    assert all(np.array_equal(found[name], expected[name]) for name in expected)


def test_held_out_questions_are_answered_by_the_model_that_never_saw_them(trained):
    study, models, _ = trained
    wanted, ids = prompt_context(study), study.questions["question_id"]
    written = tuned_answers(study, wanted, models)
    assert set(written.texts) | set(written.filled.missing) == set(ids)
    number_of = {models[fold.number].digest: fold for fold in folds(study)}
    for record in map(json.loads, (study.home / LOG).read_text().splitlines()):
        assert record["question_id"] in set(ids.iloc[list(number_of[record["model"]["sha256"]].test)])
    again = tuned_answers(study, wanted, models)
    assert (again.texts, set(again.filled.origins)) == (written.texts, {"reused"})
    found = compared(study, wanted, models).set_index("metric")
    assert found["n"]["token_f1"] == len(ids)
    assert found["difference"].to_numpy() == pytest.approx((found["tuned"] - found["untuned"]).to_numpy())


@pytest.mark.parametrize("trained", ["lora"], indirect=True)
def test_the_tuned_generator_has_the_trained_weights(trained):
    study, models, _ = trained
    before, after = study.make_generator().model.state_dict(), open_tuned(study, models[0]).model.state_dict()
    assert before.keys() == after.keys()
    name, parts = "model.layers.0.self_attn.q_proj", tensors(models[0].path)
    low, high = (parts[f"base_model.model.{name}.lora_{part}.weight"] for part in "AB")
    moved = after[f"{name}.weight"] - before[f"{name}.weight"]
    scale = study.profile.preference.alpha / study.profile.preference.rank
    assert torch.allclose(moved.float(), scale * high @ low, atol=1e-2 if moved.dtype != torch.float32 else 1e-5)
    assert moved.abs().max() > 0


@pytest.mark.parametrize("trained", ["full"], indirect=True)
def test_the_command_trains_compares_and_writes_or_says_in_a_sentence_what_cannot_be_trained(trained, monkeypatch):
    study, *_ = trained
    monkeypatch.setattr("lib.studies.open_study", lambda **_: study)
    done = CliRunner().invoke(commands, ["train-preference", "--fold", "1"])
    assert (done.exit_code, "untuned" in done.output) == (0, True), done.output
    found = compared_before(study, study.profile, 1)
    assert set(found["context"]) == {"oracle-page", "bm25"}
    assert found.set_index("metric")["n"]["token_f1"].tolist() == [len(folds(study)[1].test)] * 2
    assert compared_before(study, study.profile, None).empty
    study = study.with_changes({"generator.backend": "llama.cpp"})
    done = CliRunner().invoke(commands, ["train-preference"])
    assert (done.exit_code, done.output.startswith("error: the generator")) == (1, True)
