"""Chunk tables over typeset pages: elements merged, fixed sizes nested in the study's chunks, pages written anew."""

import json

import numpy as np
import pytest

from lib.chunkings.elements import groups_of, is_furniture
from lib.chunkings.restructured import annotated, as_markdown
from lib.chunkings.sizes import SIZES, children
from lib.chunkings.table import CHUNKINGS
from lib.chunkings.tables import grid_of, joined_tables
from lib.data.chunks import count_tokens
from lib.models.vectors import windows
from lib.retrievers import dense
from lib.runs import placed
from lib.schema import CHUNK_COLUMNS
from tests.chunkings.conftest import PROSE, SALES, element_table
from tests.conftest import bag_of_words


@pytest.mark.parametrize(
    "chunks",
    [
        "text text text | text",  # up to a size
        "text | title text",  # a title begins a chunk
        "title title text | title",
        "text | table | text",  # a table is alone but for its titles
        "title table | table",
        "title text | table",
        "furniture title text",  # furniture makes no chunk of its own
        "table furniture",
        "furniture",
    ],
)
def test_which_elements_make_a_chunk(chunks):
    kinds = chunks.replace("| ", "").split()
    found = groups_of(kinds, [600] * len(kinds))  # there is room for three
    assert " | ".join(" ".join(kinds[first:end]) for first, end in found) == chunks


def test_page_numbers_and_heads_that_pages_repeat_are_furniture():
    rows = [(page, "title", f"Acme Inc. {page + 2000}\n") for page in range(6)]
    found = element_table(*rows, (0, "text", "Net sales rose.\n"), (1, "text", "17\n"), (2, "text", "Page 3 of 9"))
    assert is_furniture(found).tolist() == [True] * 6 + [False, True, True]


def cells_of(*rows: tuple[str, ...]) -> list[list[list]]:
    """Rows of a label and figures that end at 300, 400 …, as cells with places."""
    return [
        [[row[0], 50, 150]] * bool(row[0])
        + [[text, 290 + 100 * column, 300 + 100 * column] for column, text in enumerate(row[1:]) if text]
        for row in rows
    ]


@pytest.mark.parametrize(("lower_heads", "n_elements"), [((), 1), ((("", "2018", "2017"),), 3)])
def test_a_table_that_goes_on_below_a_label_is_one_unless_it_has_heads_of_its_own(lower_heads, n_elements):
    upper = cells_of(("", "2018", "2017"), ("Cash", "5", "6"), ("Assets", "7", "8"))
    lower = cells_of(*lower_heads, ("Debt", "1", "2"), ("Equity", "6", "6"))
    found = element_table((0, "table", "upper\n"), (0, "title", "LIABILITIES\n"), (0, "table", "lower\n"))
    found["rows"] = [json.dumps(upper), "", json.dumps(lower)]
    joined = joined_tables(found)
    assert (len(joined), "".join(joined["text"])) == (n_elements, "upper\nLIABILITIES\nlower\n")


def test_a_grid_has_labels_columns_and_heads_and_a_wide_one_is_of_both_columns():
    rows = cells_of(("(Millions)", "2018", "2017"), ("Continuing",), ("Net sales", "32,765", ""), ("Loss", "3", "4"))
    grid = grid_of([[["Year ended", 270, 420]], *rows])
    assert (grid.before, grid.heads) == (["(Millions)"], ["Year ended 2018", "Year ended 2017"])
    assert grid.rows == [("Continuing", ["", ""]), ("Net sales", ["32,765", ""]), ("Loss", ["3", "4"])]
    assert grid_of([[["Head", 50, 90], ["Jane Doe", 200, 250]]] * 3) is grid_of([]) is None  # words alone


def test_a_table_in_markdown_and_annotated():
    grid = grid_of(cells_of(("(Millions)", "2018", "2017"), ("Net sales", "32,765", "31,657"), ("Loss", "", "4")))
    heads = ["(Millions)", "|  | 2018 | 2017 |", "| --- | --- | --- |"]
    assert as_markdown("table", "", grid).splitlines() == [*heads, "| Net sales | 32,765 | 31,657 |", "| Loss |  | 4 |"]
    lines = annotated("table", "", grid).splitlines()
    assert lines == ["(Millions)", "Net sales | 2018: 32,765 | 2017: 31,657", "Loss | 2017: 4"]
    assert as_markdown("title", " Net \n sales\n", None) == "# Net sales\n"
    assert annotated("title", "Net sales\n", None) == as_markdown("text", "Net sales\n", None) == "Net sales\n"


@pytest.fixture
def study(study_of, monkeypatch):
    """A page of all kinds, a blank one, one of prose alone; fixed sizes of a few tokens, one that of the windows."""
    small = {"fixed_128": (16, 2), "fixed_256": (64, 8), "fixed_512": (128, 16)}
    monkeypatch.setattr("lib.chunkings.sizes.SIZES", small)
    mixed = [("title", "Net sales"), ("text", PROSE), ("table", SALES), ("text", PROSE)]
    return study_of(mixed, [], [("text", PROSE * 12)])


@pytest.fixture
def tables(study):
    return {name: study.with_chunks(name).chunks for name in CHUNKINGS}


def test_every_table_has_the_words_of_the_study_s_pages_and_ids(study, tables):
    texts = study.pages["text"]
    for name, table in tables.items():
        assert list(table.columns) == list(CHUNK_COLUMNS)
        assert table["chunk_id"].is_unique
        assert set(table["page"]) == ({0} if name == "tables_only" else {0, 2})
        assert all(table["text"].str.strip() != "")
        assert placed(table["chunk_id"])[["doc_name", "page"]].equals(table[["doc_name", "page"]])
        for row in table.itertuples():
            assert row.start == -1 or texts[row.page][row.start : row.end] == row.text
    for name in ("elements", "markdown", "annotated_tables"):
        for page, part in tables[name].groupby("page"):
            glued = "".join(part["text"].str.replace(" ", ""))
            assert [word for word in texts[page].split() if word not in glued] == []


def test_a_table_is_in_one_chunk_and_pages_of_text_keep_theirs(study, tables):
    whole = [word for row in SALES for cell in row for word in cell.split()]
    assert [text.split() for text in tables["tables_only"]["text"]] == [whole]
    assert whole in [text.split() for text in tables["elements"]["text"]]
    own = study.chunks.groupby("page")["key"].agg(set)
    for name in ("markdown", "annotated_tables"):
        keys = tables[name].groupby("page")["key"].agg(set)
        assert keys[2] == own[2]
        assert not keys[0] <= own[0]


def test_fixed_sizes_are_the_children_the_windows_and_longer_and_together_each_text_once(study, tables):
    small, middle, large = (tables[name] for name in SIZES)
    assert small["text"].tolist() == children(study)["text"].tolist()
    assert middle["text"].tolist() == windows(study)["text"].tolist()
    assert len(middle) > len(large) > len(study.chunks)
    assert max(count_tokens(large["text"].tolist(), study.tokenizer)) in range(65, 129)
    together = tables["fixed_aggregate"]["key"]
    assert together.is_unique
    assert set(together) == {key for name in SIZES for key in tables[name]["key"]}


def test_a_chunk_of_a_fixed_size_is_one_vector_however_long(study):
    question = bag_of_words(study.questions["question"])
    for chunking, score in (("fixed_512", dense.score_whole), ("fixed_aggregate", dense.score_sizes)):
        table = study.with_chunks(chunking)
        np.testing.assert_allclose(score(table, None), question @ bag_of_words(table.chunks["text"]).T, rtol=1e-5)
