"""What a book offers to download, and the archive of all results that ``make results`` writes beside it."""

import gzip
import shutil
import zipfile
from pathlib import Path

import pandas as pd

from lib.analysis.measured import TIMES, known_table
from lib.book.elsewhere import files_of
from lib.book.leaderboard import ELSEWHERE, RUNS
from lib.book.page_templates import filled
from lib.diagnose.stored import stored_runs
from lib.evaluation import SUMMARY_FILE
from lib.exports import exported_metrics, exported_run
from lib.files import MANIFEST, write_atomically
from lib.other_sets import published_beside
from lib.published import questions_csv
from lib.runs import qrels
from lib.schema import StudyError
from lib.study import Study

ZIP = "all-results.zip"


def write_downloads(study: Study, target: Path) -> None:
    """Write into a folder the study's runs over all filings (RUNS), those that were diagnosed here among them, its gold
    pages, summary and manifest, and runs that others published (``elsewhere/``)."""
    shutil.copytree(study.outputs / RUNS, target / RUNS, dirs_exist_ok=True)
    for one in stored_runs(study):
        write_atomically(target / RUNS / f"{one.name}.trec.gz", gzip.compress(one.run_file.read_bytes(), mtime=0))
    for path in files_of(study):
        write_atomically(target / ELSEWHERE / path.name, path.read_bytes())
    files = gold_of(study.questions) | {name: (study.outputs / name).read_bytes() for name in (SUMMARY_FILE, MANIFEST)}
    for name, content in files.items():
        write_atomically(target / name, content)


def write_archive(study: Study) -> Path:
    """Pack all results of a built book into ZIP in its outputs: runs, gold pages, metrics, summary and manifest, costs,
    and the same of other sets over its filings, each in a folder; without a text of a question or a filing.

    Raises:
        StudyError: the book was not built.
    """
    if not (study.outputs / "metrics.csv.gz").is_file():
        raise StudyError(f"{study.outputs} has no results of a whole book; build it first, with make book")
    packed = {str(path.relative_to(study.outputs)): path.read_bytes() for path in study.outputs.glob("runs/*/*.gz")}
    packed |= gold_of(study.questions) | {"README.md": filled("columns", study=study).encode()}
    packed |= {name: (study.outputs / name).read_bytes() for name in ("metrics.csv.gz", SUMMARY_FILE, MANIFEST)}
    for name, published in published_beside(study).items():
        found = gold_of(published.dataset().questions) | {"metrics.csv.gz": exported_metrics(published.metrics)}
        found |= {file: (published.root / file).read_bytes() for file in (SUMMARY_FILE, MANIFEST)}
        for (condition, method), run in published.runs.items():
            found[f"runs/{condition}/{method}.trec.gz"] = exported_run(run, method)
        packed |= {f"{name}/{file}": content for file, content in found.items()}
    if (times := known_table(study, TIMES)) is not None:
        packed[TIMES] = times.to_csv(index=False).encode()
    with zipfile.ZipFile(study.outputs / ZIP, "w") as archive:
        for name, content in sorted(packed.items()):
            stored = zipfile.ZIP_STORED if name.endswith(".gz") else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=stored)
    return study.outputs / ZIP


def gold_of(questions: pd.DataFrame) -> dict[str, bytes]:
    """``qrels.txt``, the gold pages in TREC's format, and ``questions.csv``, without text."""
    return {"qrels.txt": qrels(questions), "questions.csv": questions_csv(questions).encode()}
