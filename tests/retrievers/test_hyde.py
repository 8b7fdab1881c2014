"""HyDE and Multi-HyDE: the prompt, the seeds, what is missing, and the mean of embeddings."""

import numpy as np
import pytest

from lib.retrievers import hyde
from lib.retrievers.hyde import written_passages
from lib.retrievers.prompts import asked, prompt, write
from tests.retrievers.conftest import Rule


@pytest.fixture
def study_of(written_study):
    """Make a study with a number of passages per question: the question and the seed, but for what ``fails``."""

    def make(n_passages: int, fails: str = ""):
        def rule(text: str) -> str | None:
            said = f"{text.split('Question: ')[1].splitlines()[0]} {text.split()[0]}"
            return None if said == fails else said

        rule = Rule(rule, shows_seed=True)
        return written_study(["What is CAPEX?", "What were sales?"], ["chunk"], rule, hyde={"n_passages": n_passages})

    return make


def test_the_prompt_is_the_published_one_and_keeps_braces():
    text = "Please write a short financial report excerpt (1 paragraph) that precisely answers the question below. "
    text += "Do not introduce the text, just write the excerpt.\n\nQuestion: {x} costs {}?\nPassage:"
    assert prompt("hyde", {"question": "{x} costs {}?"}).messages == [{"role": "user", "content": text}]


def test_passages_are_seeded_by_their_number_with_the_limits_of_their_kind_and_hyde_s_is_multi_hyde_s_first(study_of):
    questions = ("What is CAPEX?", "What were sales?")
    assert written_passages(study_of(1)) == [[f"{question} 13"] for question in questions]
    study = study_of(2)
    assert written_passages(study) == [[f"{question} {seed}" for seed in (13, 14)] for question in questions]
    assert written_passages(study, "hyde_akarsu") == [["What is CAPEX? 13"], ["What were sales? 13"]]
    sampled = [(one.sampling.temperature, one.sampling.max_tokens) for one in study.generator.asked]
    assert sampled == [(0.7, 200)] * 2 + [(0.0, 150)] * 2  # the first ones are not written twice
    assert all("Include numbers" in one.prompt.user for one in study.generator.asked[2:])


def test_a_missing_passage_has_a_reason_and_a_question_without_any_is_searched_as_it_is(study_of):
    failing = study_of(2, fails="What is CAPEX? 13")
    assert write(failing, "hyde", asked(failing)).missing == {"q0/0": "it died"}
    assert written_passages(failing)[0] == ["What is CAPEX? 14"]
    assert written_passages(study_of(1, fails="What is CAPEX? 13")) == [["What is CAPEX?"], ["What were sales? 13"]]


def test_the_passages_are_searched_as_documents_by_the_direction_of_their_sum(written_study):
    texts = {"13": "net sales", "14": "net"}
    rule = Rule(lambda text: texts[text.split()[0]] if "profit" in text else None, shows_seed=True)
    study = written_study(["profit", "cash"], ["sales", "net", "cash"], rule, hyde={"n_passages": 2})
    assert hyde.score(study, None) == pytest.approx(np.array([[2**-0.5, 2**-0.5, 0], [0, 0, 1]]))
    mean = np.array([2**-0.5, 2**-0.5 + 1])  # of sales and net
    wanted = np.array([[*mean / np.linalg.norm(mean), 0], [0, 0, 1]])
    assert hyde.score_multi(study, None) == pytest.approx(wanted)
    assert {role for role, _ in study.encoder.seen} == {"document"}
