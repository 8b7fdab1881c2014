"""A study that tables and figures can be shown of, and text of a dataset that means harm."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from tests.made import make_study

HOSTILE = "1. <script>a</script>|{download}`x </etc/passwd>`\n$x$ {{ 1 }} [a](b) *c* :::{raw} html"


@pytest.fixture
def study(tmp_path):
    names = {name: SimpleNamespace(name=name) for name in ("dataset", "profile")}
    questions = pd.DataFrame({"company": ["3M", "3M", "Apple"]})
    return make_study(outputs=tmp_path, questions=questions, parameters={"k": 5}, **names)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")
