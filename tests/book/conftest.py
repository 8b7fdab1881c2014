"""The small study that the book's tests share with those of publishing."""

from tests.small import bm25_alone, browser, small_folder, small_study, study  # noqa: F401
