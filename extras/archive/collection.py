"""A larger collection: a dataset's questions over its own filings and over others, given as page text."""

import json
import shutil
from difflib import get_close_matches
from pathlib import Path

import pandas as pd

from lib.data.layout import DOCUMENTS
from lib.files import digest_of, write_atomically
from lib.retrievers.identity import END_OF_STEM
from lib.study import Study
from lib.words import PAGE_COLUMNS, StudyError

ALIKE = 0.9  # two names of files with one company's name, one of them with a slip


def write_collection(study: Study, source: Path, target: Path) -> str:
    """Write a dataset with a study's questions, its filings' pages, and the pages of other filings; a sentence on it.

    A filing whose pages are those of another under a second name would hide it, and is left out. What is known of a
    filing is taken from the dataset's own records, which may describe more filings than it has; else its company is
    that of the filings whose files are named alike, or the beginning of its name.

    Args:
        study: gives questions and filings.
        source: PAGE_COLUMNS of other filings as a parquet file.
        target: folder of the new dataset; what is in it stays.

    Raises:
        StudyError: there is no such file.
    """
    if not source.is_file():
        columns = ", ".join(PAGE_COLUMNS)
        raise StudyError(f"{source} is missing: give page text of filings as parquet, columns {columns}")
    others, kept = pd.read_parquet(source), {}
    for pages in (study.pages, others):
        for doc_name, of_filing in pages.sort_values("page").groupby("doc_name"):
            texts = of_filing["text"].tolist()
            if kept.setdefault(digest_of(texts), doc_name) == doc_name:
                records = [{"doc_name": doc_name, "page": page, "text": text} for page, text in enumerate(texts)]
                _write(target / "pages" / f"{doc_name}.jsonl", records)
    path, questions = next(study.dataset.root.joinpath("data").glob(DOCUMENTS)), study.dataset.question_file
    known = {record["doc_name"]: record for record in map(json.loads, path.read_text(encoding="utf-8").splitlines())}
    stems = study.filings["doc_name"].map(lambda name: END_OF_STEM.split(name)[0])
    company = dict(zip(stems, study.filings["company"], strict=True))
    for name in kept.values():
        stem = END_OF_STEM.split(name)[0]
        near = get_close_matches(stem, [*company], 1, ALIKE)
        known.setdefault(name, {"doc_name": name, "company": company[near[0]] if near else stem})
    _write(target / "data" / path.name, [known[name] for name in kept.values()])
    shutil.copyfile(questions, target / "data" / questions.name)
    added, n_others = len(kept) - study.pages["doc_name"].nunique(), others["doc_name"].nunique()
    return f"{target}: {added} filings added, {n_others - added} left out as copies of others"


def _write(path: Path, records: list[dict]) -> None:
    write_atomically(path, "".join(json.dumps(record) + "\n" for record in records))
