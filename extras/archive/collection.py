"""A larger collection: a dataset's questions over its own filings and over others, given as page text."""

import json
import shutil
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

import pandas as pd

from lib.data.layout import DOCUMENTS
from lib.files import digest_of, write_atomically
from lib.retrievers.identity import END_OF_STEM
from lib.study import Study
from lib.words import PAGE_COLUMNS, StudyError

ALIKE = 0.9  # two names of files with one company's name, one of them with a slip


def write_collection(study: Study, source: Path, target: Path) -> tuple[int, int]:
    """Write a dataset with a study's questions, its filings' pages, and the pages of other filings.

    A filing whose pages are those of another under a second name would hide it, and is left out. What is known of a
    filing is taken from the dataset's own records, which may describe more filings than it has; else its company from
    its name.

    Args:
        study: gives questions and filings.
        source: PAGE_COLUMNS of other filings as a parquet file.
        target: folder of the new dataset; what is in it stays.

    Returns:
        How many other filings were added, and how many copies were left out.

    Raises:
        StudyError: there is no such file.
    """
    if not source.is_file():
        columns = ", ".join(PAGE_COLUMNS)
        raise StudyError(f"{source} is missing: give page text of filings as parquet, columns {columns}")
    others, seen, kept = pd.read_parquet(source), set(), []
    for pages in (study.pages, others):
        for doc_name, of_filing in pages.groupby("doc_name", sort=True):
            texts = of_filing.sort_values("page")["text"].tolist()
            if (digest := digest_of(texts)) in seen:
                continue
            seen.add(digest)
            kept.append(doc_name)
            lines = (
                json.dumps({"doc_name": doc_name, "page": page, "text": text})
                for page, text in enumerate(texts)
            )
            write_atomically(target / "pages" / f"{doc_name}.jsonl", "\n".join(lines) + "\n")
    records = _records(study, kept)
    name = next(study.dataset.root.joinpath("data").glob(DOCUMENTS)).name
    write_atomically(target / "data" / name, "".join(json.dumps(record) + "\n" for record in records))
    shutil.copyfile(study.dataset.question_file, target / "data" / study.dataset.question_file.name)
    n_others = others["doc_name"].nunique()
    added = len(kept) - study.pages["doc_name"].nunique()
    return added, n_others - added


def _records(study: Study, doc_names: list[str]) -> list[dict]:
    """What is known of filings, one record each; of one that nobody described, its company by its name."""
    path = next(study.dataset.root.joinpath("data").glob(DOCUMENTS))
    known = {record["doc_name"]: record for record in map(json.loads, path.read_text().splitlines())}
    of_name = companies(doc_names, study.filings)
    return [known.get(name) or {"doc_name": name, "company": of_name[name]} for name in doc_names]


def companies(doc_names: Sequence[str], filings: pd.DataFrame) -> dict[str, str]:
    """The company of each unlabelled filing: that of the study's filings whose files are named alike, else its own."""
    stem = {name: END_OF_STEM.split(name)[0] for name in [*doc_names, *filings["doc_name"]]}
    known = {stem[row.doc_name]: row.company for row in filings.itertuples()}
    near = {name: get_close_matches(stem[name], [*known], 1, ALIKE) for name in doc_names}
    return {name: known[near[name][0]] if near[name] else stem[name] for name in doc_names}
