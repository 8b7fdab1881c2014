"""What a notebook cell shows: a numbered table, with rows and without."""

from types import SimpleNamespace

import pandas as pd
import pytest

from lib.show.display import table


@pytest.fixture
def study(tmp_path):
    def write(name: str, content: str) -> None:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)

    return SimpleNamespace(write=write, provenance="", folder=tmp_path)


def test_a_table_has_its_label_its_rows_and_its_data(study):
    shown = table(study, pd.DataFrame({"Method": ["dense"], "n": [3]}), "few", "Caption.", "Said.")
    assert ":name: tab-few\n" in shown.markdown
    assert "| Method | n |\n|---|--:|\n| dense | 3 |\n" in shown.markdown
    assert shown.markdown.endswith("\n**Said.**\n")
    assert (study.folder / "tables" / "few.csv").read_text() == "Method,n\ndense,3\n"


@pytest.mark.parametrize(
    ("frame", "body"),
    [
        (pd.DataFrame(columns=["Method", "n"]), "| Method | n |"),
        (pd.DataFrame([]), "| Nothing known |"),
    ],
)
def test_a_table_without_rows_is_still_a_table(study, frame, body):
    lines = table(study, frame, "none", "Caption.").markdown.splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert rows[0] == body
    assert len(rows) == 3
    assert set(rows[2]) <= set("| –")
