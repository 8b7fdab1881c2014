"""Tables read as they are printed: columns, styles of figures, units, currencies, signs, and what is not sure."""

import pytest
from hypothesis import given, settings

from lib.statements.figures import is_ambiguous
from lib.statements.rows import lines_of, lines_of_words
from tests.statements.printed import tables


@pytest.mark.parametrize("mode", ["text", "words"])
@settings(max_examples=200, deadline=None)
@given(tables())
def test_a_value_that_is_not_in_doubt_is_the_printed_one(mode, table):
    lines = lines_of(table.text) if mode == "text" else lines_of_words(table.words)
    wrong = []
    for line in lines:
        n = table.labels.index(line.label)
        truth = dict(zip(table.years, table.values[n], strict=True))
        read = {
            column.year: value for column, value in zip(line.columns, line.values, strict=True) if value is not None
        }
        is_right = all(truth.get(year) == value for year, value in read.items()) and line.money.unit == table.unit
        wrong += [] if is_right or line.doubts else [(line, truth)]
    assert wrong == []


@settings(max_examples=100, deadline=None)
@given(tables())
def test_places_give_nearly_all_rows_without_a_doubt(table):
    sure = [line for line in lines_of_words(table.words) if not line.doubts and None not in line.values]
    plain = [row for row in table.printed if not any(map(is_ambiguous, row))]
    assert len(sure) >= len(plain) - 1
