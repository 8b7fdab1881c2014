"""A study of frames alone, which computes what a study would store."""

from types import SimpleNamespace

from lib.profile import Settings


def make_study(n_draws: int = 50, seed: int = 0, **given) -> SimpleNamespace:
    """A study with the ``given`` frames and whatever else of it is looked at."""
    plain = {
        "profile": Settings({"significance": Settings({"n_draws": n_draws, "seed": seed})}),
        "dataset": SimpleNamespace(name="financebench", fingerprint=""),
        "digest": str,
        "settings_of": lambda sections: {},
        "run_digest": lambda method, condition: "",
        "memo": lambda key, compute: compute(),
        "store": SimpleNamespace(kept=lambda stage, params, make, *version, **about: make()),
    }
    return SimpleNamespace(**plain | given)
