"""The manifest of the outputs: what runs and metrics were made from and where, and every stage behind them."""

import hashlib
import json
import platform
from collections.abc import Sequence
from importlib.metadata import version

from lib.book.environment import PACKAGES, git_commit, licence_of, processor
from lib.book.notebooks import chapters, read_stages
from lib.evaluation import metrics_entry
from lib.files import MANIFEST, read_json
from lib.method_sets import measured
from lib.models.encoders import automatic_precision
from lib.models.weights import models_of
from lib.runs import trec_lines
from lib.schema import Condition
from lib.study import Study

UNLISTED = ("curve", "train_filings")  # of a fold
STAGE_FIELDS = ("stage", "key", "version", "digest", "public", "asked", "wall_s", "peak_mib", "at")


def run_sha256(study: Study, name: str, condition: Condition) -> str:
    """SHA-256 of a run's TREC lines."""
    return hashlib.sha256(trec_lines(study.run(name, condition), name)).hexdigest()


def seeds_of(settings: dict, prefix: str = "") -> dict[str, int | list[int]]:
    """Every seed of a profile by its dotted name."""
    found = {}
    for name, value in settings.items():
        if isinstance(value, dict):
            found |= seeds_of(value, f"{prefix}{name}.")
        elif name in ("seed", "seeds", "fold_seeds"):
            found[prefix + name] = value
    return found


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
