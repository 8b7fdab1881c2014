"""Forms of BM25: the published ones, and other texts than the question."""

import numpy as np
import pytest

from lib.analysis import experiments
from lib.analysis.experiments import ASKED, EVERY, VARIANTS, bm25_variants
from lib.retrievers import bm25
from lib.show.tables import variants_table


@pytest.fixture(scope="module")
def study(make_study):
    return make_study()


def test_every_form_is_measured_under_both_conditions_for_all_questions_and_each_type(study):
    found = bm25_variants(study)
    types = {EVERY, *study.questions["question_type"]}
    assert len(found) == (len(VARIANTS) + len(ASKED)) * 2 * len(types)
    assert set(found["variant"]) == VARIANTS.keys() | ASKED.keys()
    of_all = found[found["question_type"] == EVERY]
    assert (of_all["n"] == len(study.questions)).all()
    assert (of_all.loc[of_all["condition"] == "oracle-document", "doc_recall"] == 1).all()
    assert len(variants_table(found)) == len(VARIANTS) + len(ASKED)


def test_another_text_than_the_question_is_searched_by_the_row_bm25(study, monkeypatch):
    texts = {name: [f"{name} {text}" for text in study.questions["question"]] for name in ASKED}
    for name in ASKED:
        monkeypatch.setattr(experiments, name, lambda text, name=name: f"{name} {text}")
    searched, real = [], bm25.text_scores

    def scores(model, asked):
        searched.append((list(asked), model.tokens))
        return real(model, asked)

    monkeypatch.setattr(bm25, "text_scores", scores)
    monkeypatch.setattr(study.store, "kept", lambda stage, params, make, *rest, **more: make())
    bm25_variants(study)
    assert [asked for asked, _ in searched[-len(ASKED) :]] == [*texts.values()]
    assert {tokens for _, tokens in searched[-len(ASKED) :]} == {bm25.FORMS["sound"][0]}
    assert all(asked == study.questions["question"].tolist() for asked, _ in searched[: -len(ASKED)])


def test_the_row_of_the_table_is_the_form_called_sound(study):
    found = bm25_variants(study).set_index(["variant", "condition", "question_type"])["page_recall"]
    recalls = [found["sound", "standard", name] for name in sorted({*study.questions["question_type"]})]
    counts = study.questions["question_type"].value_counts().sort_index()
    assert found["sound", "standard", EVERY] == pytest.approx(np.average(recalls, weights=counts))
