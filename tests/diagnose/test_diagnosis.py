"""The diagnosis of runs from outside: the study's own numbers, what outside scorers say, frames, page and text."""

import json
import re
from pathlib import Path

import pandas as pd
import pymupdf
import pytest
import pytrec_eval

from lib.diagnose import advice, beside
from lib.diagnose.diagnosis import diagnosis_of
from lib.diagnose.page import file_name
from lib.diagnose.run_file import read_docnos, read_run
from lib.diagnose.stored import stored_runs
from lib.evaluation import METRIC_COLUMNS, chunk_texts, evaluate_given
from lib.exports import exported_run
from lib.files import ROOT
from lib.methods import METHODS
from lib.metrics.frame import Metrics
from lib.metrics.retrieval import METRICS as RETRIEVAL
from lib.profile import load_profile
from lib.published import Published
from lib.runs import qrels
from lib.schema import StudyError
from lib.studies import open_study
from lib.study import Study
from tests.browser import axe_faults, open_page
from tests.conftest import DatasetFolder, open_folder
from tests.small import browser  # noqa: F401

HOSTILE = "</script><img/src=x/onerror=window.hacked=1>"
COMPANIES = ("Acme", "Bolt", "Corp")
OF_RUNS = {metric.name for metric in RETRIEVAL}
RECALL = "metric == 'page_recall' and k == 5"


@pytest.fixture(scope="module")
def financebench(tmp_path_factory) -> Study:
    """A study of published results, without a text."""
    published = Published.of("financebench", "default")
    settings, artifacts = published.settings(load_profile("default")), tmp_path_factory.mktemp("artifacts")
    return Study(published.dataset(), settings, METHODS, {}, artifacts, published)


def export(study: Study, method: str, folder: Path) -> Path:
    path = folder / f"{method}.trec.gz"
    path.write_bytes(exported_run(study.published.runs["standard", method], method))
    return path


def elsewhere(name: str) -> Path:
    return ROOT / "data" / "elsewhere" / f"{name}.jsonl.gz"


def means_of(found) -> pd.Series:
    return found.metrics.set_index(["over", "metric", "k"])["mean"].sort_index()


def given_back(study: Study, method: str, folder: Path, texts=None) -> pd.DataFrame:
    """The metrics of a published run given as one from outside, which are the published ones to the last bit."""
    read = read_run(export(study, method, folder), study.questions, study.filings)
    found = evaluate_given(study, read.run, "mine", texts)
    known = study.published.metrics_of(method, "standard").astype({"question_id": str, "metric": str})
    assert {*known["metric"]} & OF_RUNS <= {*found["metric"]}
    both = found.merge(known, on=["question_id", "metric", "k"], how="left", suffixes=("", "_p"))
    both = both[both["metric"].isin(known["metric"])]  # the others are newer than the publication
    pd.testing.assert_series_equal(both["value"], both["value_p"], check_names=False, check_exact=True)
    return found


@pytest.mark.parametrize("method", ["parent_child", "ahead"])
def test_a_published_run_given_back_has_its_metrics_to_the_last_bit(financebench, tmp_path, method):
    found = given_back(financebench, method, tmp_path).groupby("question_id").size()
    assert (len(found), found.nunique()) == (150, 1)


@pytest.mark.weights
def test_a_run_of_the_demo_given_back_has_the_overlap_of_its_chunks_too(tmp_path):
    study = open_study("demo", artifacts=tmp_path)
    found = given_back(study, "bm25", tmp_path, chunk_texts(study))
    assert {"ctx_bleu", "ctx_rouge_l", "page_recall"} <= {*found["metric"]}


def test_outside_scorers_say_the_same_of_the_same_file(financebench, tmp_path):
    """A run with each page once, in TREC's format: trec_eval reads the file itself."""
    once = financebench.published.runs["standard", "dense"].drop_duplicates(["question_id", "doc_name", "page"])
    places = zip(once["question_id"], once["doc_name"], once["page"], once["rank"], once["score"], strict=True)
    path, gold = tmp_path / "once.trec", tmp_path / "qrels.txt"
    path.write_text("".join(f"{q} Q0 {doc}#p{page:04d} {rank} {score:.9g} x\n" for q, doc, page, rank, score in places))
    gold.write_bytes(qrels(financebench.questions))
    own = Metrics(evaluate_given(financebench, read_run(path, financebench.questions, financebench.filings).run, "x"))
    names = {"recall_5": ("page_recall", 5), "recall_20": ("page_recall", 20), "success_1": ("page_hit", 1)}
    names |= {"ndcg_cut_10": ("ndcg", 10), "map_cut_10": ("map", 10)}
    with gold.open() as wanted, path.open() as found:
        scorer = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(wanted), {*names})
        scored = scorer.evaluate(pytrec_eval.parse_run(found))
    for name, of in names.items():
        theirs = {question_id: values[name] for question_id, values in scored.items()}
        assert own["x", *of].to_dict() == pytest.approx(theirs, abs=1e-9)


def test_a_published_run_has_no_difference_from_itself(financebench, tmp_path):
    found = diagnosis_of(financebench, {"mine": export(financebench, "dense", tmp_path)})
    row = found.paired.set_index("method").loc["dense"]
    assert (row["difference"], row["p"]) == (0, 1)
    (one,) = found.judged
    assert (one.condition, one.is_whole) == ("standard", True)
    assert one.beside == ("multi_hyde_rerank", "dense_records", "ahead")
    assert len(found.paired) == found.alone["of_rows"].iloc[0] > 100
    lost = financebench.published.metrics_of("dense", "standard").query("metric == 'lost_at_document'")
    assert found.decomposition["document"][0] == pytest.approx(lost["value"].mean())
    (stored,) = stored_runs(financebench)
    assert (stored.name, stored.n_answered, [*stored.metrics]) == ("mine", 150, METRIC_COLUMNS)
    pages = ["rank", "doc_name", "page"]
    whole = financebench.published.runs["standard", "dense"][pages]
    pd.testing.assert_frame_equal(read_docnos(stored.run_file)[pages], whole)


def test_a_run_over_some_questions_is_judged_over_these(financebench):
    """Document and page recall at 5 as the repository's README has them, of 100 of the 150 questions."""
    found = diagnosis_of(financebench, {"mine": elsewhere("mganayim_bge_small")})
    means = means_of(found)
    assert (means["answered", "doc_recall", 5], means["answered", "page_recall", 5]) == pytest.approx((0.84, 0.34))
    assert means["all", "page_recall", 5] == pytest.approx(0.34 * 100 / 150)
    assert {*found.paired["n"]} == {100}
    known = financebench.published.metrics_of("dense_records", "standard").query(RECALL)
    known = known[known["question_id"].isin(found.judged[0].questions["question_id"])]
    assert found.decomposition.set_index("method").at["dense_records", "found"] == pytest.approx(known["value"].mean())
    assert "over the 100 questions that mine answers; over all 150" in found.to_text(500)


def test_a_run_that_was_given_the_filing_is_beside_rows_that_were_too(financebench):
    given = {"mine": elsewhere("kobeissi_single_mpnet1024"), "shared": elsewhere("kobeissi_shared_mpnet1024")}
    found = diagnosis_of(financebench, given)
    assert [one.condition for one in found.judged] == ["oracle-document", "standard"]
    known = financebench.published.metrics_of("ahead", "oracle-document").query(RECALL)
    shares = found.decomposition.set_index(["run", "method"])
    assert shares.loc[("mine", "ahead"), "found"] == pytest.approx(known["value"].mean())
    assert {*found.actions.query("run == 'mine'")["loss"]} == {"page"}  # there is no filing to find
    assert not found.paired.query("run == 'mine'")["method"].isin(["shared", "dense_records"]).any()
    as_said = diagnosis_of(financebench, {"mine": given["mine"]}, condition="standard")
    assert "dense_records" in as_said.judged[0].beside
    for name, condition in (("mine", "oracle"), ("shared", "oracle-document")):
        with pytest.raises(StudyError, match=f"condition .*{condition}"):
            diagnosis_of(financebench, {name: given[name]}, condition=condition)


def test_a_loss_without_a_measured_step_is_named_first_where_it_is_the_larger_one(financebench, tmp_path, monkeypatch):
    known = beside.metrics_of
    rows = lambda *given: known(*given).query("method in ('bm25', 'dense', 'dense_records')")  # noqa: E731
    for module in (beside, advice):
        monkeypatch.setattr(module, "metrics_of", rows)
    monkeypatch.setattr(advice, "PROFILES", tmp_path)
    found = diagnosis_of(financebench, {"mine": export(financebench, "dense_records", tmp_path)})
    losses = re.findall("(Larger|Smaller) loss, (page|filing) .*?: (51|3)%", found.to_text(2000))
    assert losses == [("Larger", "page", "51"), ("Smaller", "filing", "3")]


def test_advice_is_for_the_run_s_own_losses_and_never_for_a_step_that_is_done(financebench, tmp_path):
    runs = {f"of_{name}": export(financebench, name, tmp_path) for name in ("dense", "dense_records", "ahead")}
    found = diagnosis_of(financebench, runs)
    steps = found.actions[found.actions["loss"] != "depth"].drop_duplicates(["run", "loss"])
    advised = steps[steps["is_shown"]].groupby("run")["loss"].agg(list).to_dict()
    assert advised == {"of_dense": ["page", "document"], "of_dense_records": ["page"]}
    assert "of_ahead does not lose significantly more than Ahead" in found.to_text(2000)
    gains = found.actions.query("run == 'of_dense' and loss == 'document'").set_index("encoder")["gain"]
    expected = []
    for profile in ("default", "base"):
        metrics = Metrics(Published.of("financebench", profile).metrics)
        expected.append((metrics["dense_records", "page_recall", 5] - metrics["dense", "page_recall", 5]).mean())
    assert gains.to_list() == pytest.approx(expected)
    recall = found.metrics.query("method == 'of_dense' and metric == 'page_recall'").set_index("k")["mean"]
    deeper = found.actions.query("run == 'of_dense' and loss == 'depth'")["gain"].item()
    assert deeper == pytest.approx(recall[20] - recall[5])


@pytest.fixture
def own(tmp_path):
    """Open the study of a folder of one's own, which was never measured."""
    changes = {"significance.n_draws": 100}
    return lambda made: open_folder(made.write(), tmp_path / "artifacts", changes, "own")


@pytest.fixture
def mine(own, tmp_path) -> Study:
    """Three companies, a question each, gold page 0."""
    made = DatasetFolder(tmp_path / "own")
    for company in COMPANIES:
        made.text(f"{company}_10K", f"{company} sold 5 tools", "Other page", company=company)
        made.question(f"q{company}", f"{company}_10K", (0, f"{company} sold 5 tools"))
    return own(made)


RUN = {
    "qAcme": ["Acme_10K#p0", "Bolt_10K#p1"],
    "qBolt": ["Bolt_10K#p1"],
    "qCorp": [f"{HOSTILE}#p1"],
    f"q{HOSTILE}": ["Acme_10K#p0"],
}
BETTER = {f"q{one}": [f"{one}_10K#p0"] for one in COMPANIES}


def lines(path: Path, run: dict[str, list[str]]) -> Path:
    path.write_text("".join(json.dumps({"question_id": name, "pages": pages}) + "\n" for name, pages in run.items()))
    return path


def test_one_third_is_found_one_lost_inside_its_filing_and_one_with_it(mine, tmp_path):
    found = diagnosis_of(mine, {"mine": lines(tmp_path / "my.jsonl", RUN)})
    assert found.decomposition.loc[0, ["found", "page", "document"]].tolist() == pytest.approx([1 / 3] * 3)
    kinds = found.failures.set_index("kind")[["n", "examples"]]
    assert kinds.loc["neighbour page"].tolist() == [1, ["qBolt"]]
    assert kinds.loc["other company"].tolist() == [1, ["qCorp"]]
    assert (found.judged[0].beside, len(found.paired), len(found.alone), len(found.actions)) == ((), 0, 0, 0)
    assert means_of(found)["answered", "mrr", 10] == pytest.approx((1 + 0 + 0) / 3)
    page = found.to_html()  # which shows text as text and needs no other file
    assert HOSTILE not in page
    assert "&lt;/script&gt;&lt;img/src=x" in page
    assert re.findall(r"""<script|<link|(?:src|href|url\()=?["']?https?:""", page) == []


def test_texts_of_passages_are_compared_with_the_evidence(mine):
    rows = [("qAcme", "Acme_10K", 1, "Acme sold 5 tools"), ("qBolt", "Bolt_10K", 0, "nothing")]
    run = pd.DataFrame(rows, columns=["question_id", "doc", "page", "text"])
    means = means_of(diagnosis_of(mine, {"mine": run}))
    assert means["answered", "ctx_rouge_l", 5] == pytest.approx(1 / 2)
    assert means["all", "ctx_rouge_l", 5] == pytest.approx(1 / 3)
    assert not diagnosis_of(mine, {"mine": run.drop(columns="text")}).metrics["metric"].isin(["ctx_bleu"]).any()


def test_a_label_is_the_page_that_its_pdf_prints_it_on(own, tmp_path):
    made = DatasetFolder(tmp_path / "own")
    path = made.pdf("Acme_10K", "Cover", "Contents", "Acme sold 5 tools", "Other page")
    with pymupdf.open(path) as opened:
        opened.set_page_labels([{"startpage": 0, "style": "r"}, {"startpage": 2, "style": "D"}])
        opened.saveIncr()
    made.question("qAcme", "Acme_10K", (2, "Acme sold 5 tools"))
    nodes = [{"file_name": "Acme_10K.pdf", "page_label": label} for label in ("ii", "1")]
    (tmp_path / "my.json").write_text(json.dumps([{"question_id": "qAcme", "source_nodes": nodes}]))
    found = diagnosis_of(own(made), {"mine": tmp_path / "my.json"})
    assert found.judged[0].run["page"].tolist() == [1, 2]
    assert found.decomposition["found"].tolist() == [1]


def test_several_runs_stand_beside_each_other_by_names_that_a_file_can_have(mine, tmp_path):
    second = lines(tmp_path / "second.jsonl", BETTER)
    found = diagnosis_of(mine, {"mine": lines(tmp_path / "my.jsonl", RUN), "second": second})
    pairs = found.paired.set_index(["run", "method"])["difference"]
    assert pairs.to_dict() == pytest.approx({("mine", "second"): -2 / 3, ("second", "mine"): 2 / 3})
    assert [one.name for one in stored_runs(mine)] == ["mine", "second"]
    for name in ("dense", "../up", "", "a b", "<b>", ".hidden"):
        with pytest.raises(StudyError, match="a run is named"):
            diagnosis_of(mine, {name: second})
    with pytest.raises(StudyError, match="no run is given"):
        diagnosis_of(mine, {})


def test_the_page_of_other_runs_has_another_name():
    many = [f"run-{number:056}" for number in range(9)]
    names = [file_name(runs) for runs in (["mine", "theirs"], many, many[:8], [*many[:8], "other"])]
    assert names[0] == "diagnosis-mine+theirs.html"
    assert len({*names}) == 4
    assert max(map(len, names)) < 120


def test_axe_finds_no_fault_and_no_script_runs(browser, financebench, mine, tmp_path):  # noqa: F811
    run = financebench.published.runs["standard", "dense"].sample(frac=1, random_state=0)
    run = run.rename(columns={"doc_name": "doc"})[["question_id", "doc", "page"]]
    hostile = diagnosis_of(mine, {"mine": lines(tmp_path / "my.jsonl", RUN)})
    for width, one in ((1200, hostile), (390, diagnosis_of(financebench, {"mine": run, "other": run}))):
        path = tmp_path / "page.html"
        path.write_text(one.to_html())
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        for scheme in ("light", "dark"):
            feature = {"name": "prefers-color-scheme", "value": scheme}
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
            open_page(browser, path.as_uri())
            assert browser.execute_script("return window.hacked === undefined")
            assert browser.execute_script("return document.documentElement.scrollWidth") <= width
            assert axe_faults(browser) == []
