"""What a book offers to download: runs as files of their own, and all results of all question sets in one."""

import gzip
import shutil
import zipfile
from pathlib import Path

import pandas as pd

from lib.analysis.measured import TIMES, known_table
from lib.book.board import others, outside_of
from lib.book.templates import filled
from lib.files import write_atomically
from lib.published import MANIFEST, exported_metrics, exported_run, questions_csv
from lib.study import Study

ZIP, RUNS, STANDARD, SETS = "all-results.zip", "runs", "runs/standard", "sets"
EXPORTED_METRICS = "metrics.csv.gz"


def folder_of(question_set: str, study: Study) -> str:
    """Where a study's book has the runs of a question set over all filings, in ``_static``."""
    return STANDARD if question_set == study.dataset.name else f"{SETS}/{question_set}/{STANDARD}"


def write_downloads(study: Study, target: Path) -> None:
    """Write every run of the study into ``runs/`` of a folder, those of :func:`lib.book.board.others` over all filings
    into ``sets/``, runs from outside among both, and all results as one ZIP file, each other set in a folder of it."""
    shutil.copytree(study.outputs / RUNS, target / RUNS, dirs_exist_ok=True)
    packed = {str(path.relative_to(target)): path.read_bytes() for path in (target / RUNS).rglob("*.gz")}
    packed |= gold_of(study.questions)
    for name in (EXPORTED_METRICS, "summary.csv", MANIFEST):
        packed[name] = (study.outputs / name).read_bytes()
    known = others(study)
    for name, published in known.items():
        found = {f"{RUNS}/{'/'.join(at)}.trec.gz": exported_run(run, at[1]) for at, run in published.runs.items()}
        for file in [file for file in found if file.startswith(STANDARD)]:
            write_atomically(target / folder_of(name, study) / Path(file).name, found[file])
        found |= gold_of(published.dataset().questions)
        found[EXPORTED_METRICS] = exported_metrics(published.metrics)
        found["summary.csv"] = published.file("summary.csv").read_bytes()
        found[MANIFEST] = (published.root / MANIFEST).read_bytes()
        packed |= {f"{name}/{file}": content for file, content in found.items()}
    for name in (study.dataset.name, *known):
        for run, one in outside_of(study, name).items():
            content = one.run_file.read_bytes()
            content = content if one.run_file.suffix == ".gz" else gzip.compress(content, mtime=0)
            write_atomically(target / folder_of(name, study) / f"{run}.trec.gz", content)
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
