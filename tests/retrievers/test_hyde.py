"""HyDE and Multi-HyDE: the prompt, the seeds, what is missing, and the mean of embeddings."""

import numpy as np
import pandas as pd
import pytest

from lib.models.prompts import Generation, GenerationError
from lib.models.written import GenerationLog, Model
from lib.retrievers.hyde import mean_embedding, passages, prompt

QUESTIONS = pd.DataFrame({"question_id": ["q1", "q2"], "question": ["What is CAPEX?", "What were sales?"]})


class Echo:
    """Writes its seed and the question; fails on what it is told to."""

    def __init__(self, fails: tuple[str, int] | None = None):
        self.fails, self.asked = fails, []

    def generate(self, requests, on_done):
        for number, request in enumerate(requests):
            self.asked.append(request)
            question = request.prompt.user.split("Question: ")[1].split("\n")[0]
            if (question, request.sampling.seed) == self.fails:
                on_done(number, GenerationError("it died"))
            else:
                on_done(number, Generation(f"{question} {request.sampling.seed}", 50, 9, "stop", 0.1))


@pytest.fixture
def log(tmp_path):
    return GenerationLog(tmp_path / "generations.jsonl", Model("tiny", "ab12"), say=lambda line: None)


def test_the_prompt_is_the_published_one():
    assert prompt("What is CAPEX?").messages == [
        {
            "role": "user",
            "content": "Please write a short financial report excerpt (1 paragraph) that precisely answers the "
            "question below. Do not introduce the text, just write the excerpt.\n\nQuestion: What is CAPEX?\nPassage:",
        }
    ]


def test_a_question_with_braces_is_kept_as_it_is():
    assert "Question: {x} costs {}?\n" in prompt("{x} costs {}?").user


def test_passages_are_seeded_by_their_number_with_the_studys_limits(log):
    echo = Echo()
    found, _ = passages(log, QUESTIONS, lambda: echo, n_passages=3, seed=13)
    assert found == [
        ["What is CAPEX? 13", "What is CAPEX? 14", "What is CAPEX? 15"],
        ["What were sales? 13", "What were sales? 14", "What were sales? 15"],
    ]
    assert {(one.sampling.temperature, one.sampling.max_tokens) for one in echo.asked} == {(0.7, 200)}


def test_hydes_passage_is_multi_hydes_first_and_is_not_written_twice(log):
    single, _ = passages(log, QUESTIONS, Echo, n_passages=1)
    echo = Echo()
    several, _ = passages(log, QUESTIONS, lambda: echo, n_passages=4)
    assert [texts[0] for texts in several] == [texts[0] for texts in single]
    assert len(echo.asked) == 2 * 3


def test_a_missing_passage_keeps_its_place_and_its_reason(log):
    found, filled = passages(log, QUESTIONS, lambda: Echo(fails=("What is CAPEX?", 14)), n_passages=2)
    assert found == [["What is CAPEX? 13", None], ["What were sales? 13", "What were sales? 14"]]
    assert filled.missing == {"q1/1": "it died"}


def test_mean_embedding_is_the_direction_of_the_sum():
    vectors = np.array([[1, 0, 0], [0, 1, 0]], np.float32)
    np.testing.assert_allclose(mean_embedding(vectors), [2**-0.5, 2**-0.5, 0], rtol=1e-6)


def test_mean_embedding_of_one_is_itself():
    np.testing.assert_allclose(mean_embedding(np.array([[0.6, 0.8]], np.float32)), [0.6, 0.8], rtol=1e-6)


def test_mean_embedding_is_a_float32_unit_vector():
    vectors = np.random.default_rng(1).normal(size=(4, 384))
    mean = mean_embedding(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    assert mean.dtype == np.float32
    assert np.linalg.norm(mean) == pytest.approx(1)


@pytest.mark.parametrize("vectors", [np.zeros((0, 3)), np.array([[1.0, 0.0], [-1.0, 0.0]])])
def test_mean_embedding_without_a_direction_is_an_error(vectors):
    with pytest.raises(ValueError, match=r"no vectors|cancel out"):
        mean_embedding(vectors)
