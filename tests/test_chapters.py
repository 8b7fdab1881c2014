"""Chapters: no outputs, short cells, prose in Markdown, numbers in prose glued; what cells compute, by hand."""

import ast
import re
import subprocess
import sys
from itertools import pairwise
from types import SimpleNamespace

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

from lib.analysis import growth
from lib.analysis.decomposition import METRIC_OF
from lib.analysis.overlap_dose import DOSES
from lib.book.notebooks import chapters
from lib.files import ROOT
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


def test_every_parameter_has_a_type_and_a_comment(code):
    assert [cell.id for cell in code if "parameters" in tags(cell)] == [code[0].id]
    lines = code[0].source.splitlines()
    assert all(re.search(r"\S  # [\w\[\]]+: \S", line) for line in lines)
    assert {"dataset", "profile", "results"} <= {line.split(" = ")[0] for line in lines}
    assert "default, base, paper, smoke, or a .yaml file" in code[0].source


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
    code = [cell for cell in CHAPTERS[name] if cell.cell_type == "code" and "parameters" not in tags(cell)]
    first, *others = (cell.source for cell in code)
    for source in (first.partition("started =")[0], *(source for source in others if part in source)):
        exec(source, given)
    return given


def test_growth_compares_the_first_row_with_another_where_both_have_a_line_and_draws_one_through_runs_that_differ():
    both, neither = ["dense", "bm25"], [None, None]
    for measured, first in (([], neither), (["dense"], neither), (["bm25", "hyde"], neither), (both[::-1], both)):
        laws = {one: SimpleNamespace(line=np.array([0.0, -len(one)]), draws=np.zeros((3, 2))) for one in measured}
        given = {"laws": laws, "last": pd.DataFrame(index=["dense"]), "FAR": 100, "glue": print}
        after = after_cells("10_growth", "crossing()", **given)
        assert [after["leader"], after["rival"]] == first
    for recalls, n_lines in (([0.5], 0), ([0.5, 0.5], 0), ([0.2, 0.4], 1)):
        by_run = pd.DataFrame({"Page recall": recalls, "right": 0.5})
        _, axes = after_cells("06_generation", "def dots", by_run=by_run, k=5)["dots"]()
        assert len(axes.lines) == n_lines


@pytest.mark.parametrize(
    ("n_found", "left_out", "at_a_million"),
    [
        ((32, 20, 8), 0, 1 / 17),  # odds of 4, 1 and 1/4 of 40: each tenfold divides the odds by 4
        ((32, 20, 20), 8 / 40 - 20 / 40, None),  # from 32 and 20 the line expects 8
        ((40, 40, 40), 0, 1 - 0.5 / 40),  # all found has a line, too
    ],
)
def test_a_recall_whose_logit_is_a_straight_line_is_fitted_and_extrapolated(n_found, left_out, at_a_million):
    ids, pages = [f"q{n}" for n in range(40)], {84: 1000, 150: 10_000, 250: 100_000}
    rows = [
        ("mixed", 0, size, pages[size], "dense", name, 5, 1.0, float(number < n))
        for size, n in zip(pages, n_found, strict=True)
        for number, name in enumerate(ids)
    ]
    draws = Resampling(pd.Series([n // 4 for n in range(40)], ids), 500)
    after = after_cells("10_growth", "def fitted", draws=draws)
    after = after_cells("10_growth", "def at(", **after_cells("10_growth", "def law_of", **after))
    law = after["law_of"](pd.DataFrame(rows, columns=growth.GROWTH_COLUMNS))
    assert law.left_out[0] == pytest.approx(left_out, abs=1e-9)
    assert law.left_out[1] <= law.left_out[0] <= law.left_out[2]
    assert at_a_million is None or after["at"](law, 1_000_000)[0] == pytest.approx(at_a_million)
    assert left_out or law.error == pytest.approx(0, abs=0.02)
    assert (law.n_pages, len(law.draws)) == ((1000, 100_000), 100)


def test_a_chunk_counts_while_it_fits_into_the_budget_and_a_row_is_chosen_on_other_companies():
    after = after_cells("03_baselines", "def on_others", company=pd.Series([*"AAAA"]))
    assert np.isnan(after["on_others"](pd.DataFrame({"a": [1, 0, 0, 0]}))), "nothing can be held out of one company"
    within = after_cells("03_baselines", "def within")["within"]
    found = pd.DataFrame({"question_id": ["a", "a", "b"], "page_tokens": [2000, 1000, np.nan], "run_tokens": 999})
    assert within(found) == {500: 0}  # behind 999 tokens the page of b may follow
    assert within(found.assign(run_tokens=3000)) == {500: 0, 1000: 0.25, 2000: 0.5}


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


def test_a_contradiction_is_resolved_where_sets_support_different_claims():
    after, up, down, level = after_cells("09_question_sets", "def side"), (0.1, 0.2), (-0.2, -0.1), (-0.1, 0.1)
    of_one = [(level, up, False, 2), (down, level, True, 2), (down, level, False, 0)]  # of the last both may be wrong
    for *ends, are_contrary, side in [*of_one, (up, down, True, 1), (up, up, True, 0), ((np.nan,) * 2, level, True, 0)]:
        board = pd.DataFrame(ends, ["a", "b"], ["low", "high"]).assign(bound=0.0)
        assert after["side"](board, "a", "b", are_contrary) == side
    found = [after["resolved_by"](sides) for sides in ({1, 2}, {1}, {2}, {0, 1}, {0, 2}, {0})]
    assert found == ["by the questions", "for all", "for all", "open", "open", "open"]


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


def test_parts_of_a_bar_add_to_one_and_differ_in_lightness():
    after = after_cells("05_breakdowns", "def step_bars")
    (_, axes), means = plt.subplots(), pd.DataFrame([[0.1, 0.0, 0.6, 0.3], [0.5, 0.1, 0.3, 0.1]])
    after["step_bars"](axes, means.set_axis([*METRIC_OF.values()], axis=1))
    assert [bar.get_x() + bar.get_width() for bar in axes.containers[-1]] == pytest.approx([1, 1])
    light = [np.dot(to_rgb(one), (0.3, 0.6, 0.1)) for one in after["COLOUR_OF"].values()]
    assert min(np.diff(light)) > 0.02
