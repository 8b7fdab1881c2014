"""Every published number against that of commit 0733168, by hashes of contents; formats and places may differ.

What was first published later is as it was then; the demo's are those of 2026-11-25, when it was computed anew.

``golden.json`` has, by question set: ``shown`` (CSV files of tables and figures), ``runs`` and ``metrics`` (by
condition and method, as TREC lines and as CSV; without those of pooled gold pages, which came later), and ``entries``
(keys by stage). What differs on purpose is in ``golden.yaml``, and what it is instead, null where it is gone, is
``accepted`` in the file. ``python -m tests.publish.test_golden PATTERN…``, after a publication, adds what is new, and
accepts what differs as it is now where a pattern names it.
"""

import hashlib
import json
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
import yaml

from lib.evaluation import METRIC_COLUMNS, POOLED, metrics_csv
from lib.files import ROOT, digest_of_file
from lib.published import Published
from lib.runs import trec_lines

GOLDEN = Path(__file__).with_name("golden.json")
CHANGELOG = ROOT / "book" / "changelog.md"
#: Words of the changelog that say why → ``set/kind/name`` of what is another than it was, as patterns.
CHANGED: dict[str, list[str]] = yaml.safe_load(GOLDEN.with_suffix(".yaml").read_text(encoding="utf-8"))


def fingerprints(published: Published) -> dict[str, dict]:
    """What golden.json has of one set."""
    short, entries = 16, {}
    runs = {
        f"{condition}/{method}": hashlib.sha256(trec_lines(run, method)).hexdigest()[:short]
        for (condition, method), run in published.runs.items()
    }
    known = published.metrics[~published.metrics["metric"].isin(POOLED)]
    parts = known[METRIC_COLUMNS].groupby(["condition", "method"], observed=True)
    metrics = {"/".join(place): hashlib.sha256(metrics_csv(part)).hexdigest()[:short] for place, part in parts}
    for stage, key in sorted(published.stages):
        if "files" in published.stages[stage, key]:
            entries.setdefault(stage, []).append(key)
    files = sorted((published.root / "shown").glob("*/*.csv"))
    shown = {str(path.relative_to(published.root)): digest_of_file(path)[:short] for path in files}
    return {"shown": shown, "runs": runs, "metrics": metrics, "entries": entries}


def differences(name: str, known: dict[str, dict], now: dict[str, dict]) -> list[str]:
    """``set/kind/name`` of what is missing, another, or new."""
    found = [f"{name}/{kind}/{item}" for kind, items in now.items() for item in items if item not in known[kind]]
    for kind, items in known.items():
        for item, value in items.items():
            there = now[kind].get(item)
            is_same = set(value) <= set(there or ()) if kind == "entries" else value == there
            found += [] if is_same else [f"{name}/{kind}/{item}"]
    return found


@pytest.mark.slow
def test_every_published_number_is_the_one_of_the_gate_or_the_changelog_says_why():
    changelog, unexplained = CHANGELOG.read_text(), []
    golden = json.loads(GOLDEN.read_text())
    accepted = golden.pop("accepted")
    for name, known in golden.items():
        now = fingerprints(Published.of(name, "default"))
        for place in differences(name, known, now):
            said = [why for why, names in CHANGED.items() if any(fnmatchcase(place, name) for name in names)]
            is_said = bool(said) and all(words in changelog for words in said)
            _, kind, item = place.split("/", 2)
            is_accepted = place in accepted and now[kind].get(item) == accepted[place]
            unexplained += [] if is_said and is_accepted else [place]
    assert unexplained == []


if __name__ == "__main__":
    gate = json.loads(GOLDEN.read_text())
    for of, published in Published.all("default").items():
        prints, first = fingerprints(published), gate.setdefault(of, {})
        for part, values in prints.items():
            first[part] = values | first.get(part, {})
        for where in differences(of, first, prints):
            if any(fnmatchcase(where, pattern) for pattern in sys.argv[1:]):
                gate["accepted"][where] = prints[where.split("/")[1]].get(where.split("/", 2)[2])
    GOLDEN.write_text(json.dumps(gate, indent=0, sort_keys=True) + "\n")
