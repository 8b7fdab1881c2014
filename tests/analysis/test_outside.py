"""Outside sets: recalls of each as questions × methods, and draws of its own companies."""

import pandas as pd

from lib.analysis.outside import PATH, outside_sets
from lib.stats import Resampling

DRAWS = Resampling(pd.Series(dtype=object), 200, 3)


def test_each_set_has_its_recalls_by_method_and_its_own_companies(tmp_path):
    rows = [
        ("one", method, question, company, metric, value)
        for metric, value in (("page_recall", 0.5), ("doc_recall", 1.0))
        for method in ("ahead", "dense")
        for question, company in (("01", "ash"), ("02", "birch"))
    ]
    rows += [("other", "ahead", "01", "cedar", metric, 0.25) for metric in ("page_recall", "doc_recall")]
    path = tmp_path / "outside.csv"
    pd.DataFrame(rows, columns="set method question_id company metric value".split()).to_csv(path, index=False)
    found = outside_sets(DRAWS, path)
    assert list(found) == ["one", "other"]
    assert found["one"].pages.to_dict("list") == {"ahead": [0.5, 0.5], "dense": [0.5, 0.5]}
    assert found["one"].documents.index.tolist() == ["01", "02"]  # ids stay texts
    assert found["one"].draws.company.to_dict() == {"01": "ash", "02": "birch"}
    assert (found["other"].pages.shape, found["other"].draws.n_draws, found["other"].draws.seed) == ((1, 1), 200, 3)


def test_every_question_of_the_set_was_measured_by_every_method():
    sets = outside_sets(DRAWS, PATH)
    assert {name: len(one.pages) for name, one in sets.items()} == {"MMLongBench-Doc": 82}
    assert not any(one.pages.isna().any(axis=None) or one.documents.isna().any(axis=None) for one in sets.values())
