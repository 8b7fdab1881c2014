"""Page kinds learnt from filings without labels: which titles, row labels and words stand together on pages.

Non-negative matrix factorisation (Lee & Seung, Nature 1999) of pages by what stands on them, each part weighted by its
rarity (Spärck Jones, 1972). The kinds are named afterwards by their own words; no question is read. Usage:
``python -m extras.ahead.learn_kinds pages.parquet``.
"""

import calendar
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import yaml
from scipy.sparse import csr_array, hstack
from sklearn.decomposition import NMF
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.preprocessing import normalize

import lib.ahead
from lib.data.rows import accounting, kinds, plain, rows_of
from lib.retrievers.identity import END_OF_STEM
from lib.words import PAGE_COLUMNS, StudyError

TARGET = Path(lib.ahead.__file__).with_name("learnt_kinds.yaml")
PARTS = {"titles": 1.0, "rows": 1.0, "words": 0.7}  # how much each part of a page counts
LEAST_FILINGS, LEAST_COMPANIES = 20, 8  # that contain a label, so that none is of a company
LEAST_COMPANIES_OF_WORD = 20
N_KINDS, N_WORDS, N_SHOWN, SEED = 40, 3000, 25, 0
MOST_PAGES = 150  # of a filing, drawn: long exhibits weigh no more than statements
LEAST_SHARE = 0.1  # of a label on a kind
HEAD_LINES = 6
TITLE = re.compile(r"(?=.*[a-z]{3}|.*[A-Z]{3})[A-Z“(][^\d$%|]{4,70}")
WORD = re.compile(r"[a-z]{4,}")
MAX_WORDS = 8
MONTHS = [name.lower() for name in calendar.month_name[1:]]
EMPTY = {
    *"total none not applicable table of contents other year years ended months part i ii iii iv".split(),
    *MONTHS,
}
SUBSIDIARIES = re.compile(r"\b(?:inc|corp|corporation|company|llc|plc|subsidiaries)\b", re.I)


def titles(text: str) -> list[str]:
    """The lines at a page's head that read as titles, plain."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    head = [line for line in lines if line][:HEAD_LINES]
    found = [plain(line) for line in head if TITLE.fullmatch(line) and not SUBSIDIARIES.search(line)]
    return list(filter(says_something, found))


def labels(text: str) -> list[str]:
    """The labels of a page's rows, plain."""
    return list(filter(says_something, (plain(row.label) for row in rows_of(text))))


def says_something(label: str) -> bool:
    """Whether a label has at most MAX_WORDS words, and not only those that stand on pages of every kind."""
    return len(label) > 3 and len(label.split()) <= MAX_WORDS and not EMPTY.issuperset(label.split())


def words(text: str) -> list[str]:
    """A page's words of four letters or more."""
    return [word for word in WORD.findall(text.lower()) if word not in EMPTY]


def common(
    parts: Sequence[Sequence[str]], places: Sequence[tuple[str, str]], least_companies: int
) -> list[str]:
    """What stands on pages of LEAST_FILINGS filings and of so many companies, sorted.

    Args:
        parts: of every page.
        places: filing and company of every page.
        least_companies: how many companies.
    """
    spread: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for place, found in zip(places, parts, strict=True):
        for part in set(found):
            spread[part].add(place)
    enough = (part for part, found in spread.items() if len(found) >= LEAST_FILINGS)
    return sorted(part for part in enough if len({company for _, company in spread[part]}) >= least_companies)


def learn(pages: pd.DataFrame) -> dict:
    """Page kinds of filings (PAGE_COLUMNS), as plain data.

    Returns:
        ``kinds``: for each its name and the weights of its titles, rows and words; ``labels``: for every row label its
        share on each kind, by the kind's number; ``phrases``: the same for items and measures, as questions name them.
    """
    pages = pages.drop_duplicates("text")
    pages = (
        pages.sample(frac=1, random_state=SEED)
        .groupby("doc_name")
        .head(MOST_PAGES)
        .sort_values(["doc_name", "page"])
    )
    places = [(name, END_OF_STEM.split(name)[0]) for name in pages["doc_name"]]
    blocks, vocabularies = [], {}
    for name, read in (("titles", titles), ("rows", labels), ("words", words)):
        parts = pages["text"].map(read)
        least = LEAST_COMPANIES_OF_WORD if name == "words" else LEAST_COMPANIES
        vocabularies[name] = known = common(parts, places, least)
        counts = CountVectorizer(analyzer=list, vocabulary=known).fit_transform(parts)
        if name == "words":
            commonest = np.asarray((counts > 0).sum(axis=0)).ravel().argsort()[::-1][:N_WORDS]
            kept = np.sort(commonest)
            counts, vocabularies[name] = counts[:, kept], [known[column] for column in kept]
        blocks.append(PARTS[name] * TfidfTransformer(sublinear_tf=True).fit_transform(counts))
    matrix = normalize(hstack(blocks).tocsr().astype(np.float32))
    model = NMF(N_KINDS, init="nndsvd", random_state=SEED, max_iter=120, tol=1e-3).fit(csr_array(matrix))
    ends = np.cumsum([len(known) for known in vocabularies.values()])[:-1]
    strengths = dict(zip(vocabularies, np.split(model.components_, ends, axis=1), strict=True))
    return described(vocabularies, strengths)


def described(vocabularies: Mapping[str, Sequence[str]], strengths: Mapping[str, np.ndarray]) -> dict:
    """The kinds as plain data, of each part's vocabulary and strengths, (n_kinds, n_parts) each."""
    made, typical = [], {name: found**2 / (found.sum(axis=0) + 1e-12) for name, found in strengths.items()}
    for number in range(N_KINDS):
        shown = {name: top(vocabularies[name], strengths[name][number]) for name in vocabularies}
        own = {name: top(vocabularies[name], typical[name][number]) for name in vocabularies}
        names = dict.fromkeys([*[*own["titles"]][:1], *[*own["rows"]][:1], *[*own["words"]][:2]])
        made.append({"name": ", ".join(names), **shown})
    of_rows = strengths["rows"] / np.maximum(strengths["rows"].sum(axis=0), 1e-12)
    shares = {label: of_rows[:, column] for column, label in enumerate(vocabularies["rows"])}
    phrases = {phrase: mean for phrase, mean in phrase_shares(shares)}
    return {
        "kinds": made,
        "labels": {label: listed(values) for label, values in shares.items()},
        "phrases": {phrase: listed(values) for phrase, values in sorted(phrases.items())},
    }


def phrase_shares(shares: Mapping[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
    """For items and measures, as a question names them, the mean share of the labels behind them on each kind."""
    of_item = {}
    for about in kinds().values():
        for name, item in about["items"].items():
            found = [values for label, values in shares.items() if re.fullmatch(item["labels"], label)]
            if found:
                of_item[name] = np.mean(found, axis=0)
                yield from ((plain(asked), of_item[name]) for asked in item["asked"])
    for measure, formula in accounting()["measures"].items():
        needed = {name.lstrip("-") for name in chain(formula["top"], formula.get("bottom", ()))} & set(
            of_item
        )
        if needed:
            yield plain(measure), np.mean([of_item[name] for name in sorted(needed)], axis=0)


def top(known: Sequence[str], strength: np.ndarray) -> dict[str, float]:
    """The strongest parts of a kind with their weights, the strongest as 1."""
    order = [
        column for column in strength.argsort()[::-1][:N_SHOWN] if strength[column] > 0.05 * strength.max()
    ]
    return {known[column]: round(float(strength[column] / strength.max()), 2) for column in order}


def listed(shares: np.ndarray) -> dict[int, float]:
    """The kinds with LEAST_SHARE or more, the largest first."""
    return {int(n): round(float(shares[n]), 2) for n in shares.argsort()[::-1] if shares[n] >= LEAST_SHARE}


def main(source: Path, target: Path = TARGET) -> None:
    """Learn the kinds of a file of pages and write them."""
    if not source.is_file():
        raise StudyError(f"{source} is missing: give page text as parquet, columns {', '.join(PAGE_COLUMNS)}")
    pages = pd.read_parquet(source)
    made = learn(pages)
    head = (
        f"# Page kinds learnt from {pages['doc_name'].nunique()} filings without labels by\n"
        "# extras/ahead/learn_kinds.py:\n"
        f"# titles and row labels of {LEAST_FILINGS} filings and {LEAST_COMPANIES} companies or more, weights 0 to 1.\n"
        "# Measures and names of items: see lib/data/items.yaml. No question was read.\n"
    )
    target.write_text(
        head + yaml.safe_dump(made, sort_keys=False, allow_unicode=True, width=110, default_flow_style=None)
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
