"""Items, Notes and headings that hold for a text, and for the pages that go on below them."""

import pytest

from lib.data.headings import CUT, Place, place_at, places

PROSE = "The plant in the north was closed because its orders had fallen for three years,\nand the work went elsewhere."
REPORT = (
    f"Item 1A. Risk Factors\nOur Suppliers\n{PROSE}\nOther Matters\n{PROSE}",
    PROSE,
    f"ITEM 8.\nFinancial Statements\nNOTE 12 — Income Taxes\n{PROSE}\nUnrecognized Benefits\n{PROSE}",
    f"more of it\nLitigation.\n{PROSE}\nExpected Outcome.\n{PROSE}",
    f"Exhibit 10.1\n{PROSE}",
)


def held(*texts: str) -> list[list[Place]]:
    return [[place for _, place in page] for page in places(texts)]


def test_a_place_is_carried_forward_until_another_is_printed():
    risks, statements = "Item 1A Risk Factors", "Item 8 Financial Statements"
    taxes = Place(statements, "Note 12 Income Taxes")
    assert held(*REPORT) == [
        [Place(), Place(risks), Place(risks, "", "Our Suppliers"), Place(risks, "", "Other Matters")],
        [Place(risks, "", "Other Matters")],
        [
            Place(risks, "", "Other Matters"),
            *[Place(statements), Place(statements, "", "Financial Statements")],
            *[taxes, taxes._replace(heading="Unrecognized Benefits")],
        ],
        [taxes._replace(heading=heading) for heading in ("Unrecognized Benefits", "Expected Outcome.")],
        [Place("Exhibit")],
    ]


def test_a_place_holds_from_the_character_at_which_it_is_printed():
    [found] = places(REPORT[:1])
    at = REPORT[0].index("Other Matters")
    assert [place_at(found, character).heading for character in (0, at - 1, at, len(REPORT[0]))] == [
        *["", "Our Suppliers"],
        *["Other Matters"] * 2,
    ]


@pytest.mark.parametrize(
    "line",
    [
        "Item 8 of this report describes what the company has to pay",
        "see also the risks that are described in much greater length in\nItem 7 Management’s Discussion",
        "Net Sales 1,200 1,100",
        "refer to Other Matters",
        "We closed the plant",
        "Total",
    ],
    ids=["reference", "reference in a line of its own", "figures", "advice", "sentence", "total"],
)
def test_what_is_no_heading_opens_nothing(line):
    assert held(f"{line}\n{PROSE}") == [[Place()]]


def test_contents_and_running_heads_open_nothing():
    contents = "\n".join(f"Item {number}. Part {number}" for number in range(1, 8))
    assert held(contents) == [[Place()]]
    assert held(*[f"Annual Report Oskarvale\n{PROSE}"] * 5) == [[Place()]] * 5


def test_a_place_is_written_without_what_is_unknown_and_cut():
    assert str(Place()) == ""
    assert str(Place("Item 7 Discussion", "", "Gross Margin")) == "Item 7 Discussion | Gross Margin"
    assert len(str(Place("x" * 200))) == CUT
