"""The one way results get into the repository: ``make publish``.

It copies what a whole run left in the view to ``book/results/<dataset>/<profile>/``, and refuses uncommitted changes, a
run in which something is missing, and any text of the dataset.
"""

import json
import shutil
import subprocess
from pathlib import Path

from lib.analysis import benchmarks
from lib.book.manifest import git_commit
from lib.book.notebooks import ROOT
from lib.book.results import read_metrics, read_summary
from lib.methods import measured
from lib.publish.outgoing import check_texts, quotations_of, write_generations, write_shown
from lib.publish.readme import fill_headline
from lib.published import QUESTION_COLUMNS, RESULTS, SHARED
from lib.store import digest_of_file
from lib.words import StudyError


def publish(study, results: Path = RESULTS, readme: Path = ROOT / "README.md", say=print) -> Path:
    """Publish a study's results.

    Args:
        study: opened with the filings; ``make book`` has been run on it.
        results: where published results are kept.
        readme: gets the headline table.
        say: told what was left out.

    Returns:
        The directory of the published results.

    Raises:
        StudyError: uncommitted changes, results that are missing or not of this commit, or text of the dataset.
    """
    manifest = check_whole(study)
    target = Path(results) / study.dataset.name / study.profile.name
    aside = target.with_name(f".{target.name}.aside")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    for name in ("metrics.csv.gz", "summary.csv", "manifest.json"):
        shutil.copyfile(study.view / name, aside / name)
    if (study.home / benchmarks.FILE).is_file():
        shutil.copyfile(study.home / benchmarks.FILE, aside / benchmarks.FILE)
    for place in manifest["runs"]:
        (aside / "runs" / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(study.view / "runs" / f"{place}.trec.gz", aside / "runs" / f"{place}.trec.gz")
    copy_shared(study, manifest, aside)
    write_questions(study, aside)
    quotes = quotations_of(study)
    write_generations(study, aside, quotes[1], say)
    write_shown(study, aside, quotes, say)
    check_texts(aside, quotes)
    shutil.rmtree(target, ignore_errors=True)
    aside.replace(target)
    if (study.dataset.name, study.profile.name) == ("financebench", "default"):
        fill_headline(readme, read_summary(study), manifest)
    return target


def check_whole(study) -> dict:
    """Refuse what must not be published.

    Returns:
        The manifest of the view.

    Raises:
        StudyError: see :func:`publish`.
    """
    study.need_filings("publishing")
    again = f"run make book DATASET={study.dataset.name} PROFILE={study.profile.name} first"
    if not (study.view / "manifest.json").is_file():
        raise StudyError(f"there is nothing to publish; {again}")
    status = subprocess.run(
        ["git", "-C", str(ROOT), "status", "--porcelain"], capture_output=True, text=True, check=True
    )
    if status.stdout.strip():
        raise StudyError(f"uncommitted changes; commit or remove them, {again}:\n{status.stdout.rstrip()}")
    manifest = json.loads((study.view / "manifest.json").read_text())
    if manifest["commit"] != git_commit():
        raise StudyError(f"the results were made by commit {manifest['commit']}, not by this one; {again}")
    if manifest["fingerprint"] != study.dataset.fingerprint:
        raise StudyError(f"the results were made from other files of {study.dataset.name}; {again}")
    metrics = read_metrics(study).groupby(["condition", "method"])["question_id"].nunique()
    for name, condition in measured(study.profile):
        place, path = f"{condition}/{name}", study.view / "runs" / condition / f"{name}.trec.gz"
        record = manifest["runs"].get(place)
        if record is None or not path.is_file() or digest_of_file(path) != record["sha256"]:
            raise StudyError(f"the run of {name} under {condition} is missing or not the manifest's; {again}")
        if metrics.get((condition, name), 0) != len(study.questions):
            raise StudyError(f"the metrics of {name} under {condition} do not cover every question; {again}")
    return manifest


def copy_shared(study, manifest: dict, target: Path) -> None:
    """Copy the stored results that :meth:`lib.study.Study.shared` gave, as the manifest lists them."""
    for record in manifest["stages"]:
        if record["stage"].startswith(SHARED):
            source = study.store.find(record["stage"], record["key"])
            shutil.copytree(source.path, target / "stored" / record["stage"])


def write_questions(study, target: Path) -> None:
    """Write ``questions.csv`` and ``filings.csv``: ids, types and page numbers."""
    pages = study.questions["gold_pages"].map(lambda gold: " ".join(map(str, gold)))
    study.questions.assign(gold_pages=pages)[QUESTION_COLUMNS].to_csv(target / "questions.csv", index=False)
    study.filings.to_csv(target / "filings.csv", index=False)
