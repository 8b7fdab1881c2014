"""The pages that write themselves: method cards, appendix, headline; and the workflows, which run only make."""

import json
import re
import shutil
import subprocess
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
import sphinx
import yaml

from extras.publish.readme import BEGIN, END, fill_headline
from lib.analysis.growth import GROWTH
from lib.answers.sure import fitted
from lib.book import headline
from lib.book import pages as pages_of_book
from lib.book.build import add_repository, tidy
from lib.book.headline import calculated, readme_text, sentences
from lib.book.pages import (
    breakable,
    card,
    citations,
    numbers_table,
    pinned_packages,
    stages_table,
    what_fixes,
    write_pages,
)
from lib.book.templates import filled
from lib.data.dataset import read_dataset
from lib.data.locate import DEMO
from lib.evaluation import ANSWER_COLUMNS, SUMMARY_COLUMNS
from lib.methods import METHODS
from lib.models.weights import lock
from lib.profile import load_profile
from lib.words import StudyError

ROOT = Path(__file__).resolve().parents[2]
RUNGS = {"kinds": 0.7, "statements": 0.6}
METRICS = {"doc_recall": 0.9, "page_recall": 0.4, "ctx_bleu": 0.2, "ctx_rouge_l": 0.3}


def summary(*rows: tuple[str, str, float]) -> pd.DataFrame:
    """A summary at 5 chunks; the number is added to every metric."""
    lines = [
        (method, condition, metric, 5, value + more, value, value, 150, 32)
        for method, condition, more in rows
        for metric, value in METRICS.items()
    ]
    return pd.DataFrame(lines, columns=SUMMARY_COLUMNS)


@pytest.fixture
def pages(study) -> dict[str, str]:
    write_pages(study, json.loads((study.outputs / "manifest.json").read_text()))
    return {path.stem: path.read_text() for path in (study.outputs / "pages").glob("*.md")}


def test_a_method_card_has_source_settings_numbers_and_a_command(pages):
    text = pages["methods"]
    assert "(method-bm25)=\n## BM25" in text
    assert "{cite}`robertson2009bm25`" in text
    assert "bm25: {k1: 1.5, b: 0.75}" in text
    assert """make notebook NB=03_baselines PARAMS='-p methods "[bm25]"'""" in text
    assert "| all filings | 1.00 \\[0.44,&nbsp;1.00\\]" in text


@pytest.mark.parametrize("row", METHODS.values(), ids=list(METHODS))
def test_every_method_has_a_card_without_numbers_too(row):
    study = SimpleNamespace(profile=load_profile("default"), dataset=SimpleNamespace(name="any"))
    text = card(study, row, pd.DataFrame(columns=SUMMARY_COLUMNS))
    assert f"## {row.title}\n" in text
    assert not re.search(":func:|``|\nArgs:", text.partition("```yaml")[0])


def test_the_appendix_names_what_the_numbers_were_made_from(pages, study):
    needed = study.dataset.fingerprint, "significance.seed", "numpy", "runs", "@software{retrievalgap,\n  author = {{"
    assert [one for one in (*needed, "| `generator` | Qwen2.5\\-Coder\\-0.5B") if one not in pages["appendix"]] == []


def test_weights_are_fixed_by_hashes_and_hub_models_by_their_commit():
    record = lock()["bge-m3"]["hub"]
    assert what_fixes({"name": "bge-m3", "files": {}, "weights": "00"}) == (
        f"commit `{record['revision']}` of `BAAI/bge-m3`<br>"
        f"pytorch\\_model.bin: {breakable(record['sha256']['pytorch_model.bin'])}"
    )
    assert breakable("0123456789abcdef01") == "<code>0123456789abcdef<wbr>01</code>"
    assert what_fixes({"name": "mine", "files": {}, "weights": "00"}) == "`00` over all files"
    assert what_fixes({"name": "minilm", "files": {"a": "11"}, "weights": "00"}) == "a: <code>11</code>"


def test_every_pinned_package_and_locked_model_has_a_licence():
    packages = {name: (version, licence) for name, version, licence in pinned_packages()}
    assert packages["numpy"][0]
    assert "BSD" in packages["numpy"][1]
    assert all(model["licence"] not in ("", "unknown") for model in lock().values())


def test_seconds_are_summed_and_memory_is_the_peak():
    stages = [
        {"stage": "runs/standard/bm25", "origin": "computed", "wall_s": 1.5, "peak_mib": 10.0},
        {"stage": "runs/standard/dense", "origin": "reused", "wall_s": 2.0, "peak_mib": 30.0},
    ]
    expected = {"Stage": "`runs`", "Results": 2, "Origin": "computed, reused", "Seconds": "3.5", "MiB": "30"}
    assert stages_table(stages).to_dict("records") == [expected]
    assert len(stages_table(stages, whole=True)) == 2


def test_citations_come_from_the_citation_file():
    (_, own, _), (kind, key, fields), (_, dataset, _) = citations()
    assert (own, kind, key, dataset) == ("retrievalgap", "misc", "kobeissi2026", "islam2023")
    assert fields["author"] == "Kobeissi, Amine and Langlais, Philippe"
    assert filled("citation", citations=citations()[:1]).strip() in (ROOT / "README.md").read_text()


def test_the_finding_is_of_the_best_baseline_and_names_the_larger_loss():
    told = summary(("dense", "standard", 0.0), ("bm25", "standard", -0.1))
    told["mean"] = told["mean"].where(told["metric"] != "page_recall", told["mean"] - 0.1)
    first, second = sentences(told, 84)
    assert first == "Most evidence is lost on the wrong page of the right filing."
    assert "the best ordinary method (Dense, first 5 chunks) finds 30% on average" in second
    assert "loses 10% with the filing and 60% inside a filing that it did reach (150 questions over 84" in second
    found = told.assign(mean=told["mean"].where(told["metric"] != "page_recall", 0.6))
    assert sentences(found, 84)[0] == "What is lost is lost mostly on the wrong page of the right filing."
    missed = told.assign(mean=told["mean"].where(told["metric"] != "doc_recall", 0.31))
    assert sentences(missed, 84)[0] == "Most evidence is lost because another filing is searched."


def test_the_match_is_compared_with_dense_and_ahead_is_a_mean_over_its_folds():
    table = summary(("dense", "standard", 0.0), ("dense_records", "standard", 0.2), ("ahead", "standard", 0.4))
    _, _, match, ahead = sentences(table, 84)
    assert "takes a plain dense search from 40% to 60%" in match
    assert "finds 80% (" in ahead
    draw = table[table["metric"] == "page_recall"].iloc[:1].assign(method="ahead")
    rungs = [draw.assign(metric=f"rung_page_recall/{name}", mean=mean) for name, mean in RUNGS.items()]
    ahead = sentences(pd.concat([table, *rungs]), 84)[-1]
    assert "finds 70% (" in ahead
    assert "or 60% without its hand-written page kinds" in ahead


def test_calculated_answers_are_by_context_and_none_where_one_was_not_read(tmp_path):
    study = SimpleNamespace(outputs=tmp_path, profile=load_profile("default"))
    assert calculated(study) == {}
    shares, own = {"ahead": 1.0, "best-baseline": 0.0, "oracle-page": 0.5}, study.profile.generator.weights
    rows = [
        (context, prompt, generator, question, "answer_right", value * (generator == own))
        for context, value in shares.items()
        for prompt, generator, question in product(("plain", "calculation"), (own, "larger"), "ab")
    ]
    table = pd.DataFrame(rows, columns=ANSWER_COLUMNS)
    table.to_csv(tmp_path / "answers.csv.gz", index=False)
    assert calculated(study) == shares | {"n": 2}
    table[table["context"] != "ahead"].to_csv(tmp_path / "answers.csv.gz", index=False)
    assert calculated(study) == {}


def test_what_a_better_encoder_lifts_is_said_where_it_is_published(monkeypatch, tmp_path):
    before = summary(("dense", "standard", -0.2), ("dense_records", "standard", 0.1), ("ahead", "standard", 0.4))
    study = SimpleNamespace(dataset=SimpleNamespace(name="financebench"), profile=load_profile("default"))
    monkeypatch.setattr(headline.Published, "of", lambda *names: None)
    assert headline.better(study, before) is None
    rows = (("dense", "standard", 0.0), ("dense_records", "standard", 0.11), ("ahead", "standard", 0.4))
    summary(*rows).to_csv(tmp_path / "summary.csv", index=False)
    monkeypatch.setattr(headline.Published, "of", lambda *names: SimpleNamespace(file=lambda name: tmp_path / name))
    given = {"named": None, "second": None, "outside": [("Other", 0.07, "not shown")], "calculated": {}, "n": 3}
    given |= {"n_companies": 2, "has_ahead": True, "is_designed_on": True}
    text = filled("trust", models=["a"], better=headline.better(study, before), **given)
    assert "(bge-small-en-v1.5, int8) takes page recall from 20% to 40% for Dense; from 50% to 51% for Dense," in text
    assert "from 80% to 80% for Ahead (chapter 3)." in text
    assert "from a dense search behind the match is +0.07 on Other (not shown) (chapter 7)." in text
    assert headline.better(study, before.iloc[:0]) is None


def test_what_chapters_found_on_other_sets_is_read_with_its_verdict(tmp_path):
    study = SimpleNamespace(outputs=tmp_path, dataset=SimpleNamespace(name="own"))
    assert (headline.second_set(study), headline.outside(study)) == (None, [])
    (tmp_path / "tables").mkdir()
    ends = "difference,difference_low,difference_high,p_holm"
    (tmp_path / headline.OF_SETS).write_text(
        f"set,context,mean,{ends}\nown,ahead_general,0.7,0.5,0.3,0.7,0.01\n"
        "other,best-baseline,0.1,,,,\nother,ahead_general,0.25,0.05,-0.1,0.2,1.0\n"
    )
    (tmp_path / headline.OUTSIDE).write_text(
        f"set,contrast,{ends}\nA,Ahead − matched dense,0.3,0.1,0.5,0.03\nA,page kinds,0.1,0.0,0.2,0.5\n"
    )
    assert headline.second_set(study) == {"before": 0.2, "after": 0.25, "tier": "not shown"}
    assert headline.outside(study) == [("A", 0.3, "gain")]


def test_reported_figures_stand_in_the_books_of_their_dataset_alone():
    runs = ("dense", "page_scorer", "page_scorer_filing")
    table = summary(*((name, "standard", 0.0) for name in runs))
    row, part = METHODS["page_scorer_filing"], table[table["method"] == "page_scorer_filing"]
    theirs, other = (SimpleNamespace(dataset=SimpleNamespace(name=name)) for name in ("financebench", "demo"))
    assert "| all filings, reported | 0.95 | 0.55 | 0.33 | 0.46 | 150 |" in numbers_table(theirs, row, part)
    assert "reported" not in numbers_table(other, row, part)


def test_headline_figure_and_readme_say_what_was_found(pages, study, tmp_path):
    assert "## What to change, in this order" in pages["headline"]
    made = json.loads((study.outputs / "manifest.json").read_text())
    text = readme_text(study, SimpleNamespace(manifest=made, digest="0" * 64))
    assert "the best ordinary method (BM25, first 5 chunks)" in text
    assert "**How far to trust it**" in text
    (tmp_path / "README.md").write_text(f"{BEGIN}\n")
    with pytest.raises(StudyError, match=f"needs one line '{BEGIN}' and one line '{END}'"):
        fill_headline(tmp_path / "README.md", study, {})


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.stem)
def test_a_workflow_runs_nothing_that_make_does_not(path):
    steps = [step for job in yaml.safe_load(path.read_text())["jobs"].values() for step in job["steps"]]
    commands = [step["run"] for step in steps if "run" in step]
    assert commands
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.M))
    for command in commands:
        assert re.fullmatch(r"make [\w-]+( [A-Z_]+=\S+)*", command), command
        assert command.split()[1] in targets


def test_every_written_page_is_in_the_table_of_contents_and_refers_to_what_a_chapter_makes():
    listed = set(re.findall(r"(?:file|root): (\S+)", (ROOT / "_toc.yml").read_text()))
    written = {f"book/{path.stem}" for path in (ROOT / "book").glob("*.md")}
    chapters = {f"notebooks/{path.stem}" for path in (ROOT / "notebooks").glob("[0-9a]*.ipynb")}
    made = {f"pages/{name}" for name in ("methods", "siblings", "reported", "appendix", "leaderboard", "asked")}
    assert written | made <= listed <= written | made | chapters
    sources = "".join(path.read_text() for path in (ROOT / "notebooks").glob("[0-9a]*.ipynb"))
    pages = "".join(path.read_text() for path in (ROOT / "book").glob("*.md"))
    labels = re.findall(r"\{numref\}`(?:tab|fig)-([\w-]+)`", pages)
    assert [label for label in labels if f'\\"{label}\\"' not in sources] == []


def test_binder_builds_the_demo_by_make():
    script = ROOT / ".binder" / "postBuild"
    assert script.stat().st_mode & 0o100, "repo2docker runs it"
    subprocess.run(["bash", "-n", script], check=True)
    (target,) = re.findall(r"^make ([\w-]+)", script.read_text(), flags=re.M)
    subprocess.run(["make", "-n", target], cwd=ROOT, check=True, capture_output=True)
    assert (ROOT / ".binder" / "runtime.txt").read_text().strip() == "python-3.11"


def test_the_first_page_calls_unknown_only_what_no_chapter_measured():
    rows = (ROOT / "book" / "intro.md").read_text().splitlines()
    (row,) = [row for row in rows if "many more filings" in row]
    assert (ROOT / "book" / "results" / "financebench" / "default" / GROWTH).is_file()
    assert "{doc}`../notebooks/10_growth`" in row
    assert "unknown" not in row


def test_pages_have_no_icon_script_the_search_page_alone_has_the_index_and_excerpts_have_no_code(tmp_path):
    script = '<script src="../_static/searchtools.js"></script>\n<script src="../searchindex.js"></script>'
    icons = '<script defer src="_static/scripts/fontawesome.js?digest=1"></script>'
    for name in ("intro.html", "search.html"):
        (tmp_path / name).write_text(f"<head>{icons}{script}</head>")
    (tmp_path / "_static").mkdir()
    for path in (Path(sphinx.__file__).parent / "themes").rglob("searchtools.js"):
        shutil.copy(path, tmp_path / "_static")
    tidy(tmp_path)
    assert (tmp_path / "intro.html").read_text() == "<head></head>"
    assert (tmp_path / "search.html").read_text() == f"<head>{script}</head>"
    said = '[".headerlink", "details.hide, .cell_input, .code-switch", "script", "style"]'
    assert said in (tmp_path / "_static" / "searchtools.js").read_text()


def test_with_its_address_a_book_links_to_the_repository():
    config = yaml.safe_load((ROOT / "_config.yml").read_text())
    add_repository(config, "https://example.org/gap")
    assert config["repository"]["url"] == "https://example.org/gap"


ONE = {"question": "What was revenue?", "answer": "$5", "confidence": 0.95, "formula": "net_income", "why_not": ""}
ONE |= {"reference": "$5.00", "document": "ACME", "gold": [0]}
CELL = {"item": "revenue", "document": "ACME", "page": 0, "row": "Net <sales>", "year": 2020, "value": "5", "unit": ""}
PAGE = {"document": "ACME", "page": 0, "score": 1.0, "filing": "Acme 2020", "fits": "company", "passage": ""}


def test_the_record_is_of_the_demo_s_own_questions_with_gold_pages():
    questions = read_dataset(DEMO, "demo").questions.set_index("question")
    found = json.loads(pages_of_book.ASKED.read_text(encoding="utf-8"))
    assert len({one["question"] for one in found}) == 10
    for one in found:
        known = questions.loc[one["question"]]
        assert (one["reference"], one["document"]) == (known["answer"], known["doc_name"])
        assert one["gold"] == list(known["gold_pages"])
        assert (one["answer"] is None) == (one["confidence"] < fitted()["least"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "Reference: $5.00 (right)"),
        ({"answer": "$7"}, "Reference: $5.00 (wrong)"),
        ({"answer": None, "why_not": "no page has a table"}, "**No figure found**: no page has a table"),
    ],
)
def test_a_question_has_its_answer_its_cells_and_its_pages(monkeypatch, tmp_path, change, said):
    monkeypatch.setattr(pages_of_book, "ASKED", tmp_path / "asked.json")
    pages_of_book.ASKED.write_text(json.dumps([ONE | {"cells": [CELL], "pages": [PAGE]} | change]), encoding="utf-8")
    page = pages_of_book.asked_page()
    assert said in page.replace("\\$", "$")
    assert "ACME, page 0 (gold)" in page
    assert "Net <sales>" not in page


def test_what_was_measured_is_a_row_of_each_set():
    assert pages_of_book.measured()["Questions"].tolist() == ["financebench", "page-questions"]
    known, shown = fitted()["measured"], pages_of_book.measured()
    assert shown["Read"].tolist() == [one["read"] for one in known]
    assert [float(cell.split()[0]) for cell in shown["Answered"]] == [
        round(one["n"] * one["answered"], 1) for one in known
    ]
