"""Runs from outside and the function that measures them: whatever comes is a run with finite metrics or a sentence."""

import gzip
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lib.diagnose.diagnosis import diagnosis_of
from lib.study import Study
from tests.breaking.damage import cases

pytestmark = [pytest.mark.slow, pytest.mark.breaking]


@pytest.fixture(scope="module")
def study(sound) -> Study:
    return sound.open(sound.dataset(), changes={"significance.n_draws": 50})


def row(**item: object) -> str:
    """A line of JSON with a passage of these fields."""
    return json.dumps({"question_id": "q1", "passages": [{"doc": "ACME_2020_10K", "page": 0} | item]})


FIRST, OTHER = "q1 Q0 ACME_2020_10K#p0 1 2 t\n", "q1 Q0 BOLT_2021_10K#p0 2 {} t\n"
SCORES = ["inf", "-inf", "+Infinity", "1e999", "1e39", "1e-400", "-0.0", "1e5_0", "٣", "9" * 5000]
JSON_SCORES = [math.inf, -(10**400), 1e39, True, None, "5", []]
NO_PAGES = [True, -1, 0.5, math.inf, "ii", None, [], 10**400]
#: A run's file, and a word of the sentence that refuses it.
RUNS = {
    **{f"the score {score:.20}": (FIRST + OTHER.format(score), None) for score in SCORES},
    "inf alone": ("q1 Q0 ACME_2020_10K#p0 1 inf t\n", None),
    "the score -NaN": (FIRST + OTHER.format("-NaN"), "line 2"),
    **{f"JSON's score {score!r:.20}": (row(score=score), None) for score in JSON_SCORES},
    **{f"JSON's score {score!r}": (row(score=score), "line 1") for score in ("best", math.nan)},
    **{f"the page {page!r:.20}": (row(page=page), "page") for page in NO_PAGES},
    "a page in other digits": (row(page="٣"), None),
    "a number of 5,000 digits": (row(page=0).replace('"page": 0', f'"page": {"9" * 5000}'), "line 1"),
    "a page of 5,000 digits": (f"q1 Q0 ACME_2020_10K#p{'9' * 5000} 1 1 t\n", "page"),
    "bytes": (bytes(range(256)) * 9, "UTF-8"),
    "half a letter": ((FIRST + "q1 Q0 \ud800#p0 1 1 t\n").encode(errors="surrogatepass"), "UTF-8"),
    "a block of null bytes between": (FIRST + "\0" * 512 + OTHER.format(1), "null"),
    "gzip in gzip": (gzip.compress(gzip.compress(FIRST.encode())), "UTF-8"),
    "lists in lists": ("[" * 10**5, "line 1"),
    "one row 20,000 times": (FIRST * 20_000, None),
}
TWO = {"question_id": "q1", "doc": ["ACME_2020_10K", "BOLT_2021_10K"], "page": [0, 1], "score": [2.0, 1.0]}
FRAMES = {
    "a sound frame": (TWO, None),
    "infinite scores": (TWO | {"score": [-math.inf, math.inf]}, None),
    "no score": (TWO | {"score": [1.0, math.nan]}, "passage 2"),
    "texts as scores": (TWO | {"score": ["2", "best"]}, "row 2"),
    "truth values as pages": (TWO | {"page": [True, False]}, "page"),
    "texts as pages": (TWO | {"page": ["0", "ii"]}, "ii"),
    "missing pages": (TWO | {"page": [None, None]}, "page"),
    "missing documents": (TWO | {"doc": [None, None]}, "row 1"),
    "lists as documents": (TWO | {"doc": [["ACME_2020_10K"], {}]}, "row 1"),
    "numbers as questions": (TWO | {"question_id": [1, 2.5]}, "no question"),
}


@cases(("content", "words"), RUNS | FRAMES)
def test_a_run_is_measured_or_refused_in_a_sentence(study, tmp_path, told, content, words):
    run: Path | pd.DataFrame = tmp_path / "my.trec"
    if isinstance(content, dict):
        run = pd.DataFrame(content)
    else:
        run.write_bytes(content if isinstance(content, bytes) else content.encode())
    with told(words):
        found = diagnosis_of(study, {"mine": run})
        assert np.isfinite(found.metrics[["mean", "low", "high"]].to_numpy()).all()
        assert found.to_html()
        assert found.to_text()
