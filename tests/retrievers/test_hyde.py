"""HyDE and Multi-HyDE: the prompt, the seeds, what is missing, and the mean of embeddings."""

import numpy as np
import pytest

from lib.cache import Cache
from lib.models.prompts import Generation, GenerationError
from lib.models.written import GenerationLog, Model
from lib.profile import Settings
from lib.retrievers.hyde import mean_embedding, passages, written_passages
from lib.retrievers.prompts import prompt


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
def study_of(fake_study, tmp_path):
    """Make a study with a number of passages per question, written by a generator."""
    cache = Cache(tmp_path / "cache.sqlite")
    log = GenerationLog(tmp_path / "generations.jsonl", cache, Model("tiny", "ab12"), say=lambda line: None)

    def make(n_passages: int, generator: Echo):
        hyde = {"n_passages": n_passages, "temperature": 0.7, "max_tokens": 200, "seed": 13}
        one = Settings({"n_passages": 1, "temperature": 0.0, "max_tokens": 150, "seed": 13})
        profile = {"hyde": hyde, "sibling_texts": {"hyde_akarsu": one, "seed": 13}}
        made = fake_study(["What is CAPEX?", "What were sales?"], ["chunk"], profile)
        made.generation_log, made.make_generator = lambda: log, lambda: generator
        return made

    return make


def test_the_prompt_is_the_published_one():
    assert prompt("hyde", {"question": "What is CAPEX?"}).messages == [
        {
            "role": "user",
            "content": "Please write a short financial report excerpt (1 paragraph) that precisely answers the "
            "question below. Do not introduce the text, just write the excerpt.\n\nQuestion: What is CAPEX?\nPassage:",
        }
    ]


def test_a_question_with_braces_is_kept_as_it_is():
    assert "Question: {x} costs {}?\n" in prompt("hyde", {"question": "{x} costs {}?"}).user


def test_passages_are_seeded_by_their_number_with_the_studys_limits(study_of):
    echo = Echo()
    assert written_passages(study_of(3, echo)) == [
        ["What is CAPEX? 13", "What is CAPEX? 14", "What is CAPEX? 15"],
        ["What were sales? 13", "What were sales? 14", "What were sales? 15"],
    ]
    assert {(one.sampling.temperature, one.sampling.max_tokens) for one in echo.asked} == {(0.7, 200)}


def test_the_passage_with_numbers_has_its_own_prompt_limits_and_kind(study_of):
    echo = Echo()
    study = study_of(2, echo)
    assert written_passages(study, "hyde_akarsu") == [["What is CAPEX? 13"], ["What were sales? 13"]]
    assert {(one.sampling.temperature, one.sampling.max_tokens) for one in echo.asked} == {(0.0, 150)}
    assert all("Include numbers" in one.prompt.user for one in echo.asked)
    assert len(written_passages(study)[0]) == 2


def test_hydes_passage_is_multi_hydes_first_and_is_not_written_twice(study_of):
    single = written_passages(study_of(1, Echo()))
    echo = Echo()
    several = written_passages(study_of(4, echo))
    assert [texts[0] for texts in several] == [texts[0] for texts in single]
    assert len(echo.asked) == 2 * 3


def test_a_missing_passage_has_a_reason_and_a_question_without_any_is_searched_as_it_is(study_of):
    failing = Echo(fails=("What is CAPEX?", 13))
    assert passages(study_of(2, failing), "hyde").missing == {"q0/0": "it died"}
    assert written_passages(study_of(2, failing))[0] == ["What is CAPEX? 14"]
    assert written_passages(study_of(1, failing)) == [["What is CAPEX?"], ["What were sales? 13"]]


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
