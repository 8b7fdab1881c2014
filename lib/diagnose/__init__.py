"""The diagnosis of runs from outside: any system's pages on the scale of the study."""

from lib.diagnose.kept import KeptRun, kept_runs

__all__ = ["KeptRun", "kept_runs"]
