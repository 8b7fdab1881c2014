"""Source notebooks are chapters: no outputs, short cells, prose in Markdown, numbers in prose glued, quick imports."""

import ast
import re
import subprocess
import sys
from itertools import pairwise
from types import SimpleNamespace

import nbformat
import numpy as np
import pandas as pd
import pytest

from lib.analysis import ladder
from lib.analysis.overlap_dose import DOSES
from lib.book.notebooks import chapters
from lib.files import ROOT
from lib.profile import load_profile
from lib.stats import Resampling
from lib.studies import NOTEBOOKS

Cells = list[nbformat.NotebookNode]
CHAPTERS = {name: nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4).cells for name in chapters()}
LONGEST = 10
USED = re.compile(r"\{glue:text\}`([^`:]+)(?::[^`]*)?`")
GLUED = re.compile(r"""\bglue\(\s*f?["']([^"']+)["']""")
F_STRING = re.compile(r"""\bf(["'])(?:(?!\1).)*\1\s*\n\s*f?["']""")
EITHER = re.compile(r"^if .*:\n(?:    .*\n|\n)*?(?:el(?:se|if).*:\n)", re.MULTILINE)
#: What takes seconds to load and few chapters use.
HEAVY = {"torch", "transformers", "sentence_transformers", "chromadb", "lightgbm", "onnxruntime"}
HEAVY |= {"papermill", "pymupdf", "sacrebleu", "scipy.stats", "sklearn"}


@pytest.fixture(params=CHAPTERS)
def name(request) -> str:
    return request.param


@pytest.fixture
def cells(name) -> Cells:
    return CHAPTERS[name]


@pytest.fixture
def code(cells) -> Cells:
    return [cell for cell in cells if cell.cell_type == "code"]


def tags(cell: nbformat.NotebookNode) -> list[str]:
    return cell.metadata.get("tags", [])


def having(pattern: re.Pattern | str, code: Cells) -> list[str]:
    """The ids of the cells in which a pattern is found."""
    return [cell.id for cell in code if re.search(pattern, cell.source)]


def test_there_are_no_outputs_and_nothing_of_extras(code):
    assert code
    assert not [cell.id for cell in code if cell.outputs or cell.execution_count]
    assert having(r"(?m)^\s*(from|import) extras\b", code) == []


def test_it_begins_with_a_question_a_generated_finding_and_what_to_remember(cells):
    title, finding, box, *_ = cells[0].source.split("\n\n")
    assert title.endswith("?")
    assert finding.startswith("**")
    assert finding.rstrip().endswith("**")
    assert USED.search(finding)
    first, *lines = box.splitlines()
    assert first == ":::{admonition} What to remember"
    assert 2 <= len([line for line in lines if line.startswith("- ")]) <= 3


def test_no_two_texts_in_a_row_end_alike(cells):
    texts = [" ".join(cell.source.split()) for cell in cells if cell.cell_type == "markdown"]
    ends = [re.split(r"(?<=[.?!:])\s+", text)[-1] for text in texts]
    assert [one for one, following in pairwise(ends) if one == following] == []


def test_every_parameter_has_a_type_and_a_comment(code):
    assert [cell.id for cell in code if "parameters" in tags(cell)] == [code[0].id]
    lines = code[0].source.splitlines()
    assert all(re.search(r"\S  # [\w\[\]]+: \S", line) for line in lines)
    assert {"dataset", "profile", "results"} <= {line.split(" = ")[0] for line in lines}


def shows(cell: nbformat.NotebookNode) -> bool:
    """Whether a cell ends with something that the reader sees."""
    last = ast.parse(cell.source).body[-1]
    return isinstance(last, ast.Expr) and not ast.unparse(last).startswith("glue(")


def test_markdown_comes_between_what_two_cells_show(cells):
    pairs = pairwise(cell for cell in cells if cell.cell_type == "markdown" or shows(cell))
    assert [after.id for one, after in pairs if one.cell_type == after.cell_type == "code"] == []


def test_cells_are_short(code):
    lengths = {cell.id: len([line for line in cell.source.splitlines() if line.strip()]) for cell in code[2:]}
    assert {cell: n for cell, n in lengths.items() if n > LONGEST} == {}


def test_prose_is_not_in_code(code):
    """No f-string continues on another line, and no cell chooses between a table and a note by itself."""
    assert having(F_STRING, code) == []
    assert having(EITHER, code) == []
    assert having("has_text|has_filings", code) == []


def test_the_idea_is_shown_at_work_in_open_cells(code):
    hidden = {"hide-input", "remove-input", "hide-cell", "remove-cell"}
    assert len([cell for cell in code if not hidden & set(tags(cell))]) >= 2


def test_what_markdown_prints_is_glued_in_the_same_chapter(name, cells, code):
    used = {key for cell in cells if cell.cell_type == "markdown" for key in USED.findall(cell.source)}
    glued = [key for cell in code for key in GLUED.findall(cell.source)]
    assert used == set(glued)
    assert len(glued) == len(set(glued))
    assert all(key.startswith(f"{name[:2]}-") for key in glued), "so that no chapter has another's name"


def test_the_study_is_that_of_the_question_set_that_is_asked_for_and_it_ends_with_how_long_it_took(cells, code):
    opened = next(cell.source for cell in code if "= open_study(" in cell.source)
    assert re.search('questions=questions|"questions": questions', opened)
    assert cells[-1].source.startswith('print(f"This chapter took')
    assert tags(cells[-1]) == ["remove-input"]


def test_chapters_import_nothing_that_takes_seconds():
    sources = [cell.source for cells in CHAPTERS.values() for cell in cells if cell.cell_type == "code"]
    nodes = [node for source in sources for node in ast.parse(source).body]
    lines = {ast.unparse(node): None for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)}
    assert any(line.startswith("from lib.studies import") for line in lines)
    script = "\n".join([*lines, f"import sys; print(*{HEAVY!r} & sys.modules.keys())"])
    found = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.split() == []


def after_cells(name: str, part: str, **given) -> dict[str, object]:
    """The names that a chapter has after its imports and the cells that contain a text were run on given names."""
    first, *others = (
        cell.source for cell in CHAPTERS[name] if cell.cell_type == "code" and "parameters" not in tags(cell)
    )
    for source in (first.partition("started =")[0], *(source for source in others if part in source)):
        exec(source, given)
    return given


def test_growth_compares_the_first_row_with_another_where_both_have_a_line_and_draws_one_through_runs_that_differ():
    for measured, is_compared in (
        ([], False),
        (["dense"], False),
        (["bm25", "hyde"], False),
        (["bm25", "dense"], True),
    ):
        laws = {one: SimpleNamespace(line=np.array([0.0, -len(one)]), draws=np.zeros((3, 2))) for one in measured}
        after = after_cells(
            "10_growth", "crossing()", laws=laws, last=pd.DataFrame(index=["dense"]), FAR=100, glue=print
        )
        assert [after["leader"], after["rival"]] == (["dense", "bm25"] if is_compared else [None, None])
    for recalls, n_lines in (([0.5], 0), ([0.5, 0.5], 0), ([0.2, 0.4], 1)):
        by_run = pd.DataFrame({"Page recall": recalls, "right": 0.5})
        _, axes = after_cells("06_generation", "def dots", by_run=by_run, k=5)["dots"]()
        assert len(axes.lines) == n_lines


@pytest.mark.parametrize(
    ("rows", "company", "nested"),
    [
        # each company's questions choose the row that fails on the other's
        ({"a": [1, 1, 0, 0], "b": [0, 0, 1, 0.5]}, "AABB", 0.0),
        ({"a": [1, 1, 1, 1], "b": [0, 0, 1, 0]}, "AABB", 1.0),
        ({"a": [0, 1, 0, 1], "b": [1, 0, 1, 0]}, "AABB", 0.5),  # ties go to the first name
        # Bolt, with three questions, is scored by b (0, 0, 0), Acme by a (1): folds weigh by their questions
        ({"a": [1, 1, 1, 1], "b": [2, 0, 0, 0]}, "ABBB", 0.25),
        ({"a": [1, 0, 0, 0]}, "AAAA", np.nan),  # nothing can be held out
    ],
)
def test_the_best_row_is_chosen_on_other_companies(rows, company, nested):
    found = after_cells("03_baselines", "def on_others", company=pd.Series([*company]))["on_others"](pd.DataFrame(rows))
    assert found == pytest.approx(nested, nan_ok=True)


def test_a_chunk_counts_while_it_fits_into_the_budget_and_a_list_is_long_enough():
    within = after_cells("03_baselines", "def within")["within"]
    found = pd.DataFrame({"question_id": ["a", "a", "b"], "page_tokens": [2000, 1000, np.nan], "run_tokens": 999})
    assert within(found) == {500: 0}  # behind 999 tokens the page of b may follow
    assert within(found.assign(run_tokens=3000)) == {500: 0, 1000: 0.25, 2000: 0.5}


def test_a_mistake_adds_to_the_mean_over_its_questions():
    company = pd.Series(["a", "a", "b", "c"], ["q0", "q1", "q2", "q3"])
    draws = Resampling(company, 500, 1)
    scores = {"none": [0, 0, 1, 1], "epoch": [1, 0, 1, 1], "zero": [np.nan, 0, 1, 1]}
    long = pd.DataFrame(scores, company.index).rename_axis("question_id").reset_index().melt("question_id").dropna()
    added_by = after_cells("a1_training", "def added_by", draws=draws)["added_by"]
    table = added_by(long.rename(columns={"variable": "mistake"})).set_index("mistake")
    assert table.loc["none"].tolist() == [4, 0.5, 0, 0, 0]
    interval = draws.interval(pd.Series([1.0, 0, 0, 0], company.index))
    assert table.loc["epoch"].tolist() == pytest.approx([4, 0.75, 0.25, interval.low, interval.high])
    assert table.loc["zero"].tolist()[:3] == pytest.approx([3, 2 / 3, 1 / 6])


@pytest.mark.parametrize(
    ("appended", "deleted", "crossing"),
    [
        # behind: .3 short with 1 word, .1 more with 2, so a quarter short of 2
        ([[-0.5, -0.3, 0.1, 0.5, 0.5]] * 2, [[-0.5] * 5] * 2, (1.75, 1.75, 1.75)),
        # ahead: .1 more with 4 deleted, .1 less with 8
        ([[0.5] * 5] * 2, [[0.5, 0.5, 0.5, 0.1, -0.1]] * 2, (-6, -6, -6)),
        # one company is level at 1, the other never
        ([[-0.5, 0, 0.5, 0.5, 0.5], [-0.5, -0.3, -0.1, -0.1, -0.1]], [[-0.5] * 5] * 2, (1 + 0.15 / 0.35, 1, 8)),
        ([[-0.5, -0.5, -0.5, -0.5, -0.1]] * 2, [[-0.5] * 5] * 2, (np.nan, np.nan, np.nan)),
        ([[0, -0.5, -0.5, -0.5, -0.5]] * 2, [[0, -0.5, -0.5, -0.5, -0.5]] * 2, (0, 0, 0)),  # level without any word
    ],
)
def test_the_dose_at_which_both_find_equally_much(appended, deleted, crossing):
    apart = pd.concat([pd.DataFrame(one, ["q0", "q1"], DOSES) for one in (appended, deleted)], axis=1)
    apart.columns = pd.MultiIndex.from_product([["appended", "deleted"], DOSES])
    draws = Resampling(pd.Series(["a", "b"], ["q0", "q1"]), 500)
    found = after_cells("09_question_sets", "falling")["level_at"]
    found = after_cells("09_question_sets", "def crossing_of", level_at=found)["crossing_of"](apart, draws)
    assert found[:3] == pytest.approx(crossing, nan_ok=True)
    assert found[3:] == (2, 2)


FOR, AGAINST, NEITHER, UNKNOWN = (0.1, 0.2), (-0.2, -0.1), (-0.1, 0.1), (np.nan, np.nan)


@pytest.mark.parametrize(
    ("analysts", "pages", "are_contrary", "expected"),
    [
        ((NEITHER, FOR), (FOR, NEITHER), False, (2, 1, "by the questions")),
        ((AGAINST, NEITHER), (FOR, NEITHER), True, (2, 1, "by the questions")),
        ((AGAINST, NEITHER), (FOR, NEITHER), False, (0, 1, "open")),  # both may be wrong
        ((FOR, NEITHER), (FOR, AGAINST), True, (1, 1, "for all")),
        ((FOR, FOR), (FOR, NEITHER), True, (0, 1, "open")),
        ((UNKNOWN, UNKNOWN), (NEITHER, NEITHER), True, (0, 0, "open")),
    ],
)
def test_a_contradiction_is_resolved_where_sets_support_different_claims(analysts, pages, are_contrary, expected):
    after = after_cells("09_question_sets", "def side")
    boards = (pd.DataFrame(of, ["a", "b"], ["low", "high"]).assign(bound=0.0) for of in (analysts, pages))
    sides = [after["side"](board, "a", "b", are_contrary) for board in boards]
    assert (*sides, after["resolved_by"]({*sides})) == expected


def test_rankers_are_compared_with_the_untrained_sum_and_ablations_with_the_whole_ranker():
    questions = pd.DataFrame({"set": ["financebench"] * 3 + ["page-questions"], "company": list("xyzx")}, list("abcd"))
    found = {title: 1.0 for title in ladder.MEASURED} | {ladder.BASE: 0.0, "trained, without words": 0.25}
    found |= {"trained on page-questions alone": 0.5}
    recalls = {title: questions.assign(doc_recall=1.0, page_recall=recall) for title, recall in found.items()}
    study = SimpleNamespace(profile=load_profile("default"), dataset=SimpleNamespace(name="financebench"))
    given = {"draws": Resampling(questions["company"], 200), "recalls": recalls, "study": study, "trained": True}
    given |= {"rising": pd.DataFrame({"p_holm": [0.5, 0.0123]}), "DIFFERENCE": ["difference", "p", "p_holm"]}
    by_set = after_cells("07_ahead", "is_step =", **after_cells("07_ahead", "of_set =", **given))["by_set"]
    by_set = by_set.set_index(["variant", "set"])
    alone = by_set.loc["trained on page-questions alone", "financebench"]
    assert alone[["n", "companies", "seeds", "difference"]].tolist() == [3, 3, 3, 0.5]
    assert by_set.loc[ladder.BASE, "seeds"].tolist() == [1, 1]
    assert by_set.loc[ladder.BASE, "difference"].isna().all()
    ablation = by_set.loc["trained, without words", "financebench"]
    assert ablation[["reference", "difference"]].tolist() == [ladder.TRAINED, -0.75]
    assert ablation["p_holm"] > ablation["p"]
    # a step of the ladder has its p, and no part in the family
    assert (
        by_set.at[(ladder.KINDS, "financebench"), "p_holm"]
        == 0.0123
        != by_set.at[(ladder.KINDS, "page-questions"), "p_holm"]
    )


def test_judge_and_gold_pages_are_compared_with_the_hand():
    labels = [("q0", "c0", "A", 0, "RELEVANT"), ("q0", "c1", "A", 1, "IRRELEVANT"), ("q0", "c2", "A", 2, "RELEVANT")]
    labels = pd.DataFrame(
        [*labels, ("q1", "c3", "B", 2, "AMBIGUOUS")], columns="question_id chunk_id doc_name page label".split()
    )
    questions = pd.DataFrame({"question_id": ["q0", "q1"], "doc_name": ["A", "B"], "gold_pages": [[0, 1], [2]]})
    draws = Resampling(pd.Series(["a", "b"], ["q0", "q1"]), 50)
    after = after_cells("a3_judge", "def beside_hand", draws=draws, study=SimpleNamespace(questions=questions))
    after["hand_labels"] = lambda: labels[["question_id", "chunk_id"]].assign(
        label=["useful", "partly", "useless", "useful"]
    )
    accuracy = after["beside_hand"](labels).set_index(["labelling", "hand"])["accuracy"].unstack()
    assert accuracy.loc["judge"].to_dict() == {"useful": 2 / 4, "useful or partly": 1 / 4}
    assert accuracy.loc["gold page"].to_dict() == {"useful": 3 / 4, "useful or partly": 4 / 4}


def test_steep_ranks_are_told_apart_and_lines_named_at_their_ends_all_but_the_first_of_a_set_dashed():
    after = after_cells("09_question_sets", "def draw_")
    rows = ["dense", "bm25", "splade", "hyde", "rerank", "hybrid_rrf", "ahead"]
    means = pd.DataFrame({"one": range(7, 0, -1), "two": [1, 6, 5, 4, 3, 2, 7]}, rows)
    (axes,) = after_cells("09_question_sets", "def rank_lines", **after)["rank_lines"](means).axes
    lines = {line.get_ydata()[0]: line for line in axes.lines}
    assert [[*lines[place].get_ydata()] for place in (1, 7)] == [[1, 7], [7, 1]]
    assert [lines[place].get_linestyle() for place in (1, 2, 7)] == ["--", "-", "-"]
    rows = [("one", "one", -1, -0.2), ("one", "one", 1, 0.1), ("one", "control", 1, 0.0), ("two", "two", 1, 0.4)]
    found = pd.DataFrame(rows, columns=["set", "line", "words", "mean"]).assign(low=-0.3, high=0.5)
    (axes,) = after_cells("09_question_sets", "def lines", **after)["lines"](found, "words", "words", {1, -1}).axes
    drawn = [line for line in axes.lines if len(line.get_xdata()) and line.get_linestyle() in ("-", "--")]
    assert [[-1, -0.2], [1, 0.1]] in [line.get_xydata().tolist() for line in drawn]
    assert {text.get_text() for text in axes.texts} == {"one", "control", "two"}
    assert [line.get_linestyle() for line in drawn].count("--") == 1
