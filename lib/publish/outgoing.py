"""What leaves with published results: a model's texts and the chapters' outputs, without text of the dataset."""

import json
import shutil
from pathlib import Path

import nbformat
import pandas as pd
from PIL import Image

from lib.book.notebooks import ROOT
from lib.book.stand_in import cell_digest, files_of, shown_by
from lib.publish.quotes import FILING_WORDS, QUESTION_WORDS, Quotations, as_pieces, with_gaps
from lib.show.display import PAGE_COMMENT
from lib.words import StudyError

LONG_QUOTE = 50  # words of a filing in a row that a model's answer may hold, as a citation may


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
    doc_names = set(study.filings["doc_name"])
    n_left, lines = 0, []
    for line in path.read_text().splitlines() if path.is_file() else []:
        record = json.loads(line)
        about = record["question_id"]
        is_known = about in question_of.index or about in doc_names
        if not is_known or len(filings.longest(record["text"]).split()) > LONG_QUOTE:
            n_left += 1
            continue
        if about in question_of.index:
            pieces = as_pieces(record["text"], question_of[about], QUESTION_WORDS)
            if any(not isinstance(piece, str) for piece in pieces):
                record |= {"text": with_gaps(pieces), "pieces": pieces}
        record.pop("origin", None)
        lines.append(json.dumps(record, ensure_ascii=False))
    if n_left:
        say(
            f"publish: {n_left} texts that quote a filing at length, or are of no question or filing, stay here"
        )
    if lines:
        (target / "generations.jsonl").write_text("\n".join(lines) + "\n")


def write_shown(study, target: Path, quotes: tuple[Quotations, Quotations], say=print) -> None:
    """Write ``shown/``: what each chapter's cells showed, for books without filings, as far as it holds no text."""
    cells, n_left = {}, 0
    for path in sorted((study.view / "notebooks").glob("[0-9]*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            outputs = shown_by(cell)
            files = [study.view / name for markdown in outputs for name in files_of(markdown)]
            if not all(map(_shows_no_page, files)) or _quotes(outputs, files, quotes):
                n_left += 1
            elif outputs:
                cells[cell_digest(cell.source)] = outputs
                for file in files:
                    place = target / "shown" / file.relative_to(study.view)
                    place.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(file, place)
    (target / "shown").mkdir(exist_ok=True)
    (target / "shown" / "cells.json").write_text(json.dumps(cells, indent=1, ensure_ascii=False) + "\n")
    say(
        f"publish: {len(cells)} cells' outputs, {n_left} left out because they show the dataset's text or pages"
    )


def _shows_no_page(path: Path) -> bool:
    return path.suffix != ".png" or Image.open(path).info.get("Comment") != PAGE_COMMENT


def _quotes(outputs: list[str], files: list[Path], quotes: tuple[Quotations, Quotations]) -> bool:
    texts = [*outputs, *(file.read_text() for file in files if file.suffix == ".csv")]
    return any(known.longest(text) for known in quotes for text in texts)


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
