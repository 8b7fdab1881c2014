"""The manifest, the pages that write themselves, and the workflows, which run only make."""

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
from lib.book import headline
from lib.book import pages as pages_of_book
from lib.book.build import tidy
from lib.book.headline import calculated, intervals, readme_text, sentences
from lib.book.manifest import git_commit, shortened, stages_of, write_manifest
from lib.book.pages import breakable, card, citation, stages_table, what_fixes, write_pages
from lib.book.templates import filled
from lib.data.dataset import read_dataset
from lib.data.locate import DEMO
from lib.evaluation import ANSWER_COLUMNS, SUMMARY_COLUMNS
from lib.files import ROOT
from lib.methods import METHODS
from lib.models.weights import lock
from lib.profile import load_profile
from lib.schema import StudyError
from lib.statements.sure import fitted

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
    return SimpleNamespace(dataset=SimpleNamespace(name=name), profile=load_profile("default"), **given)


def test_the_pages_of_a_study_state_what_they_are_made_from(study, tmp_path):
    made = json.loads((study.outputs / "manifest.json").read_text())
    write_pages(study, made)
    pages = {path.stem: path.read_text() for path in (study.outputs / "pages").glob("*.md")}
    for page, wanted in (
        ("methods", "(method-bm25)=\n## BM25"),
        ("methods", "{cite}`robertson2009bm25`"),
        ("methods", "bm25: {k1: 1.5, b: 0.75}"),
        ("methods", """make notebook NB=03_baselines PARAMS='-p methods "[bm25]"'"""),
        ("methods", "| all filings | 1.00 \\[0.44,&nbsp;1.00\\]"),
        *(("appendix", one) for one in (study.dataset.fingerprint, "significance.seed", "numpy", "| numpy | ", "BSD")),
        ("appendix", "| `generator` | Qwen2.5\\-Coder\\-0.5B"),
        ("appendix", "@software{retrievalgap,\n  author = {{"),
        ("headline", "## What to change, in this order"),
    ):
        assert wanted in pages[page], wanted
    text = readme_text(study, SimpleNamespace(manifest=made, digest="0" * 64))
    assert "the best ordinary method (BM25, first 5 chunks, filings not matched)" in text
    assert "**How far to trust it**" in text
    (tmp_path / "README.md").write_text(f"{BEGIN}\n")
    with pytest.raises(StudyError, match=f"needs one line '{BEGIN}' and one line '{END}'"):
        fill_headline(tmp_path / "README.md", study, {})


@pytest.mark.parametrize("row", METHODS.values(), ids=list(METHODS))
def test_every_method_has_a_card_without_numbers_too(row):
    text = card(study_of(), row, pd.DataFrame(columns=SUMMARY_COLUMNS))
    assert f"## {row.title}\n" in text
    assert not re.search(":func:|``|\nArgs:", text.partition("```yaml")[0])


def test_weights_are_fixed_by_hashes_and_hub_models_by_their_commit_and_all_have_a_licence():
    record = lock()["bge-m3"]["hub"]
    assert what_fixes({"name": "bge-m3", "files": {}, "weights": "00"}) == (
        f"commit `{record['revision']}` of `BAAI/bge-m3`<br>"
        f"pytorch\\_model.bin: {breakable(record['sha256']['pytorch_model.bin'])}"
    )
    assert breakable("0123456789abcdef01") == "<code>0123456789abcdef<wbr>01</code>"
    assert what_fixes({"name": "mine", "files": {}, "weights": "00"}) == "`00` over all files"
    assert what_fixes({"name": "minilm", "files": {"a": "11"}, "weights": "00"}) == "a: <code>11</code>"
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
    entries = ["software{retrievalgap", "misc{kobeissi2026", "misc{islam2023"]
    assert re.findall(r"^@(\w+\{\w+),", citation(3), flags=re.M) == entries
    assert "  author = {Kobeissi, Amine and Langlais, Philippe},\n" in citation(3)
    assert citation(1).strip() in (ROOT / "README.md").read_text()


BOTH, LOST = (("dense", 0.0), ("bm25", -0.1)), {"page_recall": 0.3}
AHEAD = summary(("dense", 0.0), ("ahead", 0.4))
DRAW = AHEAD[AHEAD["metric"] == "page_recall"].iloc[:1].assign(method="ahead")
RUNGS = [DRAW.assign(metric="rung_page_recall/kinds", mean=0.7)]
RUNGS += [DRAW.assign(metric="rung_page_recall/statements", mean=0.6)]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (summary(*BOTH, **LOST), "Most evidence is lost on the wrong page of the right filing."),
        (summary(*BOTH, page_recall=0.6), "What is lost is lost mostly on the wrong page of the right filing."),
        (summary(*BOTH, doc_recall=0.31, **LOST), "Most evidence is lost because another filing is searched."),
        (
            summary(*BOTH, doc_recall=1, page_recall=1),
            "No evidence is lost: the best ordinary method finds every page of it.",
        ),
        (
            summary(*BOTH, doc_recall=0.8, page_recall=0.6),
            "Evidence is lost on the wrong page of the right filing as often as because another filing is searched.",
        ),
        (summary(*BOTH, **LOST), "the best ordinary method (Dense, first 5 chunks, filings not matched) finds 30% on"),
        (
            summary(*BOTH, **LOST),
            "loses 10% with the filing and 60% inside a filing that it did reach (50% where other pages that",
        ),
        (summary(*BOTH, ("dense_records", 0.2)), "takes a plain dense search from 40% to 60%"),
        (AHEAD, "finds 80%."),
        (
            pd.concat([AHEAD, *RUNGS]),
            "finds 70% (mean over draws of its folds), or 60% without its hand-written page kinds",
        ),
    ],
)
def test_the_finding_is_of_the_best_baseline_and_names_the_larger_loss(table, said, tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / headline.POOLED).write_text("method,lost_pooled\ndense,0.5\n")
    assert said in "\n".join(sentences(study_of(outputs=tmp_path), table))


def test_a_profile_of_large_models_claims_neither_small_ones_nor_two_cores():
    study = study_of()
    assert headline.has_small_models(study)
    study.profile = load_profile("paper")
    assert not headline.has_small_models(study)
    given = {"n": 3, "n_companies": 2, "named": None, "has_ahead": False, "models": ["a"], "outside": []}
    said = "3 questions about 2 companies; models (a). With other models every number may change."
    assert filled("trust", **given, is_designed_on=False, is_small=False).strip() == said


def test_a_commit_is_short_with_its_mark_and_unknown_without_git(monkeypatch):
    assert [shortened(one) for one in (f"{'0a' * 20}-dirty", "0a" * 20, "unknown")] == [
        "0a0a0a0a0a-dirty",
        "0a0a0a0a0a",
        "unknown",
    ]
    monkeypatch.setenv("PATH", "/nowhere")
    assert git_commit() == "unknown"


def test_the_caption_has_the_intervals_of_the_best_baseline():
    found = summary(*BOTH, lost_at_page=0.5)
    assert intervals(found).endswith("of: found 40% to 40%, lost inside it 50% to 50%.")


def test_calculated_answers_are_by_context_and_none_where_one_was_not_read(tmp_path):
    study = study_of(outputs=tmp_path)
    assert calculated(study) == {}
    shares, own = {"best-baseline": 0.5, "ahead": 1.0, "oracle-page": 1.0}, study.profile.generator.weights
    places = product(shares, ("plain", "calculation"), (own, "larger"), "ab", ["answer_right"], [0])
    table = pd.DataFrame(places, columns=ANSWER_COLUMNS)
    is_own = (table["prompt"] == "calculation") & (table["generator"] == own)
    table["value"] = table["context"].map(shares).where(is_own, 0)
    table.to_csv(tmp_path / "answers.csv.gz", index=False)
    assert calculated(study) == shares | {"n": 2}
    table[table["context"] != "ahead"].to_csv(tmp_path / "answers.csv.gz", index=False)
    assert calculated(study) == {}


def test_trust_says_what_encoders_and_other_sets_change(monkeypatch, tmp_path):
    before = summary(("dense", -0.2), ("dense_records", 0.1), ("ahead", 0.4))
    study = study_of(outputs=tmp_path)
    monkeypatch.setattr(headline.Published, "of", lambda *names: None)
    assert headline.better(study, before) is None
    assert headline.shown(study, headline.OUTSIDE) == []
    summary(("dense", 0.0), ("dense_records", 0.11), ("ahead", 0.4)).to_csv(tmp_path / "summary.csv", index=False)
    monkeypatch.setattr(headline.Published, "of", lambda *names: SimpleNamespace(file=lambda name: tmp_path / name))
    (tmp_path / "tables").mkdir()
    ends = "difference,difference_low,difference_high,p_holm"
    lines = "other,best-baseline,0.1,,,,\nother,ahead_general,0.25,0.05,-0.1,0.2,1.0\n"
    (tmp_path / headline.OF_SETS).write_text(f"set,context,mean,{ends}\n{lines}")
    (tmp_path / headline.OUTSIDE).write_text(f"set,contrast,{ends}\nA,Ahead − matched dense,0.3,0.1,0.5,0.03\n")
    found = {name: headline.shown(study, name) for name in headline.READ[:2]}
    calculated = dict.fromkeys(headline.CALCULATED, 0.5) | {"n": 2}
    given = {"n": 3, "n_companies": 2, "named": None, "has_ahead": True, "is_designed_on": True}
    given |= {"models": ["a"], "is_small": True}
    text = filled("trust", outside=found[headline.OUTSIDE], **given)
    second = found[headline.OF_SETS][0]
    text += filled("further", better=headline.better(study, before), calculated=calculated, second=second)
    assert "(bge-small-en-v1.5, int8) takes page recall from 20% to 40% for Dense; from 50% to 51% for Dense," in text
    assert "from 80% to 80% for Ahead (one draw of folds; verdicts in chapter 3)." in text
    assert "from a dense search behind the match is +0.30 on A (gain) (chapter 7)." in text
    assert "give 25% in place of the best ordinary method's 20% (not shown, chapter 6)." in text
    assert headline.better(study, before.iloc[:0]) is None


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
    (row,) = [row for row in (ROOT / "book" / "intro.md").read_text().splitlines() if "many more filings" in row]
    assert (ROOT / "book" / "results" / "financebench" / "default" / GROWTH).is_file()
    assert "{doc}`../notebooks/10_growth`" in row
    assert "unknown" not in row


def test_binder_builds_the_demo_by_make():
    script = ROOT / ".binder" / "postBuild"
    assert script.stat().st_mode & 0o100, "repo2docker runs it"
    subprocess.run(["bash", "-n", script], check=True)
    (target,) = re.findall(r"^make ([\w-]+)", script.read_text(), flags=re.M)
    subprocess.run(["make", "-n", target], cwd=ROOT, check=True, capture_output=True)
    assert (ROOT / ".binder" / "runtime.txt").read_text().strip() == "python-3.11"


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


def test_the_record_of_answers_is_of_the_demo_s_own_questions_with_gold_pages():
    questions = read_dataset(DEMO, "demo").questions.set_index("question")
    found, page = json.loads(pages_of_book.ASKED.read_text(encoding="utf-8")), pages_of_book.asked_page()
    assert len({one["question"] for one in found}) == 10
    for one in found:
        known = questions.loc[one["question"]]
        assert (one["reference"], one["document"]) == (known["answer"], known["doc_name"])
        assert one["gold"] == list(known["gold_pages"])
        assert (one["answer"] is None) == (one["confidence"] < fitted()["least"])
    assert page.count("(no answer).") == sum(one["answer"] is None for one in found) > 0
    assert page.count("**No sure figure**") == page.count("(no answer).")
    assert len(re.findall(r"^\| (financebench|page\\-questions) \| \d", page, flags=re.M)) == 2
    assert " (gold): " in page


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
