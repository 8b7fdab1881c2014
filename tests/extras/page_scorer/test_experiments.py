"""Trainings by other recipes: what they may read, what is measured of them, and chance where nothing can be known."""

import numpy as np
import pandas as pd
import pytest

from extras.page_scorer import experiments
from extras.page_scorer.experiments import cell_ranks, fold_ranks, train_cells
from lib import silver
from lib.folds import LeakError
from lib.metrics.retrieval import doc_recall, page_recall
from lib.page_scorer.experiments import (
    COLUMNS,
    ROUTES,
    cells,
    chosen_elsewhere,
    measured_cells,
    recalls,
    recipe_of,
)
from lib.page_scorer.full import scores_entry
from lib.page_scorer.pages import folds, load_records, load_scores, page_texts
from lib.page_scorer.reading import Corpus, fold_reading, readable
from lib.page_scorer.search import page_run, scorer_scores
from lib.words import StudyError

RECIPE = {
    "epochs": 2,
    "learning_rate": 1e-3,
    "batch_size": 4,
    "train_precision": "float32",
    "frozen_layers": 1,
}


def small(study, **changes):
    """A study whose experiment takes seconds."""
    given = {f"page_scorer_experiments.recipe.{name}": value for name, value in (RECIPE | changes).items()}
    grid = {"tokens": [32], "negatives": ["batch", "all"], "seeds": [1, 2], "curve": [0, 1, 2]}
    return study.with_changes(
        given | {f"page_scorer_experiments.{name}": value for name, value in grid.items()}
    )


@pytest.fixture(scope="module")
def study(make_study):
    return small(make_study())


@pytest.fixture(scope="module")
def ranks(study) -> pd.DataFrame:
    return cell_ranks(study, "32-filing-header", 1)


def write_silver(study, questions: list[tuple[str, str, list[int]]], company: str = "gum") -> None:
    """Silver questions (question, doc_name, gold pages) about filings of a company, of four pages each."""
    folder, names = silver.folder(study), sorted({doc_name for _, doc_name, _ in questions})
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        (f"s{n}", text, "1", "lookup", name, company, gold) for n, (text, name, gold) in enumerate(questions)
    ]
    pd.DataFrame(rows, columns=silver.COLUMNS).to_parquet(folder / "questions.parquet")
    about = {"company": company, "sector": "Tools", "doc_type": "10-K", "doc_period": 2019}
    pd.DataFrame([{"doc_name": name} | about for name in names]).to_parquet(folder / "filings.parquet")
    pages = [(name, page, f"{name} page {page}") for name in names for page in range(4)]
    pd.DataFrame(pages, columns=["doc_name", "page", "text"]).to_parquet(folder / "pages.parquet")


def test_a_cells_name_says_its_recipe(study):
    assert cells(study) == ["32-batch", "32-batch-header", "32-all", "32-all-header"]
    recipe = recipe_of(study, "64-all-header-both", 7)
    assert (recipe.max_tokens, recipe.negatives, recipe.header, recipe.seed) == (64, "all", True, 7)
    assert recipe.sources == ("silver", "gold")
    assert recipe_of(study, "64-batch-full", 7).frozen_layers == 0
    for wrong in ("batch-64", "64", "64-all-headers"):
        with pytest.raises(StudyError, match=f"no cell '{wrong}': write tokens"):
            recipe_of(study, wrong, 7)


def test_every_question_has_ranks_by_every_route(study, ranks):
    last = ranks[(ranks["pool"] == "all") & (ranks["what"] == "page")]
    assert len(last) == 18 * len(ROUTES)
    assert last["epoch"].unique() == [2]
    curve = ranks[ranks["pool"] == "held-out"]
    assert curve["epoch"].unique().tolist() == [0, 1]
    assert ranks[ranks["what"] == "loss"].groupby("fold")["epoch"].agg(list).tolist() == [[1, 2]] * 3
    wide = ranks[ranks["what"] == "page"].pivot_table("value", ["question_id", "page", "epoch"], "route")
    assert (wide["filing"] <= 4).all()
    assert (wide["records"] <= 8).all()  # every question names its company, whose filings are two
    assert wide["none"].max() > 8


def test_recalls_are_those_of_a_ranking_of_pages(study, ranks, monkeypatch):
    seen = {}
    ranks_of = experiments._ranks

    def watched(study, fold, corpus, trainee, inputs, epoch, pool):
        if pool == "all":
            texts = range(len(corpus.texts))
            pages = trainee.encode(inputs, texts)[corpus.row]
            asked = study.questions["question"].iloc[list(fold.test)].tolist()
            seen[fold] = trainee.encode(trainee.inputs(asked), range(len(asked))) @ pages.T
        return ranks_of(study, fold, corpus, trainee, inputs, epoch, pool)

    monkeypatch.setattr(experiments, "_ranks", watched)
    fresh = cell_ranks(study, "32-batch-header", 2)
    scores = np.zeros((len(study.questions), len(study.pages)), np.float32)
    for fold, part in seen.items():
        scores[list(fold.test)] = part
    run = page_run(study, scores, study.candidates("standard"), 20)
    found = recalls(fresh[fresh["route"] == "none"], (1, 5))
    for metric in (page_recall, doc_recall):
        for k in (1, 5):
            ours = found[(found["metric"] == metric.__name__) & (found["k"] == k)].set_index("question_id")[
                "value"
            ]
            assert ours.to_dict() == metric(run, study.questions, k).to_dict()


def test_a_folds_recipe_is_chosen_on_the_other_folds():
    ranks = {"a": [1, 9, 9], "b": [9, 1, 1]}  # of the gold page of each fold's question
    rows = [
        (fold, 2, "all", "none", f"q{fold}", "page", 0, float(rank), cell, 1)
        for cell, of_folds in ranks.items()
        for fold, rank in enumerate(of_folds)
    ]
    frame = pd.DataFrame(rows, columns=[*COLUMNS, "cell", "seed"])
    chosen = chosen_elsewhere(frame, "none")
    assert chosen.set_index("fold")["cell"].to_dict() == {0: "b", 1: "a", 2: "a"}  # of equals the first
    assert chosen["value"].tolist() == [9, 9, 9]


def test_a_cell_is_stored_and_resumes_fold_by_fold(study, ranks, monkeypatch):
    assert not list(study.store.root.glob("page_scorer/experiments/folds/states-*"))
    first = fold_ranks(study, "32-all", 1, folds(study, "company")[0])
    trained = []
    train = experiments.train
    monkeypatch.setattr(experiments, "train", lambda *a, **o: trained.append(a[4]) or train(*a, **o))
    whole = cell_ranks(study, "32-all", 1)
    assert trained == ["fold 1 of 32-all, seed 1", "fold 2 of 32-all, seed 1"]
    pd.testing.assert_frame_equal(whole[whole["fold"] == 0].reset_index(drop=True), first)
    found = measured_cells(study, ["32-filing-header"])
    assert set(zip(found["cell"], found["seed"], strict=True)) >= {("32-all", 1), ("32-filing-header", 1)}
    assert ("32-all", 2) not in set(zip(found["cell"], found["seed"], strict=True))


def test_the_command_reports_a_line_per_cell_and_refuses_wrong_names_first(study, ranks):
    [line] = train_cells(study, ["32-filing-header"], [1])
    assert line.startswith("32-filing-header, seed 1: page recall by route: none @5 ")
    with pytest.raises(StudyError, match="no cell '32-none'"):
        next(train_cells(study, ["32-filing-header", "32-none"]))


def test_test_questions_are_read_after_their_folds_states_are_kept(study, monkeypatch):
    class ReadError(Exception):
        pass

    def refuse(*_):
        raise ReadError

    monkeypatch.setattr(experiments, "_ranks", refuse)
    with pytest.raises(ReadError):
        fold_ranks(study, "32-filing", 2, folds(study, "company")[1])
    [states] = study.store.root.glob("page_scorer/experiments/folds/states-*")
    assert sorted(path.name for path in states.glob("epoch-*")) == ["epoch-0.pt", "epoch-2.pt"]


def test_nothing_of_a_tested_company_is_read(study):
    recipe, fold = recipe_of(study, "32-all", 1), folds(study, "company")[0]
    corpus = Corpus(study, recipe)
    trainee = recipe.trainee(study.profile.embedder.weights)
    reading = fold_reading(study, fold, recipe, corpus, trainee)
    tested = set(corpus.row[corpus.pages["doc_name"].isin(fold.test_filings)])
    assert not tested & {row for phase in reading.phases for row in phase.pages}
    assert not tested & set(reading.known[0])
    assert len(reading.known[0]) == 32  # the pages of eight training filings


def test_a_page_with_the_text_of_a_test_questions_gold_page_is_no_negative(make_study):
    study = small(make_study())
    fold = folds(study, "company")[0]
    gold = study.questions.iloc[fold.test[0]]
    text = page_texts(study)[
        study.pages.index[(study.pages["doc_name"] == gold["doc_name"])][gold["gold_pages"][0]]
    ]
    corpus = Corpus(study, recipe_of(study, "32-all", 1))
    other = corpus.pages.index[corpus.pages["doc_name"].isin(fold.train_filings)][2]
    corpus.pages.loc[other, "text"] = text
    assert not readable(study, fold, corpus)[other]
    assert readable(study, fold, corpus).sum() == 31


def test_hard_negatives_are_of_the_filing_and_of_the_companys_other_year(study):
    recipe, fold = recipe_of(study, "32-filing", 1), folds(study, "company")[0]
    corpus = Corpus(study, recipe)
    [phase] = fold_reading(study, fold, recipe, corpus, recipe.trainee(study.profile.embedder.weights)).phases
    doc_names = corpus.pages.set_index(corpus.row)["doc_name"]
    for page, gold, drawn in zip(phase.pages, phase.gold, phase.negatives, strict=True):
        own, names = doc_names[page], doc_names[drawn].tolist()
        assert not gold & set(drawn)
        assert names.count(own) == 4 - len(gold)
        assert len(names) == names.count(own) + 1
        assert {name.split("_")[0] for name in names} == {own.split("_")[0]}


def test_silver_questions_are_trained_on_before_gold_ones(study):
    write_silver(study, [("What did gum sell?", "gum_2019", [1]), ("What did gum owe?", "gum_2019", [2, 3])])
    recipe, fold = recipe_of(study, "32-all-header-both", 1), folds(study, "company")[0]
    corpus = Corpus(study, recipe)
    reading = fold_reading(study, fold, recipe, corpus, recipe.trainee(study.profile.embedder.weights))
    assert [len(phase.questions) for phase in reading.phases] == [3, 12]
    assert [phase.epochs for phase in reading.phases] == [1, 2]
    assert corpus.texts[reading.phases[0].pages[0]] == "gum 2019 10-K. gum_2019 page 1"
    ranks = fold_ranks(study, "32-all-header-both", 1, fold)
    assert ranks.loc[ranks["what"] == "loss", "epoch"].tolist() == [1, 2, 3]
    assert ranks["epoch"].max() == 3
    alone = fold_ranks(study, "32-batch-silver", 1, fold)
    assert alone.loc[alone["what"] == "page", "epoch"].unique().tolist() == [0, 1]


def test_silver_questions_about_a_tested_company_are_left_out_and_copies_refused(make_study):
    study = small(make_study())
    fold = folds(study, "company")[0]
    tested = study.questions.iloc[fold.test[0]]
    write_silver(study, [("What did it sell?", "other_2019", [1])], company=tested["company"].title())
    recipe = recipe_of(study, "32-batch-silver", 1)
    with pytest.raises(StudyError, match="leaves no silver question"):
        fold_reading(study, fold, recipe, Corpus(study, recipe), None)
    write_silver(study, [(tested["question"].upper(), "gum_2019", [1])])
    with pytest.raises(LeakError, match="near copy in training: .*; training was not started"):
        fold_ranks(study, "32-batch-silver", 1, folds(study, "company")[0])


@pytest.mark.parametrize("cell", ["32-all-header", "32-filing-full"])
def test_what_cannot_be_known_gives_chance(make_study, cell):
    """All texts are random letters: within its filing of four pages a gold page has mean rank 2.5, trained or not."""
    study = small(make_study(), epochs=6)
    ranks = cell_ranks(study, cell, 2)
    own = ranks[(ranks["route"] == "filing") & (ranks["what"] == "page")]
    assert abs(own["value"].mean() - 2.5) < 3 * 1.12 / len(own) ** 0.5


def test_the_best_recipe_is_scored_in_folds_as_the_published_one(make_study):
    study = make_study()
    best = dict(study.profile.page_scorer) | {
        "negatives": "all",
        "n_negatives": 2,
        "header": True,
        "frozen_layers": 1,
    }
    study = study._copy(profile=study.profile.updated({"page_scorer_best": best}), _memo={})
    scores = scorer_scores(study, "best")
    entry = scores_entry(study, "company", "page_scorer_best")
    assert (scores == load_scores(study, entry)).all()
    assert entry.stage == "page_scorer_best/scores/company"
    assert [record["fold"] for record in load_records(entry)] == [0, 1, 2]
    assert (study.outputs / "folds/page_scorer_best-company.json").is_file()
