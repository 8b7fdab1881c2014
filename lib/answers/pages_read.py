"""The pages of a context as tables: what an answer is calculated from, and rows for a language model to copy."""

import pandas as pd

from lib.answers.prompt_context import NONE, Context, contexts, fill
from lib.data.rows import Line, Sheet, kind_of, lines_of_page
from lib.frames import remembered
from lib.retrievers.identity import Identity, filing_identities
from lib.study import Study


@remembered
def pages_read(study: Study, wanted: Context) -> pd.DataFrame:
    """The pages of the first chunks of a context's run: question_id, doc_name and page, each once, best first."""
    run = study.run(wanted.method, wanted.condition)
    top = run[run["rank"] <= study.profile.answers.n_chunks].sort_values(["question_id", "rank"])
    return top[["question_id", "doc_name", "page"]].drop_duplicates(ignore_index=True)


@remembered
def texts_of_pages(study: Study) -> dict[tuple[str, int], str]:
    """The text of every page, by doc_name and page."""
    return study.pages.set_index(["doc_name", "page"])["text"].to_dict()


def sheet_of(study: Study, doc_name: str, page: int, from_layout: bool = True) -> Sheet:
    """A page's tables."""

    def make() -> Sheet:
        text = texts_of_pages(study)[doc_name, page]
        lines, others = (
            tuple(lines_of_page(study.dataset.source(doc_name), page, text, is_layout))
            for is_layout in (from_layout, False)
        )
        return Sheet(doc_name, page, kind_of(text), years_of_filings(study)[doc_name], lines, others)

    return study.memo(("sheet", doc_name, page, from_layout), make)


def years_of_filings(study: Study) -> dict[str, int | None]:
    """The fiscal year of each filing, as its identity has it."""
    return {one.doc_name: one.year for one in identities(study)}


@remembered
def identities(study: Study) -> list[Identity]:
    """The identity of each filing, in the order of the study's filings."""
    return filing_identities(study.filings, study.pages)


def as_text(line: Line) -> str:
    """A row for a prompt: ``Net sales | 2018: 5 | 2017: -4 (in millions)``."""
    pairs = zip(line.columns, line.values, strict=True)
    values = [f"{column.year}: {value:g}" for column, value in pairs if value is not None]
    share, unit = "%" if line.is_share else "", f" (in {line.unit}s)" if line.unit else ""
    return " | ".join([line.label, *(f"{value}{share}" for value in values)]) + unit


def rows_given(study: Study, wanted: Context) -> dict[str, str]:
    """The tables' rows of a context's pages by question id, as many as there is room for: those that share most words
    with the question first, see :func:`lib.answers.prompt_context.fill`; segments of the text where no page has rows.
    """
    plain = contexts(study, wanted)
    if wanted.method == NONE:
        return plain
    pages, given = dict(list(pages_read(study, wanted).groupby("question_id", sort=False))), {}
    for question in study.questions.itertuples():
        places = pages.get(question.question_id, pd.DataFrame(columns=["doc_name", "page"]))
        sheets = [sheet_of(study, one.doc_name, one.page) for one in places.itertuples()]
        rows = [[as_text(line) for line in sheet.lines] for sheet in sheets]
        chosen = fill(
            question.question, rows, study.profile.answers_from_rows.context_tokens, study.tokenizer
        )
        parts = {number: f"{sheets[number].doc_name}, page {sheets[number].page}" for number, _ in chosen}
        for number, text in chosen:
            parts[number] += f"\n{text}"
        given[question.question_id] = "\n\n".join(parts.values()) or plain[question.question_id]
    return given
