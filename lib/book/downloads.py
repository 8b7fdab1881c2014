"""What a book offers to download: runs as files of their own, and all results of all question sets in one."""

import gzip
import shutil
import zipfile
from pathlib import Path

import pandas as pd

from lib.analysis.measured import TIMES, known_table
from lib.book.elsewhere import files_of
from lib.book.leaderboard import ELSEWHERE, ZIP, folder_of, other_sets
from lib.book.templates import filled
from lib.diagnose.stored import stored_runs
from lib.exports import exported_metrics, exported_run, questions_csv
from lib.files import write_atomically
from lib.published import MANIFEST
from lib.runs import qrels
from lib.study import Study


def write_downloads(study: Study, target: Path) -> None:
    """Write into a folder every run of the study (``runs/``), those of other sets over all filings (``sets/``), and all
    results in one ZIP file, where each other set has a folder; runs from outside, diagnosed here or published by others
    (``elsewhere/``), are files alone."""
    shutil.copytree(study.outputs / "runs", target / "runs", dirs_exist_ok=True)
    packed = {str(path.relative_to(target)): path.read_bytes() for path in (target / "runs").rglob("*.gz")}
    packed |= gold_of(study.questions) | {"README.md": filled("columns", study=study).encode()}
    packed |= {name: (study.outputs / name).read_bytes() for name in ("metrics.csv.gz", "summary.csv", MANIFEST)}
    for name, published in other_sets(study).items():
        found = gold_of(published.dataset().questions) | {"metrics.csv.gz": exported_metrics(published.metrics)}
        found |= {file: (published.root / file).read_bytes() for file in ("summary.csv", MANIFEST)}
        for (condition, method), run in published.runs.items():
            found[f"runs/{condition}/{method}.trec.gz"] = content = exported_run(run, method)
            if condition == "standard":
                write_atomically(target / folder_of(name, study) / f"{method}.trec.gz", content)
        packed |= {f"{name}/{file}": content for file, content in found.items()}
    for one in stored_runs(study):
        content = gzip.compress(one.run_file.read_bytes(), mtime=0)
        write_atomically(target / folder_of(study.dataset.name, study) / f"{one.name}.trec.gz", content)
    for path in files_of(study):
        write_atomically(target / ELSEWHERE / path.name, path.read_bytes())
    if (times := known_table(study, TIMES)) is not None:
        packed[TIMES] = times.to_csv(index=False).encode()
    with zipfile.ZipFile(target / ZIP, "w") as archive:
        for name, content in sorted(packed.items()):
            stored = zipfile.ZIP_STORED if name.endswith(".gz") else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=stored)


def gold_of(questions: pd.DataFrame) -> dict[str, bytes]:
    """``qrels.txt``, the gold pages in TREC's format, and ``questions.csv``, without text."""
    return {"qrels.txt": qrels(questions), "questions.csv": questions_csv(questions).encode()}
