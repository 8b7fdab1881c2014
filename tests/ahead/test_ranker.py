"""One ranker on several question sets: nothing of a tested company is read, sets weigh the same, shares are chosen."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lib.ahead import ranker, sets
from lib.ahead.pool import Pool
from lib.ahead.ranker import IN_INDEX, WHOLE, WITH_KINDS, Ranker, mixed, nested_scores, per_question, without
from lib.ahead.sets import Union, fold_numbers, recalls, training_pairs
from lib.folds import LeakError
from lib.profile import load_profile

SETTINGS = load_profile("default").replaced({"ahead.n_trees": 5, "ahead.min_pages": 5}).ahead
STUDY = SimpleNamespace(profile=SimpleNamespace(ahead=SETTINGS))
LEARNT = SimpleNamespace(  # scores by the feature ``window``
    feature_name=lambda: ["window"], predict=lambda table, num_threads: table["window"].to_numpy(float)
)


def test_sets_weigh_the_same_and_training_reads_questions_and_pages_of_its_companies_alone(union, monkeypatch):
    assert union.weights.tolist() == pytest.approx([4 / 6, 4 / 6, 4 / 6, 2])
    numbers = fold_numbers(union.questions, 2, 13)
    assert set(numbers) == {"ash", "birch", "cedar"}
    assert numbers["birch"] != numbers["ash"]
    kept = training_pairs(union, {"ash", "cedar"}, ("own", "other"))
    pairs = zip(union.pool.rows[kept].tolist(), union.pool.columns[kept].tolist(), strict=True)
    assert set(pairs) == {(0, 0), (0, 2), (1, 0), (1, 2), (3, 0), (3, 2)}
    assert set(union.pool.rows[training_pairs(union, {"ash", "cedar"}, ("own",))]) == {0, 1}
    monkeypatch.setattr(sets.np, "isin", lambda values, _: np.ones(len(values), bool))
    with pytest.raises(LeakError, match="birch"):
        training_pairs(union, {"ash", "cedar"}, ("own", "other"))


def test_share_zero_is_the_untrained_sum_and_one_the_learnt_order_and_the_better_is_chosen(union, monkeypatch):
    assert per_question(np.array([1.0, 3.0, 10.0, 10.0]), np.array([4, 4, 7, 7])) == pytest.approx([-1, 1, 0, 0])
    for share, recall in ((0.0, [1, 1, 0, 0]), (1.0, [1, 1, 1, 1])):
        assert recalls(union, mixed(LEARNT, share, union.pool), 1)["page_recall"].tolist() == recall
    rankers = [Ranker({"ash", "birch"}, LEARNT, 1.0), Ranker({"cedar"}, LEARNT, 0.0)]
    scores = nested_scores(rankers, union.questions["company"].to_numpy(), union.pool)  # by the fold of its company
    assert recalls(union, scores, 1)["page_recall"].tolist() == [1, 1, 1, 0]
    monkeypatch.setattr(recalls, "__defaults__", (1,))
    monkeypatch.setattr(ranker, "fit", lambda *_: LEARNT)
    given = STUDY, union, {"ash", "birch", "cedar"}, ("own", "other"), WHOLE
    assert ranker.choose(*given) == 0.8
    union.pool.table["window"] = -union.pool.table["window"]
    assert ranker.choose(*given) == 0.0


def test_variants_read_their_own_columns():
    table = pd.DataFrame(columns=["plain", "words", "words_gap", "core", "heads", "kinds_fit", "page_rows"])
    lacking = {WITH_KINDS: set(), IN_INDEX: {"heads"}, without("words"): {"words", "words_gap", "kinds_fit"}}
    for variant, left_out in (lacking | {without("encoder"): {"core", "heads", "kinds_fit"}}).items():
        assert variant.columns(table) == [name for name in table if name not in left_out], variant.name


def test_trees_find_what_decides_and_the_same_data_gives_the_same_trees():
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(240, 3)), columns=["window", "words", "page_place"])
    rows, columns = np.divmod(np.arange(240), 12)
    gold = columns == table["window"].to_numpy().reshape(20, 12).argmax(axis=1)[rows]
    asked = pd.DataFrame({"company": ["ash"] * 20, "set": "own"})
    union = Union(asked, Pool(rows, columns, table, gold), np.ones(20), np.array(["ash"] * 12), gold)
    first, again = (ranker.fit(STUDY, union, {"ash"}, ("own",), WHOLE) for _ in range(2))
    assert first.feature_name()[first.feature_importance("gain").argmax()] == "window"
    assert first.model_to_string() == again.model_to_string()
