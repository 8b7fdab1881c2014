"""A study that tables and figures can be shown of."""

from types import SimpleNamespace

import pandas as pd
import pytest

from tests.made import make_study


@pytest.fixture
def study(tmp_path):
    names = {name: SimpleNamespace(name=name) for name in ("dataset", "profile")}
    questions = pd.DataFrame({"company": ["3M", "3M", "Apple"]})
    return make_study(outputs=tmp_path, questions=questions, parameters={"k": 5}, **names)
