"""The small study that the book's tests share with those of publishing."""

from tests.small import bm25_alone, browser, open_small, small_artifacts, small_folder, study  # noqa: F401
