"""The one way results get into the repository: ``make publish``.

It copies what a whole run left in the view to ``book/results/<dataset>/<profile>/``, and refuses uncommitted changes, a
run in which something is missing, and any text of the dataset.
"""

import json
import shutil
import subprocess
from pathlib import Path

import nbformat
import pandas as pd
from PIL import Image

from lib.book.manifest import git_commit
from lib.book.notebooks import ROOT
from lib.book.quotes import FILING_WORDS, QUESTION_WORDS, Quotations, as_pieces, with_gaps
from lib.book.readme import fill_headline
from lib.book.results import read_metrics, read_summary
from lib.book.stand_in import cell_digest, files_of, shown_by
from lib.methods import METHODS
from lib.published import QUESTION_COLUMNS, RESULTS
from lib.report.display import PAGE_COMMENT
from lib.store import digest_of_file
from lib.words import CONDITIONS, StudyError

LONG_QUOTE = 50  # words of a filing in a row that a model's answer may hold, as a citation may


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
    for place in manifest["runs"]:
        (aside / "runs" / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(study.view / "runs" / f"{place}.trec.gz", aside / "runs" / f"{place}.trec.gz")
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
    for condition in CONDITIONS:
        for name in METHODS:
            place, path = f"{condition}/{name}", study.view / "runs" / condition / f"{name}.trec.gz"
            record = manifest["runs"].get(place)
            if record is None or not path.is_file() or digest_of_file(path) != record["sha256"]:
                raise StudyError(
                    f"the run of {name} under {condition} is missing or not the manifest's; {again}"
                )
            if metrics.get((condition, name), 0) != len(study.questions):
                raise StudyError(
                    f"the metrics of {name} under {condition} do not cover every question; {again}"
                )
    return manifest


def write_questions(study, target: Path) -> None:
    """Write ``questions.csv`` and ``filings.csv``: ids, types and page numbers."""
    pages = study.questions["gold_pages"].map(lambda gold: " ".join(map(str, gold)))
    study.questions.assign(gold_pages=pages)[QUESTION_COLUMNS].to_csv(target / "questions.csv", index=False)
    study.filings.to_csv(target / "filings.csv", index=False)


def quotations_of(study) -> tuple[Quotations, Quotations]:
    """What must not be published: the questions' texts, and the evidence and the filings' pages."""
    evidence = study.dataset.evidence["text"]
    return (
        Quotations(study.questions["question"], FILING_WORDS),
        Quotations(pd.concat([evidence, study.pages["text"]]), FILING_WORDS),
    )


def write_generations(study, target: Path, filings: Quotations, say=print) -> None:
    """Write ``generations.jsonl``: echoes of the question as references, no record that quotes a filing at length."""
    path, question_of = study.view / "generations.jsonl", study.questions.set_index("question_id")["question"]
    n_left, lines = 0, []
    for line in path.read_text().splitlines() if path.is_file() else []:
        record = json.loads(line)
        if (
            record["question_id"] not in question_of.index
            or len(filings.longest(record["text"]).split()) > LONG_QUOTE
        ):
            n_left += 1
            continue
        pieces = as_pieces(record["text"], question_of[record["question_id"]], QUESTION_WORDS)
        if any(not isinstance(piece, str) for piece in pieces):
            record |= {"text": with_gaps(pieces), "pieces": pieces}
        record.pop("origin", None)
        lines.append(json.dumps(record, ensure_ascii=False))
    if n_left:
        say(f"publish: {n_left} texts that quote a filing at length, or are of no question, stay here")
    if lines:
        (target / "generations.jsonl").write_text("\n".join(lines) + "\n")


def write_shown(study, target: Path, quotes: tuple[Quotations, Quotations], say=print) -> None:
    """Write ``shown/``: what each chapter's cells showed, for books without filings, as far as it holds no text."""
    cells, left = {}, 0
    for path in sorted((study.view / "notebooks").glob("[0-9]*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            outputs = shown_by(cell)
            files = [study.view / name for markdown in outputs for name in files_of(markdown)]
            if not outputs:
                continue
            if any(quote.longest(text) for quote in quotes for text in outputs) or not all(
                map(_is_free, files)
            ):
                left += 1
                continue
            if any(
                quote.longest(file.read_text()) for quote in quotes for file in files if file.suffix == ".csv"
            ):
                left += 1
                continue
            cells[cell_digest(cell.source)] = outputs
            for file in files:
                place = target / "shown" / file.relative_to(study.view)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, place)
    (target / "shown").mkdir(exist_ok=True)
    (target / "shown" / "cells.json").write_text(json.dumps(cells, indent=1, ensure_ascii=False) + "\n")
    say(
        f"publish: {len(cells)} cells' outputs, {left} left out because they show the dataset's text or pages"
    )


def _is_free(path: Path) -> bool:
    """Whether a file shows no page of a filing."""
    return path.suffix != ".png" or Image.open(path).info.get("Comment") != PAGE_COMMENT


def check_texts(target: Path, quotes: tuple[Quotations, Quotations]) -> None:
    """Look once more at everything that holds words.

    Raises:
        StudyError: a text of the dataset; nothing is published.
    """
    for path in sorted(target.rglob("*")):
        if path.suffix not in (".json", ".jsonl", ".csv") or path.name == "summary.csv":
            continue
        if str(ROOT) in path.read_text():
            raise StudyError(f"{path.relative_to(target)} holds a path of this machine; nothing is published")
        for line in path.read_text().splitlines():
            found = quotes[0].longest(line) or ("" if path.suffix == ".jsonl" else quotes[1].longest(line))
            if found:
                where = path.relative_to(target)
                raise StudyError(f"{where} holds text of the dataset: “{found[:80]}”; nothing is published")
