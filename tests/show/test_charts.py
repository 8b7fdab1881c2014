import json
import re

import pandas as pd

from lib.show import charts

COLUMNS = ["set", "title", "method", "unit", "budget", "page_recall", "low", "high", "n", *charts.SWITCHES]


def frame(set_name: str, unit: str = "chunks", budgets=(1, 5)) -> pd.DataFrame:
    """A row per method and budget; Ahead needs what Dense does without."""
    rows = []
    for method, needs in {"dense": (False, False, False), "ahead": (True, True, False)}.items():
        for budget in budgets:
            rows.append((set_name, method.capitalize(), method, unit, budget, 0.5, 0.4, 0.6, 9, *needs))
    return pd.DataFrame(rows, columns=COLUMNS)


def test_a_chart_is_a_drawing_that_asks_for_nothing_outside_and_whose_texts_stay_text():
    hostile = frame("</script><b>").assign(method="</script><i>")
    text = charts.embedded(charts.recall_against_budget(hostile), "budget", 'Lines & "marks"', "../s")
    assert 'aria-label="Lines &amp; &quot;marks&quot;"' in text
    assert "<svg" in text.partition("<script")[0]
    assert re.findall(r'src="([^"]+)"', text) == ["../s/vega.js", "../s/charts.js"]
    assert "http" not in re.sub(r'(xmlns(:\w+)?|"\$schema")[=:]"[^"]+"', "", text)
    assert text.count("</script>") == 3, "a text ends no script"
    inlined = re.search(r'<script type="application/json">(.*?)</script>', text, re.S)[1]
    assert "</script><i>" in json.dumps(json.loads(inlined))


def test_a_chart_begins_with_the_study_s_questions_and_switches_off_what_some_methods_need():
    rows = [frame("page-questions"), frame("financebench"), frame("financebench", "tokens", (128,))]
    spec = charts.recall_against_budget(pd.concat(rows)).to_dict()
    switches = {one["name"]: one for one in spec["params"] if isinstance(one.get("bind"), dict)}
    assert [*switches] == ["asked", "read", "metadata", "labels"]
    assert switches["asked"]["value"] == "FinanceBench"
    assert switches["read"]["bind"]["options"] == ["chunks", "tokens"]
    [shown] = {json.dumps(one["transform"][0]) for one in spec["layer"]}
    assert "(metadata || !datum.metadata)" in shown


def test_methods_are_coloured_by_how_they_search_and_none_is_left_out():
    found = charts.colours(["ahead", "dense_covers", "mine", "dense_records", "dense"])
    assert [*found] == ["mine", "Dense", "Dense, metadata match", "Dense, metadata match (cover pages)", "Ahead"]
    assert [found["mine"], found["Ahead"]] == [charts.SHADES[charts.ALL][0], charts.SHADES[charts.TRAINED][0]]
    assert len(charts.colours([f"mine {number}" for number in range(20)])) == 20
