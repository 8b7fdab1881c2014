"""A study that tables and figures can be shown of, a figure of two panels, and text of a dataset that means harm."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from lib.show.figures import label_rows
from tests.made import make_study

HOSTILE = "1. <script>a</script>|{download}`x </etc/passwd>`\n$x$ {{ 1 }} [a](b) *c* :::{raw} html"


@pytest.fixture
def study(tmp_path):
    names = {name: SimpleNamespace(name=name) for name in ("dataset", "profile")}
    questions = pd.DataFrame({"company": ["3M", "3M", "Apple"]})
    return make_study(outputs=tmp_path, questions=questions, parameters={"k": 5}, **names)


@pytest.fixture
def two_panels():
    """A figure and its panels, which share rows of long names; the right one has a legend."""
    figure, panels = plt.subplots(1, 2, figsize=(7.6, 2), sharey=True)
    for axes in panels:
        axes.barh([0, 1, 2], [1, 2, 3], label="pages")
        label_rows(axes, ["Light page scorer, sum of scores, metadata match"] * 3)
    panels[1].legend()
    return figure, panels


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")
