import json
import re

import pandas as pd
import pytest

from lib.show import charts

COLUMNS = ["set", "title", "method", "unit", "budget", "page_recall", "low", "high", "n", *charts.SWITCHES]


def frame(*rows: tuple) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=COLUMNS)


def rows_of(set_name: str, unit: str = "chunks", budgets=(1, 5)) -> list[tuple]:
    found = []
    for method, needs in {"dense": (False, False, False), "ahead": (True, True, False)}.items():
        title = method.capitalize()
        found += [(set_name, title, method, unit, budget, 0.5, 0.4, 0.6, 9, *needs) for budget in budgets]
    return found


def spec_of(text: str) -> dict:
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', text, re.S)[1])


def test_a_chart_stands_in_its_page_as_a_drawing_and_as_what_the_script_makes_live():
    text = charts.embedded(charts.recall_against_budget(frame(*rows_of("mine"))), "budget", 'Lines & "marks"', "../s")
    assert '<div class="chart" id="chart-budget">' in text
    assert 'aria-label="Lines &amp; &quot;marks&quot;"' in text
    assert "<svg" in text.partition("<script")[0]
    assert re.findall(r'src="([^"]+)"', text) == ["../s/vega.js", "../s/charts.js"]
    assert "http" not in re.sub(r'(xmlns(:\w+)?|"\$schema")[=:]"[^"]+"', "", text), "it asks for nothing outside"


def test_a_text_cannot_end_the_script_that_it_stands_in():
    hostile = frame(*rows_of("</script><b>")).assign(method="</script><i>")
    text = charts.embedded(charts.recall_against_budget(hostile), "budget", "x")
    assert text.count("</script>") == 3
    assert "</script><i>" in json.dumps(spec_of(text))


def test_switches_are_for_what_some_methods_need_and_others_do_without():
    spec = charts.recall_against_budget(frame(*rows_of("mine"), *rows_of("mine", "tokens", (128,)))).to_dict()
    binds = {one["name"]: one["bind"] for one in spec["params"] if isinstance(one.get("bind"), dict)}
    assert [*binds] == ["asked", "read", "metadata", "labels"]
    assert (binds["asked"]["options"], binds["read"]["options"]) == (["mine"], ["chunks", "tokens"])
    [shown] = {json.dumps(one["transform"][0]) for one in spec["layer"]}
    assert "(metadata || !datum.metadata)" in shown


@pytest.mark.parametrize(("sets", "first"), [(("page-questions", "financebench"), "FinanceBench"), (("mine",), "mine")])
def test_the_first_question_set_is_shown_first(sets, first):
    spec = charts.recall_against_budget(frame(*(row for name in sets for row in rows_of(name)))).to_dict()
    assert next(one["value"] for one in spec["params"] if one["name"] == "asked") == first


def test_methods_are_coloured_by_how_they_search_and_none_is_left_out():
    found = charts.colours(["ahead", "dense_covers", "mine", "dense_records", "dense"])
    assert [*found] == ["mine", "Dense", "Dense, metadata match", "Dense, metadata match (cover pages)", "Ahead"]
    assert [found["mine"], found["Ahead"]] == [charts.SHADES[charts.ALL][0], charts.SHADES[charts.TRAINED][0]]
    many = charts.colours([f"mine {number}" for number in range(20)])
    assert len(many) == 20
