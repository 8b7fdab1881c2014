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
    others = Place(risks, "", "Other Matters")
    taxes = Place(statements, "Note 12 Income Taxes")
    benefits, outcome = (taxes._replace(heading=name) for name in ("Unrecognized Benefits", "Expected Outcome."))
    assert held(*REPORT) == [
        [Place(), Place(risks), Place(risks, "", "Our Suppliers"), others],
        [others],
        [others, Place(statements), Place(statements, "", "Financial Statements"), taxes, benefits],
        [benefits, outcome],
        [Place("Exhibit")],
    ]


def test_a_place_holds_from_the_character_at_which_it_is_printed():
    [found] = places(REPORT[:1])
    at = REPORT[0].index("Other Matters")
    headings = {character: place_at(found, character).heading for character in (0, at - 1, at, len(REPORT[0]))}
    assert [*headings.values()] == ["", "Our Suppliers", "Other Matters", "Other Matters"]


NO_HEADINGS = {
    "reference": [f"Item 8 of this report describes what the company has to pay\n{PROSE}"],
    "reference in a line of its own": [
        f"see also the risks that are described in much greater length in\nItem 7 Management’s Discussion\n{PROSE}"
    ],
    "figures": [f"Net Sales 1,200 1,100\n{PROSE}"],
    "advice": [f"refer to Other Matters\n{PROSE}"],
    "sentence": [f"We closed the plant\n{PROSE}"],
    "total": [f"Total\n{PROSE}"],
    "contents": ["\n".join(f"Item {number}. Part {number}" for number in range(1, 8))],
    "running head": [f"Annual Report Oskarvale\n{PROSE}"] * 5,
}


@pytest.mark.parametrize("pages", NO_HEADINGS.values(), ids=NO_HEADINGS)
def test_what_is_no_heading_opens_nothing(pages):
    assert held(*pages) == [[Place()]] * len(pages)


def test_a_place_is_written_without_what_is_unknown_and_cut():
    assert str(Place("Item 7 Discussion", "", "Gross Margin")) == "Item 7 Discussion | Gross Margin"
    assert len(str(Place("x" * 200))) == CUT
