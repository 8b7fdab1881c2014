"""The pages that write themselves: method cards, appendix, headline; and the workflows, which run only make."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pandas as pd
import pytest
import yaml

from extras.publish.readme import BEGIN, END, fill_headline
from lib.book.headline import (
    figure_alt,
    headline_rows,
    headline_table,
    made_by,
    sentences,
)
from lib.book.manifest import read_summary
from lib.book.pages import (
    as_markdown,
    breakable,
    card,
    citations,
    numbers_table,
    pinned_packages,
    stages_table,
    what_fixes,
    write_pages,
)
from lib.evaluation import SUMMARY_COLUMNS
from lib.methods import MATCHED, METHODS, of_family
from lib.models.weights import lock
from lib.profile import load_profile
from lib.words import StudyError

ROOT = Path(__file__).resolve().parents[2]
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
    assert "| standard | 1.00 \\[0.44,&nbsp;1.00\\]" in text


@pytest.mark.parametrize("row", METHODS.values(), ids=list(METHODS))
def test_every_method_has_a_card_without_numbers_too(row):
    study = SimpleNamespace(profile=load_profile("default"), dataset=SimpleNamespace(name="any"))
    text = card(study, row, pd.DataFrame(columns=SUMMARY_COLUMNS))
    assert f"## {row.title}\n" in text
    assert ":func:" not in text


def test_a_docstring_becomes_markdown():
    text = "Fuse ``1 / k``, see :func:`lib.runs.rank`.\n\nMore.\n\nArgs:\n    runs: lists.\n"
    assert as_markdown(text) == "Fuse `1 / k`, see `lib.runs.rank`.\n\nMore."


def test_the_appendix_names_what_the_numbers_were_made_from(pages, study):
    text = pages["appendix"]
    for needed in (
        study.dataset.fingerprint,
        "significance.seed",
        "numpy",
        "runs",
        "@software{retrievalgap,\n  author = {{",
    ):
        assert needed in text
    assert "| `generator` | Qwen2.5\\-Coder\\-0.5B" in text


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
    row = stages_table(stages).iloc[0]
    assert row.to_dict() == {
        "Stage": "`runs`",
        "Results": 2,
        "Origin": "computed, reused",
        "Seconds": "3.5",
        "MiB": "30",
    }
    assert len(stages_table(stages, whole=True)) == 2


def test_citations_come_from_the_citation_file():
    (_, own, _), (kind, key, fields), (_, dataset, _) = citations()
    assert (own, kind, key, dataset) == ("retrievalgap", "misc", "kobeissi2026", "islam2023")
    assert fields["author"] == "Kobeissi, Amine and Langlais, Philippe"


def test_the_headline_compares_the_best_baseline_with_itself_when_the_filing_is_given():
    runs = (("bm25", "standard", 0.0), ("dense", "standard", 0.1), ("dense", "oracle-document", 0.2))
    assert list(headline_rows(summary(*runs, ("bm25", "oracle-document", 0.4)))) == [
        ("best baseline", "dense", "standard"),
        ("filing given", "dense", "oracle-document"),
    ]


def test_the_best_row_with_matched_filings_is_in_the_headline_once_it_is_measured():
    first, second = of_family(MATCHED)[:2]
    runs = (("dense", "standard", 0.0), (first, "standard", 0.1), (second, "standard", 0.2))
    table = summary(*runs)
    assert list(headline_rows(table))[1] == ("filings matched", second, "standard")
    assert f"{METHODS[second].title}, which first matches" in sentences(table)[1]
    assert (
        "finds 60%. Both this row and the baseline are the best of their kind on the very"
        in sentences(table)[1]
    )


def test_the_sentences_take_their_numbers_from_the_table():
    told = summary(("dense", "standard", 0.0), ("dense", "oracle-document", 0.1))
    first, second = sentences(told)
    assert "is the right filing for 90% of the questions, but only 40% of the gold pages" in first
    assert "the same method finds 50% of the gold pages: 50% are lost inside the right filing" in second
    assert "against 60% without it" in second
    assert headline_table(told, "demo")["Page recall"].tolist() == ["0.40 [0.40, 0.40]", "0.50 [0.40, 0.40]"]


def test_ahead_is_given_as_the_mean_over_the_draws_of_its_folds():
    runs = (("dense", "standard", 0.0), ("ahead", "standard", 0.4), ("ahead", "oracle-document", 0.5))
    table = summary(*runs)
    assert sentences(table)[-1].endswith("finds 80% of the gold pages; with the filing given, 90%.")
    draw = table[table["metric"] == "page_recall"].iloc[:1].assign(method="ahead")
    draws = [
        draw.assign(metric=f"rung_page_recall/whole_{n}", mean=mean) for n, mean in ((13, 0.8), (14, 0.7))
    ]
    assert "finds 75% of the gold pages on average over 2 draws of its folds (80% in the first" in " ".join(
        sentences(pd.concat([table, *draws]))
    )


def test_reported_figures_stand_in_the_books_of_their_dataset_alone():
    runs = ("dense", "page_scorer", "page_scorer_filing")
    table = summary(*((name, "standard", 0.0) for name in runs))
    column = headline_table(table, "financebench")["Reported D / P / B / R"]
    assert column.tolist() == ["0.88 / 0.34 / 0.26 / 0.35", "–", "0.95 / 0.55 / 0.33 / 0.46"]
    assert "Reported D / P / B / R" not in headline_table(table, "page-questions")
    row, part = METHODS["page_scorer_filing"], table[table["method"] == "page_scorer_filing"]
    theirs, other = (SimpleNamespace(dataset=SimpleNamespace(name=name)) for name in ("financebench", "demo"))
    assert "| standard, reported | 0.95 | 0.55 | 0.33 | 0.46 | 150 |" in numbers_table(theirs, row, part)
    assert "reported" not in numbers_table(other, row, part)


def test_the_headline_fragment_numbers_its_table(pages, study):
    assert ":name: tab-headline" in pages["headline"]
    assert (study.outputs / "tables" / "headline.csv").is_file()
    assert len(headline_table(read_summary(study), study.dataset.name)) == 2


def test_the_headline_links_to_the_cells_that_made_it(study):
    assert "{doc}`../notebooks/03_baselines`" in made_by(study)
    cell = nbformat.v4.new_markdown_cell("::::{table} T\n:name: tab-oracles\n:class: study-table\n::::")
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), study.outputs / "notebooks" / "02_oracles.ipynb")
    assert made_by(study) == (
        "The numbers are those of {numref}`tab-oracles`; each stands under the notebook cell that made it."
    )


def test_the_figure_is_told_in_words(study):
    shares = {"evidence_found": 0.3, "lost_at_document": 0.2, "lost_at_page": 0.5, "lost_at_chunk": 0.0}
    rows = [("bm25", "standard", metric, value) for metric, value in shares.items()]
    rows += [("bm25", "oracle-page", metric, 1.0) for metric in shares]
    table = pd.DataFrame(rows, columns=["method", "condition", "metric", "mean"])
    study.write("figures/decomposition.csv", table.to_csv(index=False))
    text = figure_alt(study)
    assert "one for each of 1 methods" in text
    assert "BM25 finds 30% and loses 20% at the document, 50% at the page, 0% at the chunk" in text


def test_a_readme_without_its_marks_is_refused(tmp_path, study):
    (tmp_path / "README.md").write_text(f"{BEGIN}\n")
    with pytest.raises(StudyError, match=f"needs one line '{BEGIN}' and one line '{END}'"):
        fill_headline(tmp_path / "README.md", read_summary(study), {})


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.stem
)
def test_a_workflow_runs_nothing_that_make_does_not(path):
    steps = [step for job in yaml.safe_load(path.read_text())["jobs"].values() for step in job["steps"]]
    commands = [step["run"] for step in steps if "run" in step]
    assert commands
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.M))
    for command in commands:
        assert re.fullmatch(r"make [\w-]+( [A-Z_]+=\S+)*", command), command
        assert command.split()[1] in targets


def test_every_written_page_is_in_the_table_of_contents():
    listed = set(re.findall(r"(?:file|root): (\S+)", (ROOT / "_toc.yml").read_text()))
    written = {f"book/{path.stem}" for path in (ROOT / "book").glob("*.md")}
    chapters = {f"notebooks/{path.stem}" for path in (ROOT / "notebooks").glob("[0-9]*.ipynb")}
    made = {"pages/methods", "pages/siblings", "pages/reported", "pages/appendix"}
    assert written | made <= listed <= written | made | chapters
