"""The manifest: what a set of results was made from and what each stage took."""

import json
import os
import platform
import shutil
import subprocess
import textwrap
from importlib.metadata import metadata, version
from pathlib import Path

from lib import methods
from lib.models.preflight import gpu
from lib.models.weights import WEIGHT_SUFFIXES, locked, weights_hash
from lib.store import digest_of_file

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (
    "torch", "transformers", "sentence-transformers", "tokenizers", "chromadb", "rank-bm25", "sacrebleu", "rouge-score",
    "ir_measures", "onnxruntime", "xllamacpp", "lightgbm", "pymupdf", "numpy", "scipy", "pandas", "matplotlib",
    "papermill", "jupyter-book",
)  # fmt: skip


def git_commit() -> str:
    """The commit of the code, with ``-dirty`` where files differ from it; ``unknown`` outside git."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


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


def stages_of(study) -> list[dict]:
    """The last record of each stage that this study looked up, in the order of its first look-up."""
    log = study.view / "stages.jsonl"
    records: dict[str, dict] = {}
    for line in log.read_text().splitlines() if log.is_file() else []:
        record = json.loads(line)
        earlier = records.get(record["stage"], {})
        if record["origin"] == "reused" and earlier.get("key") == record["key"]:
            record["origin"] = earlier["origin"]
        records[record["stage"]] = record
    return [*records.values(), *_indexed_before(study, records)]


def _indexed_before(study, records: dict[str, dict]) -> list[dict]:
    """Stages behind a method that this run had no need of, as its runs are stored: what they took is still its cost."""
    rows = [methods.METHODS[name] for name, _ in methods.measured(study.profile)]
    wanted = {stage for row in rows for stage in (*row.index_stages, *row.query_stages)} - set(records)
    earlier = [*(study.published.manifest["stages"] if study.published else []), *study.computed_before()]
    known = {record["stage"]: record for record in earlier if record["stage"] in wanted}
    return [record | {"origin": "reused"} for record in known.values()]


def folds_of(study) -> dict[str, list[dict]]:
    """What each fold trained on and tested, and what the two share (checked before training): scorer to its folds."""
    found = dict(study.published.manifest.get("folds", {})) if study.published else {}
    for path in sorted((study.view / "folds").glob("*.json")):
        records = json.loads(path.read_text())
        records = records if isinstance(records, list) else [records]
        found[path.stem] = [
            {name: value for name, value in record.items() if name not in ("curve", "train_filings")}
            for record in records
        ]
    return found


def write_manifest(study) -> dict:
    """Write ``manifest.json`` of the view and return it."""
    stages = stages_of(study)
    keys = {record["stage"]: record["key"] for record in stages}
    runs = {}
    for name, condition in methods.measured(study.profile):
        path = study.view / "runs" / condition / f"{name}.trec.gz"
        if path.is_file() and f"runs/{condition}/{name}" in keys:
            runs[f"{condition}/{name}"] = {
                "key": keys[f"runs/{condition}/{name}"],
                "sha256": digest_of_file(path),
            }
    manifest = {
        "dataset": study.dataset.name,
        "fingerprint": study.dataset.fingerprint,
        "profile": study.profile.name,
        "settings": study.profile,
        "commit": git_commit(),
        "date": max((record["at"] for record in stages), default="")[:10],
        "machine": processor(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
        "licences": {name: licence_of(name) for name in PACKAGES},
        "seeds": seeds_of(study.profile),
        "models": models_of(study.profile),
        "n_questions": len(study.questions),
        "runs": runs,
        "folds": folds_of(study),
        "stages": stages,
    }
    study.write("manifest.json", json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")
    return manifest
