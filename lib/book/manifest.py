"""What outside checks rely on: runs, metrics, their summary, and the manifest of what they were made from."""

import hashlib
import io
import json
import os
import platform
import re
import shutil
import subprocess
import textwrap
from collections.abc import Sequence
from importlib.metadata import metadata, version
from pathlib import Path

import pandas as pd

from lib.book.notebooks import chapters, read_json, read_stages
from lib.evaluation import evaluate, merge_metrics, metrics_entry, write_summary
from lib.exports import exported_metrics, exported_run
from lib.files import MANIFEST, ROOT
from lib.method_sets import measured
from lib.models.encoders import automatic_precision, gpu
from lib.models.weights import models_of
from lib.published import ANSWERS_FILE, METRICS_FILE
from lib.runs import trec_lines
from lib.schema import Condition
from lib.study import Study
from lib.typed import read_table

SOURCES = "lib notebooks book data _config.yml _toc.yml requirements.txt :!book/results".split()
UNKNOWN = "unknown"  # in place of a commit
PACKAGES = (
    "torch", "transformers", "sentence-transformers", "tokenizers", "chromadb", "rank-bm25", "sacrebleu", "rouge-score",
    "rapidfuzz", "ir_measures", "onnxruntime", "xllamacpp", "lightgbm", "pymupdf", "numpy", "scipy", "pandas",
    "matplotlib", "papermill", "jupyter", "jupyter-book",
)  # fmt: skip
UNLISTED = ("curve", "train_filings")  # of a fold
STAGE_FIELDS = ("stage", "key", "version", "digest", "public", "asked", "wall_s", "peak_mib", "at")


def write_results(study: Study, some: Sequence[tuple[str, Condition]] | None = None) -> None:
    """Write ``metrics.parquet`` and ``summary.csv`` of all that the profile measures, in place of what was, or add
    ``some`` runs; with filings also questions, pages and chunks."""
    metrics = pd.concat([evaluate(study, *run) for run in some or measured(study.profile)], ignore_index=True)
    write_summary(study, merge_metrics(study, metrics, is_whole=some is None))
    if "answer" in study.dataset.lacks:
        (study.outputs / ANSWERS_FILE).unlink(missing_ok=True)  # written when there were some
    if study.has_text:
        study.generation_log().list_all()
        packed = io.BytesIO()
        study.questions.to_parquet(packed, index=False)
        study.write("questions.parquet", packed.getvalue())
        _ = study.pages, study.chunks  # linked into the outputs as they are read


def write_exports(study: Study, some: Sequence[tuple[str, Condition]] | None = None) -> None:
    """Write what only other programs read: ``metrics.csv.gz``, and in TREC's format ``runs/``."""
    for name, condition in some or measured(study.profile):
        study.write(f"runs/{condition}/{name}.trec.gz", exported_run(study.run(name, condition), name))
    study.write("metrics.csv.gz", exported_metrics(read_table(study.outputs / METRICS_FILE)))


def run_sha256(study: Study, name: str, condition: Condition) -> str:
    """SHA-256 of a run's TREC lines."""
    return hashlib.sha256(trec_lines(study.run(name, condition), name)).hexdigest()


def git_commit() -> str:
    """The last commit that changed the code, with ``-dirty`` where files differ from it; ``unknown`` without git."""

    def git(*command: str) -> str:
        command = ["git", "-C", str(ROOT), *command, "--", *SOURCES]
        return subprocess.run(command, capture_output=True, encoding="utf-8", check=False).stdout.strip()

    try:
        return (git("log", "-1", "--format=%H") or UNKNOWN) + ("-dirty" if git("status", "--porcelain") else "")
    except OSError:  # there is no git on the PATH, or none that may be run
        return UNKNOWN


def shortened(commit: str) -> str:
    """A commit of :func:`git_commit` as a page prints it: ten of its digits, and whether files differ from it."""
    return re.sub(r"^([0-9a-f]{10})[0-9a-f]+", r"\1", commit)


def processor() -> str:
    """The processor's name, cores and memory, and the GPU where there is one."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    found = gpu() if shutil.which("nvidia-smi") else None  # importing torch takes seconds
    graphics = f"; {found[0]}, {found[1]:.0f} GiB" if found else ""
    return f"{(names or [platform.processor()])[0]}, {os.cpu_count()} cores, {memory:.0f} GiB{graphics}"


def seeds_of(settings: dict, prefix: str = "") -> dict[str, int | list[int]]:
    """Every seed of a profile by its dotted name."""
    found = {}
    for name, value in settings.items():
        if isinstance(value, dict):
            found |= seeds_of(value, f"{prefix}{name}.")
        elif name in ("seed", "seeds", "fold_seeds"):
            found[prefix + name] = value
    return found


def licence_of(package: str) -> str:
    """A Python package's licence as its own metadata states it, in a few words."""
    about = metadata(package)
    classifiers = [line.split(" :: ") for line in about.get_all("Classifier") or []]
    listed = "; ".join(parts[-1] for parts in classifiers if parts[0] == "License")
    stated = about.get("License-Expression") or listed or (about.get("License") or "unknown").splitlines()[0]
    return textwrap.shorten(stated, 60, placeholder=" …")


def stages_of(study: Study) -> list[dict]:
    """Every stage that the book and its chapters used, and those behind them, by name and key: the STAGE_FIELDS that
    are known, and origin (``computed``, ``reused`` or ``published``)."""
    origins, of_the_book = {}, {*chapters(), "book", "measure"}
    for line in read_stages(study):
        reference, origin = f"{line['stage']}/{line['key']}", line["origin"]
        if line["chapter"] in of_the_book and origin != "absent":
            origins[reference] = origins.get(reference, origin) if origin == "reused" else origin
    todo, found = list(origins), {}
    while todo:
        reference = todo.pop()
        if reference not in found and (record := study.store.record(reference)):
            found[reference] = {name: record[name] for name in STAGE_FIELDS if name in record}
            found[reference]["origin"] = origins.get(reference, "reused")
            todo += record.get("asked", ())
    return sorted(found.values(), key=lambda record: (record["stage"], record["key"]))


def folds_of(study: Study) -> dict[str, list[dict]]:
    """What each fold trained on and tested, and what the two share (checked before training): scorer to its folds."""
    folds = dict(study.published.manifest.get("folds", {})) if study.published else {}
    for path in sorted((study.outputs / "folds").glob("*.json")):
        records = read_json(path)
        records = records if isinstance(records, list) else [records]
        folds[path.stem] = [{name: one[name] for name in one if name not in UNLISTED} for one in records]
    return folds


def write_manifest(study: Study, some: Sequence[tuple[str, Condition]] | None = None) -> dict:
    """Write ``manifest.json`` of the outputs and return it; with ``some`` runs, it adds them to those it lists."""
    stages, path = stages_of(study), study.outputs / MANIFEST
    identity = {"commit": git_commit(), "fingerprint": study.dataset.fingerprint}
    before = read_json(path) if some and path.is_file() else {}
    is_same = identity.items() <= before.items()  # runs of another commit may be others
    runs, inputs = (dict(before[name]) if is_same else {} for name in ("runs", "inputs"))
    published = study.published.manifest["runs"].values() if study.published else ()
    published = {one["key"]: one["sha256"] for one in published}
    for name, condition in some or measured(study.profile):
        run = study.run_entry(name, condition)
        sha256 = (run.origin == "published" and published.get(run.key)) or run_sha256(study, name, condition)
        metrics = metrics_entry(study, name, condition).key
        runs[f"{condition}/{name}"] = {"key": run.key, "metrics": metrics, "sha256": sha256}
        inputs[name] = study.inputs_digest(name)
    manifest = {
        "dataset": study.dataset.name,
        "collection": study.dataset.collection,
        "lacks": study.dataset.lacks,
        **identity,
        "filings_digest": study.dataset.filings_digest,
        "profile": study.profile.name,
        "settings": study.profile,
        "date": max((record.get("at", "") for record in stages), default="")[:10],
        "machine": processor(),
        "precision": automatic_precision() if study.has_text or not study.published else study.published.precision,
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
        "licences": {name: licence_of(name) for name in PACKAGES},
        "seeds": seeds_of(study.profile),
        "models": models_of(study.profile),
        "n_questions": len(study.questions),
        "inputs": dict(sorted(inputs.items())),
        "runs": dict(sorted(runs.items())),
        "folds": folds_of(study),
        "stages": stages,
    }
    study.write(MANIFEST, json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")
    return manifest
