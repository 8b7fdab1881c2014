"""Metrics of answers beside labels by people: reading them, choosing in folds, and why the two differ."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lib.analysis import calibration
from lib.analysis.calibration import ALL, NUMBER, TEXT, YES_NO
from lib.data.labelled import REFUSED, RIGHT, WRONG, labelled_answers, labels_digest
from lib.profile import Settings
from lib.schema import DatasetError
from lib.store import Store
from tests.conftest import write_lines
from tests.made import make_study

MILLIONS = "What were the sales, in USD millions?"
QUESTIONS = {"question_id": ["q1", "q2", "q3"], "question": [MILLIONS, "Did sales grow?", "What was the margin?"]}
QUESTIONS |= {"answer": ["$1577.00", "No, they fell.", "2.5%"], "company": ["Acme", "Bolt", "Bolt"]}
QUESTIONS = pd.DataFrame(QUESTIONS)
ANSWERS = {
    "first": [("q1", "Sales were $1,577 million.", RIGHT), ("q2", "No.", RIGHT), ("q3", "2.5%", RIGHT)],
    "second": [("q1", "Sales were $1,577 million.", WRONG), ("q2", "Yes.", WRONG), ("q3", "1.5%", WRONG)],
    "third": [("q1", "It is not stated in the filing. Sales were $1,577 million.", RIGHT), ("q2", None, REFUSED)],
}


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Three questions of two companies, and the answers of three systems; no models."""
    monkeypatch.setattr(calibration, "weights_hash", lambda weights: weights)
    monkeypatch.setattr(calibration, "encode_texts", lambda study, stage, texts: np.eye(len(texts)))
    monkeypatch.setattr(calibration, "_bert_scores", lambda study, table: np.zeros(len(table)))
    (tmp_path / "results").mkdir()
    for system, rows in ANSWERS.items():
        names = ("financebench_id", "model_answer", "label")
        lines = [dict(zip(names, row, strict=True)) for row in [*rows, ("other", "No.", RIGHT)]]
        write_lines(tmp_path / "results" / f"{system}.jsonl", lines)
    dataset = SimpleNamespace(root=tmp_path, has_text=True, questions=QUESTIONS, fingerprint="f")
    made = make_study(dataset=dataset, questions=QUESTIONS, store=Store(tmp_path / "store", on_use=lambda *_: None))
    made.profile["embedder"] = Settings(weights="tiny")
    return made


def test_labelled_answers_are_those_of_the_dataset_s_questions_and_every_line_that_is_none_is_named(study):
    table = labelled_answers(study.dataset)
    assert table["question_id"].tolist() == ["q1", "q2", "q3", "q1", "q2", "q3", "q1", "q2"]
    assert table.iloc[7].tolist() == ["third", "q2", "", REFUSED]
    before, third = labels_digest(study.dataset), study.dataset.root / "results" / "third.jsonl"
    broken = [{"financebench_id": "q1", "model_answer": "1", "label": "Good"}, {"label": RIGHT}]
    third.write_text("\n".join(map(json.dumps, broken)))
    with pytest.raises(DatasetError, match=r"(?s)third.jsonl line 1: .*third.jsonl line 2: "):
        labelled_answers(study.dataset)
    third.unlink()
    assert labels_digest(study.dataset) not in (before, "")
    assert labels_digest(SimpleNamespace(root=study.dataset.root / "data", has_text=True)) == ""


def test_kinds_of_gold_answers():
    kinds = {"$1577.00": NUMBER, "2.5%": NUMBER, "Yes": YES_NO, "No, it fell.": YES_NO, "Northern sales": TEXT}
    assert {text: calibration.kind_of(text, MILLIONS) for text in kinds} == kinds


def test_kappas_by_hand_and_a_choice_is_made_without_the_fold_that_it_is_judged_on():
    is_right = np.array([1, 1, 0, 0], bool)
    said = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0], [0, 0, 1, 1]], bool)
    # the third agrees on 3 of 4; chance is 3/4 * 1/2 + 1/4 * 1/2 = 1/2
    assert calibration.kappas(said, is_right) == pytest.approx([1, 0, (0.75 - 0.5) / (1 - 0.5), -1])
    is_right = np.array([1, 0, 1, 0], bool)
    # the first choice is right on a alone, the second on b alone: each is chosen where it has seen its group
    said = np.array([[1, 0, 0, 1], [0, 1, 1, 0]], bool)
    assert calibration.held_out(said, is_right, pd.Series(list("aabb")), 0).tolist() == [False, True, False, True]


def test_metrics_agree_with_people_as_far_as_counted(study):
    agreed = calibration.agreement(study).set_index(["metric", "kind"])
    assert agreed.loc[("numeric_match", ALL), "n"] == 8
    loose = agreed.loc[("numeric_match", NUMBER)]  # right are the first, third and fourth of five; it takes four so
    assert loose[["n", "choice", "precision", "recall"]].tolist() == [5, "–", 3 / 4, 1]
    assert loose["kappa"] == pytest.approx((4 / 5 - 14 / 25) / (1 - 14 / 25))  # chance: 4/5 * 3/5 + 1/5 * 2/5
    assert ("yes_or_no", NUMBER) not in agreed.index
    assert ("yes_or_no", YES_NO) not in agreed.index  # of one company, so nothing could be held out


def test_where_the_measure_and_people_differ_has_a_reason_and_systems_are_by_both(study):
    found = [[label, calibration.BOTH_WAYS, 1] for label in (RIGHT, WRONG)]
    assert calibration.apart(study).to_numpy().tolist() == found
    reasons = [
        calibration.reason(SimpleNamespace(is_disputed=False, label=WRONG, prediction=text, measure=measure))
        for text, measure in (
            ("It is 7.", True),
            ("It is 7.", False),
            ("It is not stated in the filing. It is 7.", False),
        )
    ]
    assert len({*reasons, calibration.BOTH_WAYS}) == 4
    found = calibration.systems(study).set_index(["system", "kind"])
    assert found.loc[("third", NUMBER)].tolist() == [1, 1, 0, 0]  # the measure takes it for a refusal
    assert found.loc[("third", ALL), ["n", "people", "declined"]].tolist() == [2, 0.5, 0.5]


def test_without_the_labels_there_is_what_was_published_or_nothing(study):
    agreed = calibration.agreement(study)
    study.dataset.has_text = False
    pd.testing.assert_frame_equal(calibration.agreement(study), agreed)
    study.dataset.fingerprint = "another"
    assert calibration.agreement(study).empty
