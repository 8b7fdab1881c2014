"""What only a maintainer's commands train: folds alone, and the mistakes on the fine-tuned scorer."""

import pytest

from extras.page_scorer import mistakes
from extras.page_scorer.train import train_folds
from lib.analysis.mistakes import MISTAKES
from lib.analysis.page_scorer import MISTAKE, measured_mistakes
from lib.page_scorer.pages import folds
from lib.profile import Settings


@pytest.fixture(scope="module")
def study(make_study):
    return make_study(epochs=1, n_folds=2)


def test_every_mistake_is_measured_and_found_by_the_chapter(study):
    assert measured_mistakes(study, "full", 3) is None
    found = mistakes.train_mistakes(study, 3)
    assert list(found["part"].str.removeprefix(MISTAKE).unique()) == list(MISTAKES)
    assert found["value"].between(0, 1).all()
    assert measured_mistakes(study, "full", 3).equals(found)


def test_folds_are_trained_one_by_one_or_all(study):
    train_folds(study, ["filing"], number=0)
    assert not list(study.store.root.glob("page_scorer/scores/filing/*"))
    train_folds(study, ["filing"])
    assert (study.outputs / "folds/page_scorer-filing.json").is_file()


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_the_best_epoch_on_the_test_fold_is_kept(make_study, monkeypatch, precision):
    study, seen = make_study(train_precision=precision), []

    class Watched(mistakes.KeepBest):
        def on_epoch_end(self, args, state, control, **given):
            super().on_epoch_end(args, state, control, **given)
            seen.append((*self.best[:2], round(state.epoch)))

    monkeypatch.setattr(mistakes, "KeepBest", Watched)
    mistakes.train_with(study, folds(study, "company")[0], "epoch")
    epoch, mrr, last = seen[-1]
    assert 1 <= epoch <= last == 2
    assert 0 < mrr <= 1
    batches = list(mistakes.RepeatedBatches(20, Settings(batch_size=16, seed=0)))  # another mistake's, with pairs twice
    assert [len(batch) for batch in batches] == [16, 16]
    assert any(len(set(batch)) < len(batch) for batch in batches)
