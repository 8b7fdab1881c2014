import pytest


@pytest.fixture(scope="package")
def study(make_study):
    """A study whose folds are trained once for all tests that only read."""
    return make_study()
