"""The ranker on several question sets, the order of chunks, and a whole search on filings of invented companies."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from extras.ahead.train import SAVED_VARIANTS, train
from lib import runs
from lib.ahead import ranker, search, sets
from lib.ahead.pool import Pool
from lib.ahead.views import study_pool
from lib.files import digest_of_file
from lib.folds import LeakError
from lib.profile import load_profile

SETTINGS = load_profile("default").replaced({"ahead.n_trees": 5, "ahead.min_pages": 5}).ahead
STUDY = SimpleNamespace(profile=SimpleNamespace(ahead=SETTINGS))
LEARNT = SimpleNamespace(  # scores by the feature ``span``
    feature_name=lambda: ["span"], predict=lambda table, num_threads: table["span"].to_numpy(float)
)


def test_sets_weigh_the_same_and_training_reads_questions_and_pages_of_its_companies_alone(union):
    assert union.weights.tolist() == pytest.approx([4 / 6, 4 / 6, 4 / 6, 2])
    numbers = sets.fold_numbers(union.questions, 2, 13)
    assert set(numbers) == {"ash", "birch", "cedar"}
    assert numbers["birch"] != numbers["ash"]
    is_read = sets.training_pairs(union, {"ash", "cedar"}, ("own", "other"))
    pairs = zip(union.pool.rows[is_read].tolist(), union.pool.columns[is_read].tolist(), strict=True)
    assert set(pairs) == {(0, 0), (0, 2), (1, 0), (1, 2), (3, 0), (3, 2)}
    assert set(union.pool.rows[sets.training_pairs(union, {"ash", "cedar"}, ("own",))]) == {0, 1}
    strict = sets.training_pairs(union, {"ash", "cedar"}, ("own", "other"), "template")
    assert set(union.pool.rows[strict]) == {1, 3}  # 0 has a twin about birch
    union.copies[[1, 2], [2, 1]] = True
    with pytest.raises(LeakError, match="^q1: nearly one text"):
        sets.training_pairs(union, {"ash", "cedar"}, ("own", "other"))
    assert sets.training_pairs(union, {"ash", "birch"}, ("own", "other")).any(), "no copy is held out"


def test_copies_are_nearly_one_text_or_have_gold_pages_of_one_text():
    asked = ["What was the net income of Ash in 2021?", "What was the net income of Ash in 2021?!", "Who audits Birch?"]
    questions = pd.DataFrame({"question": [*asked, "Who leads Cedar?"], "doc_name": ["A", "B", "B", "C"]})
    questions["gold_pages"] = [[0], [0], [1], [0, 1]]
    pages = {("A", 0): "one", ("B", 0): "two", ("B", 1): "same", ("C", 0): "", ("C", 1): "same"}
    found = sets.copies(questions, pages)
    assert {(int(a), int(b)) for a, b in np.argwhere(np.triu(found, 1))} == {(0, 1), (2, 3)}


def test_share_zero_is_the_untrained_sum_and_one_the_learnt_order(union):
    values, rows = np.array([1.0, 3.0, 10.0, 10.0]), np.array([4, 4, 7, 7])
    assert ranker.standardised_by_question(values, rows) == pytest.approx([-1, 1, 0, 0])
    for share, recall in ((0.0, [1, 1, 0, 0]), (1.0, [1, 1, 1, 1])):
        assert sets.recalls(union, ranker.mixed(LEARNT, share, union.pool), 1)["page_recall"].tolist() == recall
    rankers = [ranker.Ranker({"ash", "birch"}, LEARNT, 1.0), ranker.Ranker({"cedar"}, LEARNT, 0.0)]
    scores = ranker.nested_scores(rankers, union.questions["company"].to_numpy(), union.pool)  # each by its fold
    assert sets.recalls(union, scores, 1)["page_recall"].tolist() == [1, 1, 1, 0]


def test_a_variant_reads_its_own_columns():
    views = {
        "plain": ["plain"],
        "words": ["words", "words_gap"],
        "span": ["span"],
        "head": ["head"],
        "kinds": ["kinds"],
    }
    assert ranker.WITH_KINDS.columns(views) == ["plain", "words", "words_gap", "span", "head", "kinds"]
    assert ranker.without("words").columns(views) == ["plain", "span", "head"]
    assert ranker.without("encoder").columns(views) == ["plain", "words", "words_gap"]


def test_trees_find_what_decides_and_the_same_data_gives_the_same_trees():
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(240, 3)), columns=["span", "words", "page_place"])
    rows, columns = np.divmod(np.arange(240), 12)
    gold = columns == table["span"].to_numpy().reshape(20, 12).argmax(axis=1)[rows]
    asked = pd.DataFrame({"company": ["ash"] * 20, "set": "own", "question_id": [f"q{row}" for row in range(20)]})
    views = {"span": ["span"], "words": ["words"], "page": ["page_place"]}
    pool, pages = Pool(rows, columns, table, gold, views), np.array(["ash"] * 12)
    union = sets.Union(asked, pool, gold, np.ones(20), pages, gold, gold, np.eye(20, dtype=bool))
    first, again = (ranker.fit(STUDY, union, {"ash"}, ("own",), ranker.WHOLE) for _ in range(2))
    assert first.feature_name()[first.feature_importance("gain").argmax()] == "span"
    assert first.model_to_string() == again.model_to_string()


def test_best_chunk_of_every_page_comes_before_second_chunks_and_others_are_not_scored():
    pool = Pool(np.array([0, 0, 1]), np.array([0, 1, 0]), pd.DataFrame())
    chunk_scores = np.array([[0.1, 0.2, 0.9, 0.8, 1.0], [0.1, -np.inf, 0.9, 0.8, 1.0]])
    found = search.spread_pages(pool, -1.0 * pool.columns, chunk_scores, np.array([0, 0, 1, 1, 2]))
    assert found.tolist() == [[-2, 0, -1, -3, -np.inf], [0, *[-np.inf] * 4]]


@pytest.mark.parametrize("options", [{}, {"kinds": True, "covers": True}, {"trained": False}])
def test_other_questions_are_searched_with_the_saved_ranker_and_every_page_comes_once(study, options):
    assert search.scored_by(study) == "saved"
    run = runs.rank(search.score(study, study.candidates("standard"), **options), study.questions, study.chunks, 5)
    assert run.loc[run["rank"] == 1, "doc_name"].tolist() == study.questions["doc_name"].tolist()
    assert not run.duplicated(["question_id", "doc_name", "page"]).any()
    candidates = study.candidates("oracle-document")
    assert np.array_equal(np.isfinite(search.score(study, candidates, **options)), candidates)


def test_the_hand_written_kinds_bring_the_statements_first(study):
    run = runs.rank(search.score(study, study.candidates("standard"), kinds=True), study.questions, study.chunks, 2)
    pages = run.groupby("question_id")["page"].agg(list)
    assert pages["q1"][0] == 1
    assert 3 in pages["q2"]


def test_rankers_that_are_saved_say_what_they_learnt_from_and_score_nothing_of_it(study, tmp_path, monkeypatch):
    monkeypatch.setattr(search, "SAVED", tmp_path / "rankers")
    saved = train(study, search.SAVED)
    assert (saved["sets"], saved["share"]) == ({"words": 3}, study.profile.ahead.share)
    learnt_from = json.loads((search.SAVED / "kinds.json").read_text())["question_ids"]
    assert learnt_from == study.questions["question_id"].tolist()
    names = (search.saved_ranker(name).booster.feature_name() for name in SAVED_VARIANTS)
    read = [{feature.partition("_")[0] for feature in features} for features in names]
    assert dict(zip(SAVED_VARIANTS, read, strict=True))["kinds"] - set.intersection(*read) == {"kinds"}
    pool = study_pool(study, study.questions["question"].tolist())  # of too few companies for folds
    assert np.array_equal(search.pool_scores(study, pool), pool.table["plain"])


@pytest.fixture
def unseen(study) -> SimpleNamespace:
    """A study of the same questions, with ids that no ranker learnt from."""
    ids = [f"my-{number}" for number in range(len(study.questions))]
    about = {"dataset": study.dataset, "has_text": True, "memo": lambda key, make: make()}
    return SimpleNamespace(questions=study.questions.assign(question_id=ids), **about)


@pytest.mark.parametrize(
    ("changes", "scored_by"),
    [
        ({}, "saved"),
        ({"doc_name": ["GLIMMERFEN_2021_10K", "3M_2018_10K", "OSKARVALE_2021_10K"]}, "untrained"),
        ({"company": ["Glimmerfen", "Oskarvale", "The Coca-Cola Company"]}, "untrained"),
        ({"company": "AMAZON.COM, INC."}, "untrained"),
        ({"company": ["Adobestone", "Nikea", "New 3M"]}, "saved"),
    ],
)
def test_the_saved_ranker_is_withheld_from_filings_and_companies_that_it_learnt_from(unseen, changes, scored_by):
    unseen.questions = unseen.questions.assign(**changes)
    assert search.scored_by(unseen) == scored_by


@pytest.fixture
def learnt(unseen, tmp_path, monkeypatch):
    """Write what the saved rankers learnt from, without ids: a question of another filing and its company."""
    monkeypatch.setattr(search, "SAVED", tmp_path)
    (tmp_path / "kinds.json").write_text('{"question_ids": []}')
    question = "what ARE glimmerfen's total-assets, in FY2021"
    lists = search.learnt_from(pd.DataFrame({"question": [question], "doc_name": "A", "company": "A"}))
    return lambda **changes: (tmp_path / search.LEARNT_FROM).write_text(json.dumps(lists | changes))


def test_the_saved_ranker_is_withheld_from_questions_that_it_learnt_from_in_other_letters(unseen, learnt):
    assert search.scored_by(unseen) == "saved"  # without a list
    learnt()
    assert search.scored_by(unseen) == "untrained"
    learnt(questions=[])
    assert search.scored_by(unseen) == "saved"


def test_the_saved_ranker_is_withheld_from_the_bytes_of_filings_whatever_their_names(unseen, learnt, monkeypatch):
    learnt(questions=[])
    digest = digest_of_file(unseen.dataset.source("GLIMMERFEN_2021_10K"))
    monkeypatch.setattr(search, "checksums", lambda: {"pdfs/X.pdf": digest})
    assert search.scored_by(unseen) == "untrained"


def test_a_search_from_which_the_saved_ranker_is_withheld_has_a_key_of_its_own(study, monkeypatch):
    own, untrained = search.inputs(study), search.inputs(study, trained=False)
    monkeypatch.setattr(search, "is_known", lambda study: True)
    *same, withheld = search.inputs(study)
    assert (same, withheld.split()[0], search.inputs(study, trained=False)) == (own, "known", untrained)


def test_what_the_saved_rankers_learnt_from_is_listed_beside_them():
    listed = json.loads((search.SAVED / search.LEARNT_FROM).read_text())
    record = json.loads((search.SAVED / "kinds.json").read_text())
    assert (len(listed["questions"]), len(listed["companies"])) == (record["n_questions"], record["n_companies"])
    assert len(listed["filings"]) == 84
