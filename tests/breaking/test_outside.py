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

pytestmark = [pytest.mark.slow, pytest.mark.breaking]
FIRST, SECOND = "q Q0 ACME_2020_10K#p0 1 2 t\n", "q Q0 BOLT_2021_10K#p0 2 1 t\n"


@pytest.fixture(scope="module")
def study(sound) -> Study:
    return sound.open(sound.dataset(), changes={"significance.n_draws": 50})


@pytest.fixture
def write(study, tmp_path):
    """Write a run's file, ``q`` for the first question's id."""

    def to_file(content: str | bytes, name: str = "my.trec") -> Path:
        own = study.questions["question_id"].iloc[0]
        text = content.replace("q Q0", f"{own} Q0").replace('"q"', json.dumps(own)) if isinstance(content, str) else b""
        (path := tmp_path / name).write_bytes(text.encode("utf-8", "surrogatepass") if text else content)
        return path

    return to_file


def row(**item: object) -> str:
    """A line of JSON with a passage of these fields."""
    return json.dumps({"question_id": "q", "passages": [{"doc": "ACME_2020_10K", "page": 0} | item]})


SCORES = ["inf", "-inf", "+Infinity", "1e999", "-1e999", "1e39", "1e-400", "-0.0", "1e5_0", "٣", "9" * 5000]
JSON_SCORES = {math.inf: None, -(10**400): None, 1e39: None, True: None, None: None, "5": None}
JSON_SCORES |= {"best": "could not convert string to float: 'best'", math.nan: "line 1: the score is NaN"}
PAGES = [True, -1, 0.5, math.inf, "ii", None, [], 10**30, 10**400, "٣"]
RUNS = {
    **{f"the score {score:.20}": (FIRST + f"q Q0 BOLT_2021_10K#p0 2 {score} t\n", None) for score in SCORES},
    **{f"{name} alone": (f"q Q0 ACME_2020_10K#p0 1 {name} t\n", None) for name in ("inf", "-inf")},
    "the score -NaN": (FIRST + "q Q0 ACME_2020_10K#p1 2 -NaN t\n", "line 2: the score is NaN"),
    **{f"JSON's score {score!r:.20}": (row(score=score), words) for score, words in JSON_SCORES.items()},
    "JSON's score []": (row(score=[]), "line 1: float() argument must be a string or a real number, not 'list'"),
    **{f"the page {page!r:.20}": (row(page=page), None) for page in PAGES},
    "a number of 5,000 digits": (
        row(page=0).replace('"page": 0', f'"page": {"9" * 5000}'),
        "line 1: Exceeds the limit",
    ),
    "a page of 5,000 digits": (f"q Q0 ACME_2020_10K#p{'9' * 5000} 1 1 t\n", None),
    "an empty file": (b"", "has no row"),
    "bytes": (bytes(range(256)) * 9, "is not UTF-8"),
    "half a letter": (FIRST + "q Q0 \ud800#p0 1 1 t\n", "is not UTF-8"),
    "a line of null bytes between": (FIRST + "\0\0\0\n" + SECOND, "line 2: 1 fields in place of six"),
    "gzip in gzip": (gzip.compress(gzip.compress(FIRST.encode())), "is not UTF-8"),
    "half a gzip file": (gzip.compress(FIRST.encode() * 99)[:40], "cannot be read"),
    "lists in lists": ("[" * 10**5, "line 1: maximum recursion depth exceeded"),
    "one row 20,000 times": (FIRST * 20_000, None),
}


@pytest.mark.parametrize("what", RUNS)
def test_a_run_s_file_is_measured_or_refused_in_a_sentence(study, write, told, what):
    content, words = RUNS[what]
    with told(words):
        found = diagnosis_of(study, {"mine": write(content)})
        assert np.isfinite(found.metrics[["mean", "low", "high"]].to_numpy()).all()
        assert found.to_html()
        assert found.to_text()


FRAME = pd.DataFrame(
    {"question_id": ["q", "q"], "doc": ["ACME_2020_10K", "BOLT_2021_10K"], "page": [0, 1], "score": [2.0, 1.0]}
)
FRAMES = {
    "sound": ({}, None),
    "inf": ({"score": [-math.inf, math.inf]}, None),
    "nan": ({"score": [1.0, math.nan]}, "row 2 has no score"),
    "texts as scores": ({"score": ["2", "best"]}, "row 2 has no score"),
    "truth values as pages": ({"page": [True, False]}, None),
    "texts as pages": ({"page": ["0", "ii"]}, None),
    "missing pages": ({"page": [None, None]}, None),
    "missing documents": ({"doc": [None, None]}, "row 1 has no doc"),
    "lists as documents": ({"doc": [["ACME_2020_10K"], {}]}, "has no document of the set"),
    "numbers as questions": ({"question_id": [1, 2.5]}, "has no question of the set"),
}


@pytest.mark.parametrize("what", FRAMES)
def test_a_frame_is_measured_or_refused_in_a_sentence(study, told, what):
    changes, words = FRAMES[what]
    frame = FRAME.assign(**{"question_id": study.questions["question_id"].iloc[0]} | changes)
    with told(words):
        found = diagnosis_of(study, {"mine": frame})
        assert np.isfinite(found.metrics[["mean", "low", "high"]].to_numpy()).all()
