"""The script of long tables: heads sort by value; short tables, and rows that belong together, stay as they are."""

from pathlib import Path

import pytest

STATIC = Path(__file__).resolve().parents[2] / "book" / "_static"
MEANS = ["0.31 [0.23, 0.40]", "–", "1,200", "0.07", "−0.2", "+0.5", "0.9", "0.8"]
IN_ORDER = ["1,200", "0.9", "0.8", "+0.5", "0.31 [0.23, 0.40]", "0.07", "−0.2", "–"]


def table(names: list[str], values: list[str]) -> str:
    rows = "".join(f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in zip(names, values, strict=True))
    head = "<thead><tr><th>Method</th><th><p>Page recall</p></th></tr></thead>"
    return f"<table class='study-table'>{head}<tbody>{rows}</tbody></table>"


@pytest.fixture
def page(browser, tmp_path):
    """Opens tables in a page that has the book's script; returns the cells of a table's column."""

    def column(number: int, place: int = 0) -> list[str]:
        code = """
            const [body] = document.querySelectorAll('table')[arguments[0]].tBodies;
            return [...body.rows].map((row) => row.cells[arguments[1]].textContent);
        """
        return browser.execute_script(code, place, number)

    def open_tables(*tables: str):
        script = f"<script src='{(STATIC / 'tables.js').as_uri()}'></script>"
        (tmp_path / "page.html").write_text(f"<!doctype html><meta charset=utf-8>{''.join(tables)}{script}")
        browser.get((tmp_path / "page.html").as_uri())
        return column

    return open_tables


def click(browser, head: str) -> str | None:
    button = browser.find_element("xpath", f"//th/button[.='{head}']")
    button.click()
    return button.find_element("xpath", "..").get_attribute("aria-sort")


def test_a_long_table_sorts_by_value_then_the_other_way_then_as_it_was(browser, page):
    column = page(table([*"hgfedcba"], MEANS))
    assert click(browser, "Page recall") == "descending"
    assert column(1) == IN_ORDER
    assert click(browser, "Page recall") == "ascending"
    assert column(1) == [*IN_ORDER[-2::-1], "–"], "what was not measured stays last"
    assert click(browser, "Page recall") is None
    assert column(1) == MEANS
    assert click(browser, "Method") == "ascending"
    assert column(0) == [*"abcdefgh"]


def test_a_row_that_sums_up_stays_below_the_others(browser, page):
    column = page(table([*"abcdefg", "κ with people"], [*MEANS[:7], "0.95"]))
    click(browser, "Page recall")
    assert column(0)[-2:] == ["b", "κ with people"]


def test_short_tables_and_rows_that_belong_together_do_not_sort(browser, page):
    page(table([*"abcdefg"], MEANS[:7]), table(["a", "", *"cdefgh"], MEANS))
    assert browser.find_elements("css selector", "th button") == []
