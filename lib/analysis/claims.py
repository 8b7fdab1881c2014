"""The studies' claims as data: who claims what, on which data, with which numbers, and which rows are compared.

They are tested in :mod:`lib.analysis.scoreboard`.
"""

from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

import pandas as pd
import yaml

from lib.words import Condition


@dataclass(frozen=True)
class Claim:
    """One claim and what decides it here; see the head of ``claims.yaml``."""

    id: str
    source: str
    claim: str
    kind: str
    says: str
    a: tuple[str, ...]
    why: str
    b: tuple[str, ...] = ()
    numbers: str | None = None
    metric: str = "page_recall"
    k: int = 5
    a_condition: Condition = "standard"
    b_condition: Condition = "standard"
    question_types: tuple[str, ...] = ()
    amount: float | None = None
    bound: float = 0.0

    @property
    def runs(self) -> list[tuple[str, Condition]]:
        """The runs that the claim needs."""
        return [(name, self.a_condition) for name in self.a] + [(name, self.b_condition) for name in self.b]


@cache
def _file() -> dict:
    return yaml.safe_load(Path(__file__).with_name("claims.yaml").read_text())


def sources() -> dict[str, dict[str, str]]:
    """Key of the bibliography to ``name``, ``data`` and ``read_in``, in the order of the chapter."""
    return _file()["sources"]


def margin() -> float:
    """The smallest gain that would matter."""
    return float(_file()["margin"])


def claims() -> list[Claim]:
    """All claims; those that nothing helps are tested against the margin.

    Raises:
        ValueError: a record has a field that is not known.
    """
    known = {field.name for field in fields(Claim)}
    found = []
    for record in _file()["claims"]:
        if record.keys() - known:
            raise ValueError(f"claims.yaml, {record.get('id')}: no field {', '.join(record.keys() - known)}")
        lists = {name: tuple(value) for name, value in record.items() if isinstance(value, list)}
        bound = {"bound": margin()} if record["says"] == "<=" else {}
        found.append(Claim(**record | lists | bound))
    return found


def missing(claim: Claim, metrics: pd.DataFrame) -> list[str]:
    """Rows of the claim that were not measured."""
    there = set(metrics[["method", "condition"]].drop_duplicates().itertuples(index=False, name=None))
    return list(dict.fromkeys(name for name, condition in claim.runs if (name, condition) not in there))
