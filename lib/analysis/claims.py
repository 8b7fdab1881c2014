"""The papers' claims as data: what is claimed, from :mod:`lib.analysis.facts`, and what decides it, ``claims.yaml``."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from lib.analysis.facts import facts
from lib.files import read_yaml
from lib.schema import IN_WORDS

PATH = Path(__file__).with_name("claims.yaml")
_FILE = read_yaml(PATH)
MARGIN = float(_FILE["margin"])  # the smallest gain that would matter
#: The share of questions whose first ranks a treatment has to change, for a claim about it to be tested.
CHANGED_LEAST = float(_FILE["changed_least"])
#: Components of rows to what they are here, forms of a profile.
COMPONENTS: dict[str, str] = _FILE["components"]


class Entry(NamedTuple):
    """One measure of one run, such as ``page_recall@5 of dense (pages given)``; without a depth ``k`` is None."""

    row: str
    condition: str
    metric: str
    k: int | None

    @property
    def key(self) -> tuple[tuple[str, str], str, int | None]:
        """Its place in :class:`lib.metrics.frame.Metrics`."""
        return (self.row, self.condition), self.metric, self.k

    def __str__(self) -> str:
        depth = "" if self.k is None else f"@{self.k}"
        given = "" if self.condition == "standard" else f" ({IN_WORDS[self.condition]})"
        return f"{self.metric}{depth} of {self.row}{given}"


def entry(text: str, metric: str) -> Entry:
    """``row[/condition][:metric[@k]]``: without a metric it is the given one, without a condition the standard one; a
    ValueError where the text has another form."""
    found = re.fullmatch(r"([\w-]+)(?:/([\w-]+))?(?::(\w+(?:@\d+)?))?", text)
    if not found:
        raise ValueError(f"{text!r} is no measure of a row, such as dense/oracle-page:page_recall@5")
    name, _, k = (found[3] or metric).partition("@")
    return Entry(found[1], found[2] or "standard", name, int(k) if k else None)


@dataclass(frozen=True)
class Claim:
    """One claim and what decides it here; see the head of ``claims.yaml``. Without a ``kind`` it is not measured."""

    id: str  # <source>/<id of the facts>, and /<label> of a variant
    source: str
    claim: str
    place: str
    numbers: str
    metric: str
    kind: str = ""
    a: tuple[Entry, ...] = ()
    b: tuple[Entry, ...] = ()
    says: str = ">"
    bound: float = 0.0
    opposite: float = 0.0  # beyond which the opposite of the claim is true
    amount: float | None = None
    also: str = ""
    only: Mapping[str, list] = field(default_factory=dict)
    against: Mapping[str, list] = field(default_factory=dict)
    treatment: tuple[str, ...] = ()
    judge: bool = False
    groups: tuple[str, ...] = ()  # columns of questions whose groups are compared
    of: str = ""  # the question set that the claim is about
    components: Mapping[str, str] = field(default_factory=dict)  # of COMPONENTS to what they are in the paper
    needs: tuple[str, ...] = ()  # of these components, beside those by which its two sides differ
    identity: str = ""  # why what is claimed is true, or false, of any run
    untested: str = ""  # why what is measured cannot decide the claim
    same_as: str = ""  # id of a claim about the same fact
    note: str = ""
    not_measured: str = ""
    variant: str = ""

    @property
    def runs(self) -> list[tuple[str, str]]:
        """The runs that the claim needs: row and condition."""
        return list(dict.fromkeys((one.row, one.condition) for one in self.a + self.b))


def filters_of(claim: Claim) -> dict[str, str]:
    """The filters of the question explorer for a claim: the first row of each side, and the one question type."""
    rows = dict.fromkeys(side[0].row for side in (claim.a, claim.b) if side)
    types = claim.only.get("question_type", [])
    return dict(zip(("method", "other"), rows, strict=False)) | ({"type": types[0]} if len(types) == 1 else {})


def pairs_of(claim: Claim) -> dict[str, tuple[Sequence[Entry], Sequence[Entry]]]:
    """The sides of each pair that a claim compares, by name, such as ``dense − bm25``; empty where there is one."""
    if claim.kind not in ("every", "pairs"):
        return {"": (claim.a, claim.b)}
    found = {}
    for pair in product(claim.a, claim.b) if claim.kind == "every" else zip(claim.a, claim.b, strict=True):
        rows = [one.row + f" ({one.condition})" * (one.condition != "standard") for one in pair]
        if claim.kind == "every" and len(set(rows)) == 1:  # one row in several measures
            rows = [one.metric for one in pair]
        name = " − ".join(rows) + f", {pair[0].metric}" * (claim.kind == "pairs")
        found[name] = pair[:1], pair[1:]
    return found


def sources() -> dict[str, str]:
    """Key of the bibliography to the name of a source, in the order of the chapter."""
    papers = (facts(one["facts"][0]).source for one in _FILE["sources"].values())
    return {paper["bibliography"]: paper["name"] for paper in papers}


def stated(source: str) -> dict[str, dict[str, str]]:
    """What a source of ``claims.yaml`` states: id to ``claim``, ``place`` and ``numbers``, of all its versions."""
    found: dict[str, dict[str, str]] = {}
    for record in (one for version in _FILE["sources"][source]["facts"] for one in facts(version).claims):
        numbers = record["numbers"] or "no numbers"
        place = "; ".join(dict.fromkeys(filter(None, (record["where"], record["table"]))))
        first = found.setdefault(record["id"], {"claim": f"{record['claim']}."} | {"place": place, "numbers": numbers})
        if first["numbers"] != numbers and not numbers.startswith(("Table", "figure")):
            first["numbers"] += f" (French version: {numbers})"
    return found


@cache
def claims() -> tuple[Claim, ...]:
    """All claims in the papers' order, variants behind each; a ValueError where a claim or a row lacks the other."""
    found = []
    for source, given in _FILE["sources"].items():
        known, rows = stated(source), _FILE["claims"][source]
        if known.keys() != rows.keys():
            raise ValueError(f"claims.yaml, {source}: not in both: {sorted(known.keys() ^ rows.keys())}")
        shared = {name: given[name] for name in ("metric", "also", "components")}
        shared["source"] = facts(given["facts"][0]).source["bibliography"]
        for name, text in known.items():
            spec = shared | text | rows[name]
            variants = spec.pop("variants", {})
            found.append(_claim(f"{source}/{name}", spec))
            for label, changed in variants.items():
                other = spec | {"note": "", "same_as": ""} | changed | {"variant": label}
                found.append(_claim(f"{source}/{name}/{label}", other))
    return tuple(found)


def _claim(name: str, spec: Mapping) -> Claim:
    sides = {side: tuple(entry(text, spec["metric"]) for text in spec.get(side, ())) for side in "ab"}
    if "with" in spec:
        sides["b"] = tuple(entry(text, spec["with"]) for text in spec["a"])
    says, bound = spec.get("says", ">"), spec.get("bound")
    limits = {"bound": MARGIN if bound is None and says == "<=" else bound or 0.0, "opposite": bound or 0.0}
    own = ("a", "b", "with", "bound", "before")  # before is a record, see claims.yaml
    rest = {key: value for key, value in spec.items() if key not in own}
    rest |= {name: tuple(spec.get(name, ())) for name in ("treatment", "groups", "needs")}
    return Claim(id=name, **rest, **sides, **limits)


def stated_claims() -> pd.DataFrame:
    """What the papers claim, a row per claim and variant: source, text, place, numbers, kind, says and variant, indexed
    by ``claim``."""
    columns = {"claim": "text", "id": "claim"}
    frame = pd.DataFrame(map(vars, claims())).rename(columns=columns).set_index("claim")
    return frame[["source", "text", "place", "numbers", "kind", "says", "variant"]]
