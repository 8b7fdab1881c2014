"""The manifest: what a set of results was made from and what each stage took."""

import json
import os
import platform
import shutil
import subprocess
import textwrap
from importlib.metadata import metadata, version
from pathlib import Path

from lib.book.notebooks import chapters, read_stages
from lib.files import ROOT, digest_of_file
from lib.methods import measured
from lib.models.preflight import gpu
from lib.models.weights import WEIGHT_SUFFIXES, locked, weights_hash
from lib.study import Study

SOURCES = (
    "lib",
    "notebooks",
    "book",
    "data",
    "_config.yml",
    "_toc.yml",
    "requirements.txt",
    ":!book/results",
)
PACKAGES = (
    "torch", "transformers", "sentence-transformers", "tokenizers", "chromadb", "rank-bm25", "sacrebleu", "rouge-score",
    "ir_measures", "onnxruntime", "xllamacpp", "lightgbm", "pymupdf", "numpy", "scipy", "pandas", "matplotlib",
    "papermill", "jupyter-book",
)  # fmt: skip


def git_commit() -> str:
    """The last commit that changed the code, with ``-dirty`` where files differ from it; ``unknown`` outside git."""

    def git(*command: str) -> str:
        done = subprocess.run(["git", "-C", str(ROOT), *command], capture_output=True, text=True, check=False)
        return done.stdout.strip()

    commit = git("log", "-1", "--format=%H", "--", *SOURCES)
    return (commit or "unknown") + ("-dirty" if git("status", "--porcelain", "--", *SOURCES) else "")


def processor() -> str:
    """The processor's name, cores and memory, and the GPU where there is one."""
    info = Path("/proc/cpuinfo")
    names = [
        line.split(":", 1)[1].strip()
        for line in info.read_text().splitlines()
        if line.startswith("model name")
    ]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    found = gpu() if shutil.which("nvidia-smi") else None  # torch, which tells, takes seconds to load
    graphics = f"; {found[0]}, {found[1]:.0f} GiB" if found else ""
    return f"{(names or [platform.processor()])[0]}, {os.cpu_count()} cores, {memory:.0f} GiB{graphics}"


def models_of(profile: dict) -> dict[str, dict]:
    """Every model that a profile names: role to name, title, licence, weights hash and its weight files' hashes."""
    found = {}
    for role, settings in profile.items():
        if isinstance(settings, dict) and isinstance(settings.get("weights"), str):
            name = settings["weights"]
            given = {"title": Path(name).name, "licence": "unknown", "files": {}}
            record = given if Path(name).is_dir() else locked(name)
            files = {file: entry["sha256"] for file, entry in record["files"].items()}
            found[role] = {
                "name": name,
                "title": record["title"],
                "licence": record["licence"],
                "weights": weights_hash(name),
                "files": {file: sha for file, sha in files.items() if file.endswith(WEIGHT_SUFFIXES)},
            }
    return found


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
    """A Python package's licence as its own metadata says it, in a few words."""
    about = metadata(package)
    trove = [
        line.split(" :: ")[-1] for line in about.get_all("Classifier") or [] if line.startswith("License ::")
    ]
    said = (
        about.get("License-Expression")
        or "; ".join(trove)
        or (about.get("License") or "unknown").splitlines()[0]
    )
    return textwrap.shorten(said, 60, placeholder=" …")


def stages_of(study: Study) -> list[dict]:
    """Every stage that the book and its chapters used, and those behind them, by name and key.

    Returns:
        Records of stage, key, origin (``computed``, ``reused`` or ``published``), wall_s, peak_mib, at, and, where they
        are recorded, version, digest, public and asked.
    """
    origins: dict[str, str] = {}
    of_the_book = {*chapters(), "book"}
    for line in read_stages(study):
        if line["chapter"] not in of_the_book:
            continue
        reference = f"{line['stage']}/{line['key']}"
        if line["origin"] != "absent" and not (line["origin"] == "reused" and reference in origins):
            origins[reference] = line["origin"]
    todo, found = list(origins), {}
    while todo:
        reference = todo.pop()
        record = study.store.record(reference)
        if record and reference not in found:
            kept = ("stage", "key", "version", "digest", "public", "asked", "wall_s", "peak_mib", "at")
            found[reference] = {name: record[name] for name in kept if name in record}
            found[reference]["origin"] = origins.get(reference, "reused")
            todo += record.get("asked", ())
    return sorted(found.values(), key=lambda record: (record["stage"], record["key"]))


def folds_of(study: Study) -> dict[str, list[dict]]:
    """What each fold trained on and tested, and what the two share (checked before training): scorer to its folds."""
    found = dict(study.published.manifest.get("folds", {})) if study.published else {}
    for path in sorted((study.outputs / "folds").glob("*.json")):
        records = json.loads(path.read_text())
        records = records if isinstance(records, list) else [records]
        found[path.stem] = [
            {name: value for name, value in record.items() if name not in ("curve", "train_filings")}
            for record in records
        ]
    return found


def write_manifest(study: Study) -> dict:
    """Write ``manifest.json`` of the outputs and return it."""
    stages, runs = stages_of(study), {}
    for name, condition in measured(study.profile):
        path = study.outputs / "runs" / condition / f"{name}.trec.gz"
        if path.is_file():
            key = study.run_entry(name, condition).key
            runs[f"{condition}/{name}"] = {"key": key, "sha256": digest_of_file(path)}
    manifest = {
        "dataset": study.dataset.name,
        "fingerprint": study.dataset.fingerprint,
        "filings_digest": study.dataset.filings_digest,
        "profile": study.profile.name,
        "settings": study.profile,
        "commit": git_commit(),
        "date": max((record.get("at", "") for record in stages), default="")[:10],
        "machine": processor(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
        "licences": {name: licence_of(name) for name in PACKAGES},
        "seeds": seeds_of(study.profile),
        "models": models_of(study.profile),
        "n_questions": len(study.questions),
        "inputs": {
            name: study.inputs_digest(name) for name in sorted({name for name, _ in measured(study.profile)})
        },
        "runs": dict(sorted(runs.items())),
        "folds": folds_of(study),
        "stages": stages,
    }
    study.write("manifest.json", json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")
    return manifest
