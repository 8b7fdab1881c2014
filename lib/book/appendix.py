"""The appendix: what the numbers were made from, how long it took, whose licences apply, and how to cite."""

import re
from importlib.metadata import PackageNotFoundError

import pandas as pd
import yaml

from lib.book.manifest import licence_of
from lib.book.notebooks import ROOT
from lib.models.weights import lock
from lib.show.display import escape, markdown_table
from lib.study import Study

PAGE = """# Appendix: what these numbers were made from

This page is written by the build, from `manifest.json`.{provenance}

{facts}

## Models and their licences

The weights are data: fetched, checked against `lib/models/weights.lock.yaml`, never imported or installed.

{models}

:::{{dropdown}} Every model of the lock file and its licence
{locked}
:::

## Packages and their licences

{packages}

:::{{dropdown}} Every package that `requirements.txt` pins
Licences as the packages themselves state them, in the environment that built this book.

{pinned}
:::

## Time and memory of each stage

`computed` is what this run made, `reused` what an earlier run on the same machine had made from the same data,
settings, weights and versions, `published` what came from the repository. Seconds are those of computing, whenever that
was, without the stages that one asked for in turn; memory is the peak of the process that computed it.

{stages}

:::{{dropdown}} Every stage by itself
{each_stage}
:::

## How to cite

{citations}
"""


def appendix(study: Study, manifest: dict) -> str:
    """What the numbers were made from, on one page."""
    models = [
        (f"`{role}`", escape(model["title"]), escape(model["licence"]), what_fixes(model))
        for role, model in manifest["models"].items()
    ]
    packages = [
        (name, escape(version), escape(manifest["licences"].get(name, "unknown")))
        for name, version in manifest["packages"].items()
    ]
    tables = {
        "facts": facts(manifest),
        "models": pd.DataFrame(
            models, columns=["Role", "Model", "Licence", "What fixes the weights (SHA-256)"]
        ),
        "locked": locked_models(),
        "packages": pd.DataFrame(packages, columns=["Package", "Version", "Licence"]),
        "pinned": pinned_packages(),
        "stages": stages_table(manifest["stages"]),
        "each_stage": stages_table(manifest["stages"], whole=True),
    }
    printed = {name: markdown_table(table, plain=True) for name, table in tables.items()}
    return PAGE.format(provenance=study.provenance, citations=how_to_cite(), **printed)


def facts(manifest: dict) -> pd.DataFrame:
    """Dataset, profile, code, machine and seeds: What, Value."""
    counts = pd.Series([record["origin"] for record in manifest["stages"]], dtype=str).value_counts()
    rows = {
        "dataset": f"{manifest['dataset']}, {manifest['n_questions']} questions",
        "fingerprint of the dataset": f"`{manifest['fingerprint']}`",
        "profile": f"`{manifest['profile']}`",
        "code": f"commit `{manifest['commit']}`",
        "date": manifest["date"],
        "machine": escape(manifest["machine"]),
        "Python": manifest["python"],
        "seeds": ", ".join(f"`{name}` = {seed}" for name, seed in manifest["seeds"].items()),
        "results of stages": ", ".join(f"{n} {origin}" for origin, n in counts.items())
        or "nothing looked up",
    }
    return pd.DataFrame(rows.items(), columns=["What", "Value"])


def what_fixes(model: dict) -> str:
    """The hashes of a model's weight files, and the hub's commit where the hub alone has the files."""
    record = lock().get(model["name"], {"files": {}, "hub": {}})
    hub = record["hub"] or {}
    is_snapshot = hub.get("revision") and not record["files"]
    commit = [f"commit `{hub['revision']}` of `{hub['id']}`"] if is_snapshot else []
    files = model["files"] or (hub.get("sha256", {}) if is_snapshot else {})
    hashes = [f"{escape(file)}: {breakable(sha)}" for file, sha in files.items()]
    return "<br>".join([*commit, *hashes]) or f"`{model['weights']}` over all files"


def breakable(sha256: str) -> str:
    """A hash as code that may be broken into lines and is copied whole."""
    return f"<code>{'<wbr>'.join(re.findall('.{1,16}', sha256))}</code>"


def locked_models() -> pd.DataFrame:
    """Every model that a profile may name, with its licence."""
    rows = [(f"`{name}`", escape(row["title"]), escape(row["licence"])) for name, row in lock().items()]
    return pd.DataFrame(rows, columns=["Name", "Model", "Licence"])


def pinned_packages() -> pd.DataFrame:
    """Every package of ``requirements.txt``: name, version, and licence where the package is installed."""
    text, rows = (ROOT / "requirements.txt").read_text(), []
    for name, extra, version in re.findall(r"^([^\s#=\[]+)(\[[^]]*\])?==([^\s;#]+)", text, flags=re.M):
        try:
            licence = licence_of(name)
        except PackageNotFoundError:
            licence = "not installed here"
        rows.append((escape(name + extra), escape(version), escape(licence)))
    return pd.DataFrame(rows, columns=["Package", "Version", "Licence"])


def stages_table(stages: list[dict], whole: bool = False) -> pd.DataFrame:
    """Seconds and MiB by stage, summed over stages of one kind unless ``whole``."""
    frame = pd.DataFrame(stages, columns=["stage", "origin", "wall_s", "peak_mib"])
    frame["Stage"] = "`" + (frame["stage"] if whole else frame["stage"].str.split("/").str[0]) + "`"
    found = frame.groupby("Stage", sort=False).agg(
        Results=("stage", "size"),
        Origin=("origin", lambda column: ", ".join(sorted(set(column)))),
        Seconds=("wall_s", lambda column: f"{column.sum():.1f}"),
        MiB=("peak_mib", lambda column: f"{column.max():.0f}"),
    )
    return found.reset_index()


def how_to_cite() -> str:
    """Citations of this study, the study that it reproduces, and the dataset, from ``CITATION.cff``."""
    about = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    entries = [_bibtex("retrievalgap", about | {"year": str(about["date-released"])[:4]}, "software")]
    for work in about["references"]:
        entries.append(_bibtex(work["authors"][0]["family-names"].lower() + str(work["year"]), work, "misc"))
    return "```bibtex\n" + "\n".join(entries) + "\n```"


def _bibtex(key: str, work: dict, kind: str) -> str:
    people = [
        f"{{{one['name']}}}" if "name" in one else f"{one['family-names']}, {one['given-names']}"
        for one in work["authors"]
    ]
    given = {
        "author": " and ".join(people),
        "title": work["title"],
        "year": work["year"],
        "url": work.get("url"),
    }
    fields = ",\n  ".join(f"{name} = {{{value}}}" for name, value in given.items() if value)
    return f"@{kind}{{{key},\n  {fields}\n}}"
