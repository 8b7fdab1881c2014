"""A study of frames alone, which computes what a study would store, and made-up metrics."""

from collections.abc import Sequence
from types import SimpleNamespace

import pandas as pd

from lib.files import write_atomically
from lib.metrics.frame import long_frame
from lib.profile import Settings


def make_study(n_draws: int = 50, seed: int = 0, **given) -> SimpleNamespace:
    """A study with the ``given`` frames and whatever else of it is looked at."""
    plain = {
        "profile": Settings({"significance": Settings({"n_draws": n_draws, "seed": seed})}),
        "dataset": SimpleNamespace(name="financebench", fingerprint=""),
        "digest": str,
        "settings_of": lambda sections: {},
        "run_entry": lambda method, condition="standard": SimpleNamespace(digest=""),
        "memo": lambda key, compute: compute(),
        "store": SimpleNamespace(frame=lambda stage, params, make, *version, **about: make()),
    }
    plain["write"] = lambda name, content: write_atomically(given["outputs"] / name, content)
    return SimpleNamespace(**plain | given)


def values(
    ids: Sequence[str], numbers, metric: str, k: int | None = None, method: str = "dense", condition: str = "standard"
) -> pd.DataFrame:
    """A number for each question as a metric of a row."""
    return long_frame(pd.Series(numbers, ids), metric, k).assign(method=method, condition=condition)
