"""Characters of a text layer in one form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.text.characters import plain, unaccented

PLAIN = {
    "O\ufb03ce bene\ufb01ts, pro\ufb01t": "Office benefits, profit",
    "equip\u00adment, head\u00ad\nwinds, share\u00ad-based": "equipment, headwinds, share-based",
    "net\u00a0sales\u2009rose\u202fin\u3000Asia": "net sales rose in Asia",
    "\u2212310 \u00ad310 (\u2011310)": "-310 -310 (-310)",
    "4\u202f210 and 1\u00a0234\u2009567; 2023\u00a02022": "4\u00a0210 and 1\u00a0234\u00a0567; 2023 2022",
    "4,210¹ of CO₂, 5½% and Acme™": "4,210¹ of CO₂, 5½% and Acme™",
    "\uff21\uff22\uff11 zero\u200bwidth \ufeffmark": "AB1 zerowidth mark",
    "Nestle\u0301 – “Société”…": "Nestlé – “Société”...",
    "売上高 Выручка": "売上高 Выручка",
}


@pytest.mark.parametrize(("text", "wanted"), PLAIN.items())
def test_a_text_has_plain_characters(text, wanted):
    assert plain(text) == wanted


@given(st.text())
def test_plain_characters_are_plain_already(text):
    assert plain(plain(text)) == plain(text)
    assert unaccented(unaccented(text)) == unaccented(text)


def test_letters_lose_their_marks_and_nothing_else():
    marked = "Nestelé, Møller, Škoda, Crédit ﬁnance, Straße’s 3M™ 1½"
    assert unaccented(marked) == "Nestele, Moller, Skoda, Credit finance, Strasse’s 3M™ 1½"
