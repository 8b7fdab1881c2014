"""HyDE and Multi-HyDE: the prompt, the seeds, what is missing, and the mean of embeddings."""

import numpy as np
import pytest

from lib.retrievers import hyde
from lib.retrievers.hyde import written_passages
from lib.retrievers.prompts import asked, prompt, write
from tests.retrievers.conftest import Rule


def test_the_prompt_is_the_published_one_and_keeps_braces():
    text = "Please write a short financial report excerpt (1 paragraph) that precisely answers the question below. "
    text += "Do not introduce the text, just write the excerpt.\n\nQuestion: {x} costs {}?\nPassage:"
    assert prompt("hyde", {"question": "{x} costs {}?"}).messages == [{"role": "user", "content": text}]


def test_passages_are_seeded_by_their_number_and_a_missing_one_has_a_reason(written_study):
    """What is written is the question and the seed."""

    def rule(text: str) -> str | None:
        said = f"{text.split('Question: ')[1].splitlines()[0]} {text.split()[0]}"
        return None if said == "CAPEX? 13" else said

    study = written_study(["sales?", "CAPEX?"], ["chunk"], Rule(rule, shows_seed=True), hyde={"n_passages": 2})
    assert written_passages(study) == [["sales? 13", "sales? 14"], ["CAPEX? 14"]]
    assert write(study, "hyde", asked(study)).missing == {"q1/0": "it died"}
    n_asked = len(study.generator.asked)
    assert written_passages(study, "hyde_akarsu") == [["sales? 13"], ["CAPEX?"]]  # it is searched as it is
    sampled = [(one.sampling.temperature, one.sampling.max_tokens) for one in study.generator.asked]
    assert (sampled[:n_asked], sampled[n_asked:]) == ([(0.7, 200)] * n_asked, [(0.0, 150)] * 2)
    assert all("Include numbers" in one.prompt.user for one in study.generator.asked[n_asked:])


def test_the_passages_are_searched_as_documents_by_the_first_or_the_direction_of_their_sum(written_study):
    texts = {"13": "net sales", "14": "net"}
    rule = Rule(lambda text: texts[text.split()[0]] if "profit" in text else None, shows_seed=True)
    study = written_study(["profit", "cash"], ["sales", "net", "cash"], rule, hyde={"n_passages": 2})
    assert hyde.score(study, None) == pytest.approx(np.array([[2**-0.5, 2**-0.5, 0], [0, 0, 1]]))
    mean = np.array([2**-0.5, 2**-0.5 + 1])  # of sales and net
    wanted = np.array([[*mean / np.linalg.norm(mean), 0], [0, 0, 1]])
    assert hyde.score_multi(study, None) == pytest.approx(wanted)
    assert {role for role, _ in study.encoder.seen} == {"document"}
