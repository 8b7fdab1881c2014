"""One ranker on several question sets: shares are chosen, each question is scored by the fold that tests it."""

import json

import numpy as np
import pandas as pd
import pytest

from extras.ahead.train import train_general
from lib import runs
from lib.ahead import general
from lib.ahead.general import (
    SHARES,
    WHOLE,
    WITH_KINDS,
    certainty,
    columns_of,
    mixed,
    nested_scores,
)
from lib.ahead.pool import Pool
from lib.ahead.sets import recalls

from .conftest import COMPANIES


class Learnt:
    """A booster that scores by the feature ``window``."""

    def feature_name(self) -> list[str]:
        return ["window"]

    def predict(self, table: pd.DataFrame, num_threads: int) -> np.ndarray:
        assert num_threads == 1
        return table["window"].to_numpy(float)


def test_share_zero_is_the_untrained_sum_and_one_the_learnt_order(union):
    recall = {
        share: recalls(union, mixed(Learnt(), share, union.pool), 1)["page_recall"].tolist()
        for share in SHARES
    }
    assert recall[0.0] == [1, 1, 0, 0]
    assert recall[1.0] == [1, 1, 1, 1]


def test_inner_folds_choose_the_learnt_order_where_it_is_better_and_else_none(union, monkeypatch):
    monkeypatch.setattr(general, "DEPTH", 1)
    monkeypatch.setattr(general.recalls, "__defaults__", (1,))
    monkeypatch.setattr(general, "fit", lambda *_: Learnt())
    everyone, sets = {"ash", "birch", "cedar"}, ("own", "other")
    assert general.choose(None, union, everyone, sets, WHOLE) == 0.8
    union.pool.table["window"] = -union.pool.table["window"]
    assert general.choose(None, union, everyone, sets, WHOLE) == 0.0


def test_variants_read_their_own_columns():
    table = pd.DataFrame(columns=["plain", "words", "words_gap", "core", "kinds_fit", "page_rows"])
    assert columns_of(WITH_KINDS, table) == list(table)
    assert columns_of(WHOLE, table) == ["plain", "words", "words_gap", "core", "page_rows"]
    assert columns_of("without words", table) == ["plain", "core", "page_rows"]
    assert columns_of("without encoder", table) == ["plain", "words", "words_gap", "page_rows"]


def test_each_question_is_scored_by_the_fold_that_tests_its_company(union):
    rankers = [({"ash", "birch"}, Learnt(), 1.0), ({"cedar"}, Learnt(), 0.0)]
    scores = nested_scores(rankers, np.array(COMPANIES), union.pool)
    assert recalls(union, scores, 1)["page_recall"].tolist() == [1, 1, 1, 0]


def test_certainty_counts_the_views_that_agree_with_the_first_page():
    table = pd.DataFrame({"words": [1.0, 0], "pairs": [0.0, 1], "identity_company_named": 0.9})
    pool = Pool(np.zeros(2, int), np.arange(2), table)
    sure = certainty(None, pool, np.array([3.0, 1.0]))
    assert sure.to_dict("records") == [{"row": 0, "company": 0.9, "agree": 1, "lead": pytest.approx(2.0)}]


@pytest.fixture
def saved(study, tmp_path, monkeypatch):
    """Rankers trained on the study's own questions, saved where a search looks for them."""
    monkeypatch.setattr(general, "SAVED", tmp_path / "rankers")
    return train_general(study, tmp_path / "rankers")


def test_saved_rankers_say_what_they_were_trained_on(study, saved):
    assert saved["question_ids"] == study.questions["question_id"].tolist()
    assert saved["sets"] == {"words": 3}
    assert saved["share"] in SHARES
    assert not any(name.startswith("kinds") for name in general.saved_ranker(False)[1].feature_name())
    assert any(name.startswith("kinds") for name in general.saved_ranker(True)[1].feature_name())


def test_questions_of_the_training_are_answered_by_the_untrained_sum_where_companies_are_few(study, saved):
    pool = general.pool_of(study, study.questions["question"].tolist())
    assert np.array_equal(general.pool_scores(study, pool), pool.table["plain"])


@pytest.mark.parametrize("options", [{}, {"kinds": True}, {"trained": False}])
def test_other_questions_are_searched_and_every_page_comes_once(study, saved, options):
    for path in general.SAVED.glob("*.json"):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"question_ids": ["of another set"]}))
    candidates = study.candidates("standard")
    run = runs.rank(general.score(study, candidates, **options), study.questions, study.chunks, 5)
    top = run[run["rank"] == 1].set_index("question_id")
    assert top["doc_name"].tolist() == study.questions["doc_name"].tolist()
    assert not run.duplicated(["question_id", "doc_name", "page"]).any()
    assert general.inputs(study, **options)
