"""The script of long tables: heads sort by value; short tables, and rows that belong together, stay as they are."""

import pytest

from lib.files import ROOT
from tests.browser import open_page

SCRIPT = (ROOT / "book" / "_static" / "tables.js").as_uri()
MEANS = ["0.31 [0.23, 0.40]", "–", "1,200", "0.07", "−0.2", "+0.5", "0.9", "0.8"]
IN_ORDER = ["1,200", "0.9", "0.8", "+0.5", "0.31 [0.23, 0.40]", "0.07", "−0.2", "–"]


@pytest.fixture
def opened(browser, tmp_path):
    """Opens a table of names and values in a page that has the book's script."""

    def open_table(names: str | list[str], values: list[str]):
        rows = "".join(f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in zip(names, values, strict=True))
        head = "<thead><tr><th>Method</th><th><p>Page recall</p></th></tr></thead>"
        table = f"<table class='study-table'>{head}<tbody>{rows}</tbody></table>"
        (tmp_path / "page.html").write_text(
            f"<!doctype html><meta charset=utf-8>{table}<script src='{SCRIPT}'></script>"
        )
        open_page(browser, (tmp_path / "page.html").as_uri())
        return browser

    return open_table


def column(browser, number: int) -> list[str]:
    code = "return [...document.querySelector('tbody').rows].map((row) => row.cells[arguments[0]].textContent)"
    return browser.execute_script(code, number)


def click(browser, head: str) -> str | None:
    button = browser.find_element("xpath", f"//th/button[.='{head}']")
    button.click()
    return button.find_element("xpath", "..").get_attribute("aria-sort")


def test_a_long_table_sorts_by_value_then_the_other_way_then_as_it_was(opened):
    page = opened("hgfedcba", MEANS)
    for order, expected in (("descending", IN_ORDER), ("ascending", [*IN_ORDER[-2::-1], "–"]), (None, MEANS)):
        assert click(page, "Page recall") == order
        assert column(page, 1) == expected, "what was not measured stays last"
    assert click(page, "Method") == "ascending"
    assert column(page, 0) == [*"abcdefgh"]


def test_a_row_that_sums_up_stays_below_and_short_tables_and_rows_that_belong_together_do_not_sort(opened):
    page = opened([*"abcdefg", "κ with people"], [*MEANS[:7], "0.95"])
    click(page, "Page recall")
    assert column(page, 0)[-2:] == ["b", "κ with people"]
    for names in ("abcdefg", ["a", "", *"cdefgh"]):
        assert opened(names, MEANS[: len(names)]).find_elements("css selector", "th button") == []
