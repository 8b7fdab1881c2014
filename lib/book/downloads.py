"""What a book offers to download: runs as files of their own, and all results of all question sets in one."""

import shutil
import zipfile
from pathlib import Path

import pandas as pd

from lib.analysis.frontier import TIMES, known_table
from lib.book.templates import filled
from lib.published import MANIFEST, RESULTS, Published, exported_metrics, exported_run, questions_csv
from lib.study import Study

ZIP, RUNS, EXPORTED_METRICS, SETS = "all-results.zip", "runs", "metrics.csv.gz", "sets"


def others(study: Study) -> dict[str, Published]:
    """What is published of other question sets over the same filings, by name."""
    found = {}
    for path in sorted(RESULTS.glob(f"*/{study.profile.name}/{MANIFEST}")):
        published = Published(path.parent)
        given = published.manifest
        if given.get("collection", given["dataset"]) == study.dataset.collection:
            found[given["dataset"]] = published
    found.pop(study.dataset.name, None)
    return found


def folder_of(name: str, own: str) -> str:
    """Where a book has the runs of a question set, in ``_static``."""
    return f"{RUNS}/" if name == own else f"{SETS}/{name}/{RUNS}/"


def write_downloads(study: Study, target: Path) -> None:
    """Write every run of the study into ``runs/`` of a folder, those of :func:`others` over all filings into
    ``sets/``, and all results as one ZIP file beside them, those of another set in a folder of its name."""
    shutil.copytree(study.outputs / RUNS, target / RUNS, dirs_exist_ok=True)
    packed = {str(path.relative_to(target)): path.read_bytes() for path in (target / RUNS).rglob("*.gz")}
    packed |= gold_of(study.questions)
    for name in (EXPORTED_METRICS, "summary.csv", "manifest.json"):
        packed[name] = (study.outputs / name).read_bytes()
    for name, published in others(study).items():
        found = {
            f"{RUNS}/{'/'.join(place)}.trec.gz": exported_run(run, place[1]) for place, run in published.runs.items()
        }
        for file, content in found.items():
            if file.startswith(f"{RUNS}/standard/"):
                path = target / folder_of(name, study.dataset.name) / file.removeprefix(f"{RUNS}/")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        found |= gold_of(published.dataset().questions)
        found[EXPORTED_METRICS] = exported_metrics(published.metrics)
        found["summary.csv"] = published.file("summary.csv").read_bytes()
        found[MANIFEST] = (published.root / MANIFEST).read_bytes()
        packed |= {f"{name}/{file}": content for file, content in found.items()}
    if (times := known_table(study, TIMES)) is not None:
        packed[TIMES] = times.to_csv(index=False).encode()
    packed["README.md"] = filled("columns", study=study).encode()
    with zipfile.ZipFile(target / ZIP, "w") as archive:
        for name, content in sorted(packed.items()):
            stored = zipfile.ZIP_STORED if name.endswith(".gz") else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=stored)


def gold_of(questions: pd.DataFrame) -> dict[str, bytes]:
    """``qrels.txt``, the gold pages in TREC's format, and ``questions.csv``, without text."""
    lines = []
    for one in questions.itertuples():
        lines += [f"{one.question_id} 0 {one.doc_name}#p{page:04d} 1\n" for page in one.gold_pages]
    return {"qrels.txt": "".join(lines).encode(), "questions.csv": questions_csv(questions).encode()}
