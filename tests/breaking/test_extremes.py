"""Extremes of every number of a profile: each is refused by name, or works on small data."""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

from lib.ahead import ranker
from lib.evaluation import evaluate
from lib.models.encoders import Encoder
from lib.profile import Settings, load_profile
from lib.schema import StudyError
from lib.settings import MOST
from tests.made import make_study

pytestmark = [pytest.mark.slow, pytest.mark.breaking]

DEFAULT = load_profile("default")
WHOLE = [-1, 0, 1, 2, 3, 4, 33, 34, 35, 10**6, 2**31 - 1, 2**31, MOST, MOST + 1, 10**30]
PARTS = [-1e-9, -0.0, 1e-300, 0.5, 1.0, 1.5, 1e308, math.nan, math.inf, -math.inf]
NONE = [True, False, "1", None, [], {}, [1, 1], [2, 1], [[1]], [-1], [math.nan], [True]]


def numbers(settings: dict, above: str = "") -> Iterator[str]:
    """The dotted names of all numbers and lists of numbers; sections ``sets`` have those of the others."""
    for name, value in settings.items():
        if isinstance(value, dict) and name != "sets":
            yield from numbers(value, f"{above}{name}.")
        elif isinstance(value[0] if isinstance(value, list) and value else value, int | float):
            yield f"{above}{name}"


def tried(name: str, values: list) -> tuple[list[str], list[Settings]]:
    """Why values of a setting are refused, and the profiles with the others."""
    messages, profiles = [], []
    for value in values:
        try:
            profiles.append(DEFAULT.replaced({name: value}))
        except StudyError as error:
            messages.append(str(error))
    return messages, profiles


@pytest.mark.parametrize("name", sorted(numbers(DEFAULT)))
def test_an_extreme_of_a_number_is_refused_by_name_or_within_limits(name):
    messages, profiles = tried(name, WHOLE + PARTS + NONE + [[value] for value in WHOLE + PARTS])
    assert messages
    assert all("\n" not in one and len(one) < 300 and name.split(".")[0] in one for one in messages)
    for profile in profiles:
        value = profile
        for part in name.split("."):
            value = value[part]
        for number in value if isinstance(value, list) else [value]:
            assert type(number) in (int, float)
            assert 0 <= number <= MOST


@pytest.mark.parametrize(("window", "overlap"), [(3, 0), (4, 1), (34, 31), (128, 125)])
def test_the_encoder_reads_the_smallest_windows(tiny, window, overlap):
    embedder = DEFAULT.replaced({"embedder.window": window, "embedder.window_overlap": overlap}).embedder
    texts = ["net sales rose in the year " * 40, "profit", ""]
    vectors = Encoder(tiny("BertModel"), embedder.window, "float32").encode(texts)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-5)


MEASURED = {
    **{key: [0, 1, 20, 1e-300, 0.5, 1.0, MOST] for key in ("bm25.k1", "bm25.b", "run.depth")},
    "metrics.ks": [[1, MOST], [1, 2, 3], [50]],
}


@pytest.mark.parametrize("name", MEASURED)
def test_runs_are_measured_under_every_valid_extreme(sound, name):
    root, (section, _, last) = sound.dataset(), name.partition(".")
    for profile in tried(name, MEASURED[name])[1]:
        found = evaluate(sound.open(root, changes={name: profile[section][last]}), "bm25")
        assert found["value"].between(0, 10**6).all()


@pytest.mark.parametrize("name", "leaves learning_rate min_pages feature_share page_share tree_l2 seed".split())
def test_trees_grow_under_every_valid_extreme(monkeypatch, name):
    table = pd.DataFrame({"plain": np.random.default_rng(0).random(400)})
    rows, gold = np.repeat(np.arange(4), 100), (table["plain"] > 0.8).to_numpy()
    pool = make_study(rows=rows, table=table, views={"plain": ["plain"]}, part=lambda kept: pool)
    union = make_study(pool=pool, weights=np.ones(4), answers=gold)
    monkeypatch.setattr(ranker, "training_pairs", lambda *given: slice(None))
    for profile in tried(f"ahead.{name}", WHOLE + PARTS)[1]:
        few = profile.replaced({"ahead.n_trees": 2})
        assert ranker.fit(make_study(profile=few), union, set(), [], ranker.UNTRAINED).num_trees() <= 2
