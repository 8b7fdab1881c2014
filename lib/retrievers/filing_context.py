"""A context for every filing, put before its chunks: contextual retrieval (Anthropic, 2024; Akarsu et al., 2026).

The published recipe has a language model place every chunk in its document. On a processor that is too dear, so one
context serves all chunks of a filing: written from the filing's own first pages, or, free of charge, a header of its
metadata.
"""

import re
from collections.abc import Sequence
from typing import Literal

import pandas as pd

from lib.models.generator import Prompt, Sampling
from lib.models.written import Filled, Item

Context = Literal["header", "written"]
KIND = "filing_context"
FIRST_PAGES = 12
MAX_SENTENCES = 3
MAX_CHARACTERS = 700
MAX_TOKENS = 80
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z•“])|\s•\s")
#: What a sentence about the business says, and what the boilerplate of a cover or a notice says.
BUSINESS = re.compile(
    r"\b(segments?|products|services|customers|brands|engaged in|leading|provid(?:es?|er)|manufactur\w+|operat(?:es|or)"
    r"|headquartered|stores|announced|reported|businesses|markets|platforms?|industr(?:y|ies)|agreement|acquisition)\b",
    re.I,
)
BOILERPLATE = re.compile(
    r"forward-looking|registrant|check mark|incorporated by reference|exchange act|securities act|risk|\bcould\b"
    r"|\bmay\b|item \d|www\.|trademark|table of contents|undertake|annual report",
    re.I,
)
DATE = re.compile(r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December)"
                  r"\s+\d{1,2},?\s+(?:19|20)\d{2}\b")  # fmt: skip
TEMPLATE = """\
{header} {date}
Excerpt: {excerpt}

In two short sentences of your own, say what {company} does and which segments, products or event this filing is \
about. Only say what stands above."""


def headers(filings: pd.DataFrame) -> dict[str, str]:
    """The metadata of each filing as one sentence: ``3M 10-K of fiscal year 2018 (Industrials).``, by doc_name."""
    rows = filings[["doc_name", "company", "sector", "doc_type", "doc_period"]]
    return {row.doc_name: _header(row) for row in rows.itertuples(index=False)}


def _header(filing) -> str:
    period = "" if pd.isna(filing.doc_period) else f" of fiscal year {int(filing.doc_period)}"
    sector = "" if pd.isna(filing.sector) else f" ({filing.sector})"
    return f"{filing.company} {filing.doc_type}{period}{sector}."


def excerpt(pages: Sequence[str]) -> str:
    """The sentences of the first pages that say most about the business, in their order.

    A sentence counts by the different words of BUSINESS that it has; one of fewer than 8 or more than 60 words, one
    that is mostly figures, and boilerplate do not count. Where no sentence counts, the first page's beginning stands.

    Args:
        pages: texts of a filing's pages, in order.
    """
    found = (
        sentence
        for page in pages[:FIRST_PAGES]
        for sentence in SENTENCE.split(" ".join(page.split()))
        if _is_prose(sentence) and not BOILERPLATE.search(sentence)
    )
    sentences = list(dict.fromkeys(found))
    weights = [len({match.lower() for match in BUSINESS.findall(sentence)}) for sentence in sentences]
    ordered = sorted(range(len(sentences)), key=lambda place: (-weights[place], place))
    best = sorted(place for place in ordered[:MAX_SENTENCES] if weights[place])
    text = " ".join(sentences[place] for place in best) or " ".join(" ".join(pages[:1]).split())
    return text[:MAX_CHARACTERS]


def _is_prose(sentence: str) -> bool:
    words = sentence.split()
    return 8 <= len(words) <= 60 and sum(word.strip(".,;:()’'").isalpha() for word in words) >= 0.7 * len(
        words
    )


def prompt(company: str, header: str, pages: Sequence[str]) -> Prompt:
    """What the model is asked: the header, the first date on the first page, and an excerpt; about 250 tokens."""
    dated = DATE.search(" ".join(pages[0].split())) if pages else None
    date = f"Dated {dated[0]}." if dated else ""
    return Prompt(TEMPLATE.format(company=company, header=header, date=date, excerpt=excerpt(pages)))


def written(study) -> Filled:
    """The written context of every filing, by doc_name, from the log or written now; see :func:`contexts`."""
    pages = study.pages.sort_values(["doc_name", "page"]).groupby("doc_name")["text"].agg(list)
    sampling = Sampling(max_tokens=MAX_TOKENS)
    known = headers(study.filings)
    items = [
        Item(doc_name, doc_name, prompt(company, known[doc_name], pages[doc_name]), sampling)
        for doc_name, company in zip(study.filings["doc_name"], study.filings["company"], strict=True)
    ]
    return study.generation_log().fill(KIND, items, study.make_generator)


def contexts(study, kind: Context) -> dict[str, str]:
    """The context of every filing, by doc_name, in one line.

    A filing whose context could not be written has its header; what is missing is told by the log. What was cut at
    MAX_TOKENS ends with its last whole sentence.

    Args:
        kind: ``header`` or ``written``; a written context begins with the header, which it rests on.

    Raises:
        ValueError: another kind.
    """
    if kind not in ("header", "written"):
        raise ValueError(f"no context {kind!r}: say header or written")
    known = headers(study.filings)
    if kind == "header":
        return known
    texts = study.memo("filing_contexts", lambda: written(study).texts)
    return {doc_name: _with_header(header, texts.get(doc_name, "")) for doc_name, header in known.items()}


def _with_header(header: str, text: str) -> str:
    """The header, and the text up to its last whole sentence if that leaves half of it or more."""
    line = " ".join(text.split())
    last = max((match.end() for match in re.finditer(r"[.!?](?=\s|$)", line)), default=0)
    return f"{header} {line[:last] if 2 * last >= len(line) else line}".strip()
