"""Every published number against that of commit 0733168, by hashes of contents; formats and places may differ.

What was first published later is as it was then; the demo's are those of 2026-11-25, when it was computed anew.

``golden.json`` has, by question set: ``shown`` (CSV files of tables and figures), ``runs`` and ``metrics`` (by
condition and method, as TREC lines and as CSV; without those of pooled gold pages, which came later), and ``entries``
(keys by stage). What differs on purpose is in CHANGED, and what it is instead, null where it is gone, is ``accepted``
in the file. ``python -m tests.publish.test_golden PATTERN…``, after a publication, adds what is new to the gate, and
accepts what differs as it is now where a pattern names it.
"""

import hashlib
import json
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from lib.evaluation import METRIC_COLUMNS, POOLED
from lib.files import ROOT, digest_of_file
from lib.published import RESULTS, Published, metrics_csv
from lib.runs import trec_lines

GOLDEN = Path(__file__).with_name("golden.json")
CHANGELOG = ROOT / "book" / "changelog.md"
#: Words of the changelog that say why → ``set/kind/name`` of what is another than it was, as patterns.
CHANGED = {
    "An interval no longer depends on the order of its questions": "*/entries/summary",
    "The book has ten chapters and three appendices": """
        */shown/shown/* */entries/analysis/missed/* */entries/experiments/* */entries/page_scorer/choices/5
        */entries/page_scorer/ablation/5 */entries/page_scorer_light/first-fold""",
    "A run under a key of older settings is not kept twice": "*/entries/runs/standard/*",
    "A better encoder beside the study's": """
        financebench/entries/runs/standard/ahead_untrained financebench/entries/speed/encoders
        financebench/shown/shown/tables/encoder-speeds.csv""",
    "Right answers count": """
        financebench/metrics/standard/ahead financebench/shown/shown/figures/ahead-ladder.csv
        financebench/shown/shown/figures/by-question-type.csv financebench/shown/shown/figures/sets-ranks.csv
        financebench/shown/shown/tables/ahead-ladder.csv financebench/shown/shown/tables/ahead-seeds.csv
        financebench/shown/shown/tables/ahead.csv financebench/shown/shown/tables/by-filing-type.csv
        financebench/shown/shown/tables/by-question-type.csv financebench/shown/shown/tables/matched.csv
        financebench/shown/shown/tables/sets-document.csv financebench/shown/shown/tables/sets-page.csv
        financebench/shown/shown/tables/siblings-kim*.csv""",
    "The scoreboards are keyed by digests": "*/entries/analysis/claims",
    "Years are read by one rule": """
        */entries/analysis/question-features */entries/analysis/named */entries/experiments/hyde-years
        financebench/shown/shown/tables/by-question.csv financebench/shown/shown/tables/hyde-years.csv
        financebench/shown/shown/tables/question-sets.csv financebench/shown/shown/tables/sets-calibration.csv
        financebench/shown/shown/tables/sets-coefficients.csv financebench/shown/shown/tables/sets-kind.csv
        financebench/shown/shown/tables/sets-transfer-rank.csv financebench/shown/shown/tables/sets-transfer-recall.csv
        demo/shown/shown/tables/sets-kind.csv""",
    "The demo is computed again": "demo/*",
    "rows find .55 of the pages where they found .57": """
        financebench/*/*page_scorer_best* financebench/entries/page_scorer/setups_best/*
        financebench/shown/shown/figures/cost-quality.csv financebench/shown/shown/tables/costs.csv
        financebench/shown/shown/*/page-*.csv""",
    "Three results are kept under other keys": """
        */entries/analysis/shape */entries/page_scorer/choices/5 */entries/page_scorer/ablation/5""",
    "The grid of recipes is gone": """
        financebench/entries/page_scorer/experiments financebench/shown/shown/tables/experiments.csv
        financebench/shown/shown/figures/recipe-curves.csv""",
    "are no variants of Ahead any more": """
        financebench/entries/ahead/tested financebench/shown/shown/tables/ahead-sets*.csv""",
    "Calculation reads rows of a page's text alone": """
        */entries/analysis/chain */entries/answers/right-by-calculation/* */shown/shown/tables/answers*.csv
        financebench/shown/shown/tables/sets-answers.csv""",
    "The verdicts of the earlier edition": "financebench/shown/shown/tables/claims-before.csv",
    "Verdicts are drawn where the paper's component is here": """
        */shown/shown/tables/claims-*.csv financebench/shown/shown/figures/claims.csv
        financebench/shown/shown/tables/sets-claims.csv""",
    "A contrast has one p in every chapter": "financebench/shown/shown/tables/ahead-sets.csv",
    "Measured tables are read to their last digit": """
        financebench/shown/shown/figures/archive-costs.csv financebench/shown/shown/tables/archive-limits.csv
        financebench/shown/shown/tables/stores*.csv""",
    "differ in digits that no page prints": """
        financebench/shown/shown/tables/growth-law.csv financebench/shown/shown/figures/claims.csv""",
}


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
            said = [why for why, names in CHANGED.items() if any(fnmatchcase(place, name) for name in names.split())]
            is_said = bool(said) and all(words in changelog for words in said)
            _, kind, item = place.split("/", 2)
            is_accepted = place in accepted and now[kind].get(item) == accepted[place]
            unexplained += [] if is_said and is_accepted else [place]
    assert unexplained == []


@pytest.mark.parametrize("kind", ["shown", "runs", "metrics", "entries"])
def test_a_changed_a_missing_and_a_new_number_are_seen(kind):
    known = {"shown": {"a": "1"}, "runs": {"a": "1"}, "metrics": {"a": "1"}, "entries": {"a": ["1"]}}
    assert differences("set", known, known) == []
    for other in ({"a": ["2"]}, {}):
        assert differences("set", known, known | {kind: other}) == [f"set/{kind}/a"]
    assert differences("set", known, known | {kind: known[kind] | {"b": ["1"]}}) == [f"set/{kind}/b"]


if __name__ == "__main__":
    gate = json.loads(GOLDEN.read_text())
    for of in sorted(path.parents[1].name for path in RESULTS.glob("*/default/manifest.json")):
        prints, first = fingerprints(Published.of(of, "default")), gate.setdefault(of, {})
        for part, values in prints.items():
            first[part] = values | first.get(part, {})
        for where in differences(of, first, prints):
            if any(fnmatchcase(where, pattern) for pattern in sys.argv[1:]):
                gate["accepted"][where] = prints[where.split("/")[1]].get(where.split("/", 2)[2])
    GOLDEN.write_text(json.dumps(gate, indent=0, sort_keys=True) + "\n")
