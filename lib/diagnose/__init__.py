"""The diagnosis of runs from outside: any system's pages on the scale of the study."""

from lib.diagnose.diagnosis import Diagnosis, diagnose
from lib.diagnose.kept import KeptRun, kept_runs

__all__ = ["Diagnosis", "KeptRun", "diagnose", "kept_runs"]
