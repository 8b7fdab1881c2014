"""The study whose language model answers by rule."""

from tests.retrievers.conftest import written_study  # noqa: F401
