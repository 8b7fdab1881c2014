"""The speed of encoders: what changes between two score matrices, operations counted by hand, and what is stored."""

import json

import numpy as np
import pandas as pd
import pytest

from extras.speed import DEPTH, alone, changes, operations, peak_mib, wall_times
from lib.analysis.speed import COLUMNS, speeds
from lib.models.weights import fetch


def test_changes_are_those_of_cosines_and_of_the_first_twenty():
    exact = np.tile(np.linspace(1, 0, 30), (2, 1))
    swapped = exact.copy()
    swapped[0, [0, 1]] = exact[0, [1, 0]]  # the order changes inside the first 20
    swapped[1, [19, 20]] = exact[1, [20, 19]]  # one of the 20 goes
    kept = (1 + (DEPTH - 1) / DEPTH) / 2
    assert changes(swapped, exact) == pytest.approx((1 / 29, 4 / 29 / 60, kept, 0))
    assert changes(exact, exact) == (0, 0, 1, 1)


def test_operations_of_one_layer_by_hand(tmp_path):
    config = {"hidden_size": 2, "num_hidden_layers": 3, "intermediate_size": 8}
    (tmp_path / "config.json").write_text(json.dumps(config))
    weights = 4 * 2 * 2 + 2 * 2 * 8  # four projections, two layers of the network behind them
    assert operations(tmp_path, window=5) == 3 * (2 * weights * 5 + 4 * 2 * 5 * 5)


def test_the_first_run_is_not_timed(monkeypatch):
    clock, runs = iter(np.cumsum([0, 5, 0, 1, 0, 3])), []
    monkeypatch.setattr("extras.speed.time.perf_counter", lambda: next(clock))
    assert wall_times(lambda: runs.append(1), repeats=3) == [5, 1, 3]
    assert len(runs) == 4


@pytest.mark.weights
def test_memory_is_that_of_a_process_of_its_own():
    held = np.ones(2**31, np.uint8)  # by this process alone, 2 GiB
    assert 100 < alone(peak_mib, fetch("minilm"), 32, "float32", ["net sales"]) < held.nbytes / 2**20


def test_speeds_are_none_until_they_are_measured(fake_study):
    study = fake_study(["?"], ["net sales"], {})
    study.digest = lambda name: name
    assert speeds(study) is None
    row = ("minilm", 256, "torch", "float32", 28.0, 0.5, *[np.nan] * 4, 0.01, 1500.0, 700.0, 64.0, "two cores")
    measured = speeds(study, lambda: pd.DataFrame([row], columns=COLUMNS))
    pd.testing.assert_frame_equal(speeds(study), measured)
