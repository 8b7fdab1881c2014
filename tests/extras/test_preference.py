"""Preference training on a tiny model: the pairs, what may not be in them, TRL's loss against the formula, and the
comparison that appendix a3 reads."""

import math
import re

import numpy as np
import pandas as pd
import pytest
import torch
from click.testing import CliRunner
from transformers import AutoModelForCausalLM, AutoTokenizer

from extras.preference.pairs import fold_pairs, folds, is_right, pairs
from lib.__main__ import commands
from lib.analysis import preference
from lib.answers.answers import SYSTEM
from lib.folds import LeakError
from lib.profile import Settings
from lib.schema import StudyError
from tests.conftest import DatasetFolder, open_folder
from tests.retrievers.conftest import Rule

pytest.importorskip("trl", reason="trl is not installed; run make env")
from extras.preference.dpo import train

SETTINGS = {"context": "oracle-page", "rejected": "bm25", "right_from": 0.5, "n_folds": 2, "seed": 13, "method": "full"}
SETTINGS |= {"rank": 4, "alpha": 8, "beta": 0.3, "learning_rate": 1e-3, "epochs": 1, "batch_size": 4}
SETTINGS |= {"pairs_at_once": 2, "warmup": 0.0, "max_tokens": 1024, "train_precision": "float32", "checkpoint_every": 2}


@pytest.fixture(scope="module")
def tiny_qwen(tiny):
    return tiny("Qwen2ForCausalLM", num_key_value_heads=2, max_position_embeddings=2048, initializer_range=0.2)


@pytest.fixture
def make_study(tiny_qwen, tiny, tmp_path):
    """Make a study of four companies with two filings each, of two pages; ``spoil`` changes its folder's records."""

    def make(spoil=lambda folder: None, **changes):
        folder = DatasetFolder(tmp_path / "data")
        for number, company in enumerate("ash birch cedar dogwood".split()):
            for year in (2020, 2021):
                name, sales = f"{company}_{year}", 100 * number + year
                folder.text(name, f"{company} sales {sales} cash", f"{company} profit flow {year}")
                folder.question(name, name, (0, f"{company} sales {sales}"), answer=f"${sales}.50")
        spoil(folder)
        small = {"embedder.weights": str(tiny("BertModel")), "embedder.window": 32, "embedder.window_overlap": 0}
        small |= {"embedder.precision": "float32", "chunks.size": 64, "chunks.overlap": 0}
        small |= {"generator.weights": str(tiny_qwen), "generator.backend": "transformers"}
        small |= {"answers.max_tokens": 6, "significance.n_draws": 100}
        small |= {f"preference.{name}": value for name, value in (SETTINGS | changes).items()}
        return open_folder(folder.write(), tmp_path / "artifacts", small)

    return make


def answer(prompt: str) -> str | None:
    """Questions of one company are answered right, one of another is not, and the rest is $1."""
    asked = prompt.split("Question:")[1]
    right = "It was $2020.50, or $2021.50." if "ash" in asked else "It was $1.00."
    return None if "birch_2020" in asked else right


@pytest.mark.parametrize(
    ("question_type", "answer", "written", "right"),
    [
        ("metrics-generated", "$1577.00", "It was $1,577 in 2018.", True),
        ("metrics-generated", "$1577.00", "It was $1,677 in 2018.", False),
        ("domain-relevant", "Sales fell", "sales fell sharply", True),  # F1 = 2 * 2 / (2 + 3) = 0.8
        ("domain-relevant", "Sales fell", "Sales rose by far", False),  # 2 * 1 / (2 + 4) = 0.33
    ],
)
def test_an_answer_is_right_by_its_number_or_by_its_words(question_type, answer, written, right):
    assert is_right(question_type, "What were sales in USD?", answer, written, 0.5) is right


def test_a_wrong_answer_gives_a_pair_and_no_company_is_in_both_parts_of_a_fold(make_study):
    study = make_study()
    study.make_generator = lambda: Rule(answer)
    every = pairs(study)
    assert every.counts == {"right": 2, "missing": 1, "pair": 5}
    first = every.table.iloc[0]
    assert (first["question_id"], first["chosen"], first["rejected"]) == ("birch_2021", "$2121.50", "It was $1.00.")
    system, user = first["messages"]
    assert system == {"role": "system", "content": SYSTEM}
    assert user["content"].startswith("Context:\nbirch sales 2121 cash\n\nQuestion:")  # the gold page alone
    company_of = study.questions.set_index("question_id")["company"]
    for fold in folds(study):
        table, record = fold_pairs(study, fold)
        test = set(study.questions["company"].iloc[list(fold.test)])
        assert not {*company_of[table["question_id"]], *record["train_companies"]} & test
        assert record["n_train_pairs"] == len(table) > 0
        assert not re.search("|".join(rf"\b{name}[_ ]" for name in test), str(table["messages"].tolist()))


def ask_the_same(folder):
    for line in folder.questions:
        line["question"] = "What were net sales?"


REFUSED = {
    "near copy in training": (LeakError, {"spoil": ask_the_same}),
    "choose from oracle-document": (StudyError, {"context": "best-baseline"}),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_trained_on_is_refused(make_study, words):
    error, changes = REFUSED[words]
    study = make_study(**changes)
    study.make_generator = lambda: Rule(answer)
    with pytest.raises(error, match=words):
        fold_pairs(study, folds(study)[0])


CHATS = [[{"role": "system", "content": "Be brief."}, {"role": "user", "content": f"Sales of {n}?"}] for n in range(8)]
PAIRS = pd.DataFrame({"messages": CHATS})
PAIRS["chosen"], PAIRS["rejected"] = [[form.format(7 * n) for n in range(8)] for form in ("${}.0", "I cannot say {}")]


def log_probability(model, tokenizer, messages: list, answer: str) -> float:
    """The sum of the log-probabilities of an answer's tokens, one position at a time."""
    whole = [*messages, {"role": "assistant", "content": answer}]
    asked, tokens = (tokenizer.apply_chat_template(one, return_dict=True)["input_ids"] for one in (messages, whole))
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([tokens])).logits[0].double().log_softmax(-1)
    return sum(float(logits[place - 1, tokens[place]]) for place in range(len(asked), len(tokens)))


def test_the_loss_is_the_formula_of_the_paper_and_nothing_is_sent(tiny_qwen, tmp_path, monkeypatch):
    """One step over all pairs, then the loss of the second step is that of the model after the first."""
    sent, settings = [], SETTINGS | {"batch_size": 8, "pairs_at_once": 4}
    monkeypatch.setattr("trl.trainer.base_trainer.send_telemetry", lambda **about: sent.append(about))
    monkeypatch.delenv("CI", raising=False)
    after, tokenizer, _ = train(tiny_qwen, PAIRS, Settings(settings), tmp_path / "one", "tiny")
    *_, (first, second) = train(tiny_qwen, PAIRS, Settings(settings | {"epochs": 2}), tmp_path / "two", "tiny")
    before = AutoModelForCausalLM.from_pretrained(tiny_qwen, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(tiny_qwen)

    def ratio(messages: list, answer: str) -> float:
        return np.subtract(*(log_probability(model, tokenizer, messages, answer) for model in (after.eval(), before)))

    delta = 0.3 * np.array([ratio(chat, good) - ratio(chat, bad) for chat, good, bad in PAIRS.to_numpy()])
    assert first["loss"] == pytest.approx(math.log(2), abs=1e-3)
    assert second["loss"] == pytest.approx(np.log1p(np.exp(-delta)).mean(), abs=1e-4)
    assert second["loss"] < first["loss"] - 0.01
    assert sent == []


@pytest.mark.parametrize("method", ["full", "lora"])
def test_the_command_trains_a_fold_and_stores_what_the_appendix_reads(make_study, monkeypatch, method):
    study = make_study(method=method)
    monkeypatch.setattr("lib.studies.open_study", lambda **_: study)
    assert preference.comparison(study, study.profile, 1).empty
    done = CliRunner().invoke(commands, ["train-preference", "--fold", "1"])
    assert (done.exit_code, "untuned" in done.output) == (0, True), done.output
    found = preference.comparison(study, study.profile, 1).set_index("metric")
    assert {*found["context"]} == {"oracle-page", "bm25"}
    assert found["n"]["token_f1"].tolist() == [len(folds(study)[1].test)] * 2
    assert found["difference"].to_numpy() == pytest.approx((found["tuned"] - found["untuned"]).to_numpy())
    assert sum(preference.counts(study).values()) == len(study.questions)
