"""The manifest, the pages that write themselves, and the workflows, which run only make."""

import json
import re
from itertools import product
from types import SimpleNamespace

import pandas as pd
import pytest
import yaml

from extras.publish.readme import BEGIN, END, fill_headline
from lib.analysis import finding
from lib.book import headline
from lib.book import pages as pages_of_book
from lib.book.environment import git_commit, shortened
from lib.book.headline import Found, readme_text
from lib.book.manifest import stages_of, write_manifest
from lib.book.page_templates import filled
from lib.book.pages import breakable, card, citation, stages_table, what_fixes, write_pages
from lib.data.dataset import read_dataset
from lib.data.locate import DEMO
from lib.evaluation import ANSWER_COLUMNS, METRIC_COLUMNS, SUMMARY_COLUMNS
from lib.files import RESULTS, ROOT
from lib.methods import METHODS
from lib.metrics.frame import Metrics
from lib.models.weights import lock
from lib.profile import load_profile
from lib.published import Published
from lib.schema import Names, StudyError
from lib.statements.sure import fitted
from lib.stats import DIFFERENCE
from lib.studies import open_study

METRICS = {"doc_recall": 0.9, "page_recall": 0.4, "ctx_bleu": 0.2, "ctx_rouge_l": 0.3}


def summary(*rows: tuple[str, float], **changes: float) -> pd.DataFrame:
    """A summary at 5 chunks over all filings; the number of a method is added to every metric."""
    lines = [
        (method, "standard", metric, 5, value + more, value, value, 150, 32)
        for method, more in rows
        for metric, value in (METRICS | changes).items()
    ]
    return pd.DataFrame(lines, columns=SUMMARY_COLUMNS)


def study_of(name: str = "financebench", **given) -> SimpleNamespace:
    """As much of a study as a part of a page looks at."""
    return SimpleNamespace(dataset=SimpleNamespace(name=name), profile=load_profile("default"), names=Names(), **given)


def test_the_pages_of_a_study_state_what_they_are_made_from(study):
    made = json.loads((study.outputs / "manifest.json").read_text())
    write_pages(study, made)
    pages = {path.stem: path.read_text() for path in (study.outputs / "pages").glob("*.md")}
    for wanted in (
        "(method-bm25)=\n### BM25",
        "bm25: {k1: 1.5, b: 0.75}",
        "| all filings | 1.00 \\[0.44,&nbsp;1.00\\]",
    ):
        assert wanted in pages["methods"]
    for wanted in (study.dataset.fingerprint, "significance.seed", "| numpy | ", "@software{retrievalgap,"):
        assert wanted in pages["appendix"]
    text = readme_text(study, SimpleNamespace(manifest=made, digest="0" * 64))
    assert "The best of 1 standard method (BM25, " in text


def test_a_readme_without_marks_for_the_headline_is_refused(study, tmp_path):
    (tmp_path / "README.md").write_text(f"{BEGIN}\n")
    with pytest.raises(StudyError, match=END):
        fill_headline(tmp_path / "README.md", study, {})


def test_every_method_has_a_card_without_numbers_too():
    study, nothing = study_of(), pd.DataFrame(columns=SUMMARY_COLUMNS)
    for row in METHODS.values():
        text = card(study, row, nothing)
        assert f"## {row.title}\n" in text
        assert not re.search(":func:|``|\nArgs:", text.partition("```yaml")[0]), row.name


def test_weights_are_fixed_by_hashes_and_hub_models_by_their_commit():
    record = lock()["bge-m3"]["hub"]
    fixed = what_fixes({"name": "bge-m3", "files": {}, "weights": "00"})
    assert f"commit `{record['revision']}` of `BAAI/bge-m3`" in fixed
    assert breakable(record["sha256"]["pytorch_model.bin"]) in fixed
    assert what_fixes({"name": "minilm", "files": {"a": "11"}, "weights": "00"}) == "a: <code>11</code>"


def test_seconds_are_summed_and_memory_is_the_peak():
    stages = [
        {"stage": "runs/standard/bm25", "origin": "computed", "wall_s": 1.5, "peak_mib": 10.0},
        {"stage": "runs/standard/dense", "origin": "reused", "wall_s": 2.0, "peak_mib": 30.0},
    ]
    expected = {"Stage": "`runs`", "Results": 2, "Origin": "computed, reused", "Seconds": "3.5", "MiB": "30"}
    assert stages_table(stages).to_dict("records") == [expected]
    assert len(stages_table(stages, whole=True)) == 2


def test_citations_come_from_the_citation_file():
    entries = ["software{retrievalgap", "misc{kobeissi2026", "misc{islam2023"]
    assert re.findall(r"^@(\w+\{\w+),", citation(3), flags=re.M) == entries
    assert citation(1).strip() in (ROOT / "README.md").read_text()


BOTH, LOST = (("dense", 0.0), ("bm25", -0.1)), {"page_recall": 0.3}
AHEAD = summary(("dense", 0.0), ("ahead", 0.4))
DRAW = AHEAD[AHEAD["metric"] == "page_recall"].iloc[:1].assign(method="ahead")
RUNGS = pd.DataFrame({"statements": [0.6], "kinds": [0.7]})
NOTHING = pd.DataFrame(columns=METRIC_COLUMNS)


#: A summary, and the percentages of its sentences: what is missed in filings that were found (or not), pages found,
#: filings missed, pages missed inside a filing; then of a metadata match, and of Ahead.
FINDINGS = {
    "most inside": (summary(*BOTH, **LOST), "86% 30% 10% 60%"),
    "most outside": (summary(*BOTH, doc_recall=0.31, **LOST), "99% 30% 69% 1%"),
    "nothing is missed": (summary(*BOTH, doc_recall=1, page_recall=1), "100% 0% 0%"),
    "a match": (summary(*BOTH, ("dense_records", 0.2)), "83% 40% 10% 50% 40% 60%"),
    "a trained row": (AHEAD, "83% 40% 10% 50% 80%"),
}


@pytest.mark.parametrize(("table", "shares"), FINDINGS.values(), ids=FINDINGS)
def test_the_finding_is_of_the_best_baseline_and_names_the_larger_loss(table, shares):
    text = "\n".join(Found(table, NOTHING).sentences)
    assert re.findall(r"\d+%", text) == shares.split()
    assert ("did not retrieve" in text) == shares.startswith("99%")


def test_ahead_has_the_mean_over_the_draws_of_its_folds_where_it_has_folds():
    assert "finds 70% in its first 5 chunks." in "\n".join(Found(AHEAD, NOTHING, rungs=RUNGS).sentences)


def test_what_is_inconclusive_or_not_trained_is_not_said_to_help_or_to_be_trained():
    table = summary(*BOTH, ("dense_records", 0.2), ("ahead", 0.4))
    *_, match, ahead = Found(table, NOTHING, match="gain").sentences
    assert match.startswith("**What helps without training.**")
    assert ahead.startswith("**What a trained page ranker adds.**")
    *_, match, ahead = Found(table, NOTHING, match="inconclusive", scored="untrained").sentences
    assert match.startswith("**What the metadata match changes.**")
    assert match.endswith("from 40% to 60% (inconclusive).")
    assert ahead.startswith("**What page ranking without training adds.**")


@pytest.mark.parametrize("unseen", [None, {"short": 0.1, "ahead": 0.2}])
def test_equal_tokens_are_stated_with_unseen_companies_where_these_are_known(unseen):
    tokens = {"budget": 4096, "pages": {"short": 0.5, "ahead": 0.6}, "lines": {"short": 0.3, "ahead": 0.4}}
    tokens |= {"unseen_pages": unseen, "unseen_lines": unseen, "is_more": None if unseen is None else False}
    table = summary(*BOTH, ("dense_records", 0.2), ("ahead", 0.4))
    _, _, match, ahead = Found(table, NOTHING, tokens=tokens).sentences
    assert re.findall(r"\d+%", match) == ["40%", "60%", "50%", *["10%"] * bool(unseen)]
    assert re.findall(r"\d+%", ahead) == ["80%", "40%", "30%", *["20%", "10%"] * bool(unseen)]
    assert ("is not significantly better" in ahead) == bool(unseen)


def test_pages_beside_the_gold_ones_that_answer_in_full_are_not_lost():
    values = {"doc_recall": [1, 1, 0, 1], "page_recall_pooled": [0, 1, 1, 0.5]}
    rows = [("dense", "standard", f"q{i}", name, 5, one) for name, of in values.items() for i, one in enumerate(of)]
    metrics = pd.DataFrame(rows, columns=METRIC_COLUMNS).astype({"k": "Int64"})
    assert finding.lost_by_pooled_gold(Metrics(metrics), "dense", 5) == pytest.approx((1 + 0 + 0 + 0.5) / 4)
    assert "(38% if" in "\n".join(Found(summary(*BOTH), metrics).sentences)


def test_a_profile_of_large_models_does_not_claim_two_cores():
    study = study_of()
    assert headline.has_small_models(study)
    study.profile = load_profile("paper")
    assert not headline.has_small_models(study)
    given = dict.fromkeys(("named", "unseen", "ahead", "people"))
    assert "cores" not in filled("trust", **given, n=3, n_companies=2, models=["a"], is_small=False)


def test_a_commit_is_short_with_its_mark_and_unknown_without_git(monkeypatch):
    assert shortened(f"{'0a' * 20}-dirty") == "0a0a0a0a0a-dirty"
    assert shortened("unknown") == "unknown"
    monkeypatch.setenv("PATH", "/nowhere")
    assert git_commit() == "unknown"


def test_calculated_answers_are_by_context_and_none_where_one_was_not_read(tmp_path):
    study = study_of(outputs=tmp_path)
    assert finding.calculated_shares(study) is None
    shares, own = {"best-baseline": 0.5, "ahead": 1.0, "oracle-page": 1.0}, study.profile.generator.weights
    places = product(shares, ("plain", "calculation"), (own, "larger"), "ab", ["answer_right"], [0])
    table = pd.DataFrame(places, columns=ANSWER_COLUMNS)
    is_own = (table["prompt"] == "calculation") & (table["generator"] == own)
    table["value"] = table["context"].map(shares).where(is_own, 0)
    table.to_csv(tmp_path / "answers.csv.gz", index=False)
    assert finding.calculated_shares(study) == shares | {"n": 2}
    table[table["context"] != "ahead"].to_csv(tmp_path / "answers.csv.gz", index=False)
    assert finding.calculated_shares(study) is None


SHOWN = RESULTS / "financebench" / "default" / "shown" / "tables"


def test_the_first_page_has_what_unseen_companies_show_and_the_losses_that_chapters_publish(tmp_path):
    study = open_study("", artifacts=tmp_path, say=lambda line: None)
    unseen, table = finding.on_unseen(study, 5), pd.read_csv(SHOWN / "unseen.csv", index_col="method")
    assert unseen.mean.tolist() == pytest.approx(table.loc[unseen.mean.index, "page_recall"].tolist(), abs=1e-9)
    tested = pd.read_csv(SHOWN / "unseen-contrasts.csv")
    for column in (*DIFFERENCE, "p_holm"):
        assert unseen.contrasts[column].tolist() == pytest.approx(tested[f"unseen_{column}"].tolist(), abs=1e-9)
    metrics = Metrics(Published.of("financebench", "default").metrics)
    lost = pd.read_csv(SHOWN / "pooled.csv", index_col="method")["lost_pooled"]
    for method in ("dense", "multi_hyde_rerank"):
        assert finding.lost_by_pooled_gold(metrics, method, 5) == pytest.approx(lost[method])


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.stem)
def test_a_workflow_runs_nothing_that_make_does_not(path):
    steps = [step for job in yaml.safe_load(path.read_text())["jobs"].values() for step in job["steps"]]
    commands = [step["run"] for step in steps if "run" in step]
    assert commands
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.M))
    for command in commands:
        assert re.fullmatch(r"make [\w-]+( [A-Z_]+=\S+)*", command), command
        assert command.split()[1] in targets


def test_the_record_of_answers_is_of_the_demo_s_own_questions_with_gold_pages():
    questions = read_dataset(DEMO, "demo").questions.set_index("question")
    found = json.loads(pages_of_book.ASKED.read_text(encoding="utf-8"))
    assert len({one["question"] for one in found}) == 10
    for one in found:
        row = questions.loc[one["question"]]
        assert (one["reference"], one["document"]) == (row["answer"], row["doc_name"])
        assert one["gold"] == list(row["gold_pages"])
        assert (one["answer"] is None) == (one["confidence"] < fitted()["least"])
    n_unanswered = sum(one["answer"] is None for one in found)
    assert pages_of_book.asked_page().count("**No sure figure**") == n_unanswered


def test_a_question_without_an_answer_has_the_reason_on_the_page(monkeypatch, tmp_path):
    one = json.loads(pages_of_book.ASKED.read_text(encoding="utf-8"))[0]
    refused = one | {"answer": None, "why_not": "the quarter is not confirmed", "cells": []}
    (tmp_path / "asked.json").write_text(json.dumps([one, refused]))
    monkeypatch.setattr(pages_of_book, "ASKED", tmp_path / "asked.json")
    text = pages_of_book.asked_page()
    assert text.count("**No sure figure**: the quarter is not confirmed") == 1
    assert (text.count("(right)"), text.count("(no answer)")) == (1, 1)


def test_it_has_runs_with_key_and_bytes_of_the_outputs_and_what_training_and_test_of_folds_share(study):
    record = {"fold": 0, "shared_companies": [], "train_filings": ["A"], "curve": [1]}
    study.write("folds/page_scorer-company.json", json.dumps([record, record | {"fold": 1}]))
    study.write("folds/ahead-13-0.json", json.dumps(record))
    made, told = write_manifest(study), {"fold": 0, "shared_companies": []}
    assert made["folds"] == {"ahead-13-0": [told], "page_scorer-company": [told, told | {"fold": 1}]}
    assert sorted(made["runs"]) == ["oracle-document/bm25", "oracle-page/bm25", "standard/bm25"]
    assert made["runs"]["standard/bm25"]["key"] == study.run_entry("bm25").key
    assert made["date"] == max(record["at"] for record in made["stages"])[:10]
    assert made["inputs"] == {"bm25": ""}
    assert {"significance.seed", "ahead.fold_seeds"} <= made["seeds"].keys()
    assert json.loads((study.outputs / "manifest.json").read_text()) == json.loads(json.dumps(made))


def test_the_stages_behind_a_stage_are_listed_though_nothing_asks_for_them_any_more(study):
    def compute(target):
        study.store.files("embeddings/windows", {"a": 1}, lambda folder: (folder / "x").write_text("x"))

    study.store.files("analysis/any", {"a": 1}, compute)
    log = study.outputs / "stages.jsonl"
    kept = [line for line in log.read_text().splitlines() if "embeddings/windows" not in line]
    log.write_text("\n".join(kept) + "\n")
    found = {record["stage"]: record for record in stages_of(study)}
    assert found["embeddings/windows"]["origin"] == "reused"
    assert f"embeddings/windows/{found['embeddings/windows']['key']}" in found["analysis/any"]["asked"]
    assert {"pages", "chunks", "digests/chunks", "runs/standard/bm25"} <= set(found)
