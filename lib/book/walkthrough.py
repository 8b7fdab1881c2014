"""The page that follows one question from its words to the answer, and one about text that no page may be shown of."""

import io
import re
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise

import pandas as pd
from PIL import Image

from lib.analysis.failures import OF_PAGES, pages_missed
from lib.analysis.walked import (
    GOLD,
    Found,
    Pair,
    Place,
    chosen,
    kind_in_words,
    missed_by_search,
    names_of,
    runs_here,
    what_page,
    wrong_and_missed,
)
from lib.answers.calculation import named_filings
from lib.book.page_templates import filled
from lib.data.locate import UNSEEN, unseen_questions
from lib.data.pdf import picture
from lib.filings.identity import asked_period
from lib.other_sets import unseen_study, with_text
from lib.retrievers.matched import fits_best, identities
from lib.retrievers.places import texts_of_pages
from lib.retrievers.tables import sheet_of
from lib.schema import K, StudyError, or_without_filings
from lib.show.display import markdown_table
from lib.show.markup import Markup, escape
from lib.show.tables import title
from lib.statements.asked import asked_for
from lib.statements.reading import Cell
from lib.statements.rows import Line, Sheet
from lib.statements.sure import line_of
from lib.study import Study

OF_REPORT = "novel-generated"  # questions that only one report lets one ask
PICTURES = {"dpi": 80, "quality": 60}
AROUND = 1  # rows that are shown above and below one that is read
EARLIER = re.compile(r"\bat\(([^()]+), (\d{4})\)")


def walkthrough_page(study: Study) -> str:
    """The page, whose pictures are written beside it; of a question of the demo where the filings are not here."""
    example = with_text(study)
    runs = runs_here(example)
    values = walked(study, example, runs) if runs else None
    return filled("walkthrough", walked=values, text=of_text(study), k=K)


def walked(study: Study, example: Study, runs: Mapping[str, pd.DataFrame]) -> dict:
    """The values of the steps of the chosen question."""
    question, found = chosen(example, runs, K)
    pair, read = wrong_and_missed(question, found, K), [*found.values()][-1].read
    cells = read.result.cells if read.is_sure else ()
    fits = fits_best([question["question"]], filings := identities(example, False))[0]
    return {
        "question": question,
        "n": len(example.questions),
        "is_borrowed": example is not study,
        "asked": what_is_asked(example, question),
        "fits": [filing.doc_name for filing, is_fit in zip(filings, fits, strict=True) if is_fit],
        "n_filings": len(filings),
        "ranked": ranked(example, question, found),
        "pair": pair and beside(study, example, question, runs[pair.method], found, pair),
        "chunk_size": example.profile.chunks.size,
        "tables": tables(example, cells),
        "cells": cells,
        "answer": read.result.text,
        "calculation": spoken_formula(read.result.formula),
        "answers": answers(question, found),
        "reader": [*found][-1],
        "has_others": len(found) > 1,
    }


def what_is_asked(example: Study, question: pd.Series) -> Markup:
    """What is read from a question, as a table."""
    names, period = names_of(example, question), asked_period(question["question"])
    wanted = asked_for(question["question"], names)
    rows = {
        "Company": company_of(example, question) or "none that has a filing",
        "Fiscal year": period.year or "none",
        "Quarter": period.quarter,
        "Form": period.doc_type,
        "Line items": ", ".join(wanted.rows.values()),
        "Calculation": spoken_formula(wanted.formula) if "/" in wanted.formula or "-" in wanted.formula else "",
    }
    read = [(what, str(value)) for what, value in rows.items() if value]
    return markdown_table(pd.DataFrame(read, columns=["What", "As read"]))


def company_of(example: Study, question: pd.Series) -> str:
    """The company that a question names, as its filings are described; empty where none of them has a filing."""
    named = named_filings(example)[question["question_id"]]
    return next((filing.company for filing in identities(example, False) if filing.doc_name in named), "")


def spoken_formula(formula: str) -> str:
    """A formula in words: ``net_income / at(total_assets, 2021)`` is "net income / total assets (2021)"."""
    return EARLIER.sub(r"\1 (\2)", formula).replace("_", " ")


def ranked(example: Study, question: pd.Series, found: Mapping[str, Found]) -> Markup:
    """The pages of each method's first chunks, best first, and what each is to the question; below them the ranks of
    its gold pages."""

    def cell(place: Place) -> Markup:
        what = what_page(example, question, place)
        text = f"{escape(place[0])}, page {place[1] + 1}: {escape(what)}"
        return Markup(f"**{text}**" if what == GOLD else text)

    columns = {title(name): [*map(cell, one.places)] for name, one in found.items()}
    longest = max(map(len, columns.values()))
    table = pd.DataFrame({head: [*cells, *[""] * (longest - len(cells))] for head, cells in columns.items()})
    table.insert(0, "Rank", range(1, longest + 1))
    ranks = [", ".join(map(rank_in_words, one.ranks)) for one in found.values()]
    last = ["Gold at", *ranks]
    return markdown_table(pd.concat([table.astype(object), pd.DataFrame([last], columns=[*table])], ignore_index=True))


def rank_in_words(rank: int | None) -> str:
    """A rank, or that there is none."""
    return "not retrieved" if rank is None else str(rank)


def beside(
    study: Study, example: Study, question: pd.Series, run: pd.DataFrame, found: Mapping[str, Found], pair: Pair
) -> dict:
    """The wrong page and the gold page that was missed: their pictures and kinds, the kind of miss, and the text."""
    method, wrong, missed = pair
    asked = example.questions[example.questions["question_id"] == question["question_id"]]
    texts, page = texts_of_pages(example), missed[1]
    kind = pages_missed(run, asked, example.filings, K, texts).set_index("page").loc[page, "kind"]
    cells = [cell for one in found.values() for cell in one.read.result.cells if (cell.doc_name, cell.page) == missed]
    marked = "\n".join(text for cell in cells for text in (cell.label, printed(cell.shown))) or question["evidence"]
    return {
        "method": method,
        "rank": found[method].places.index(wrong) + 1,
        "wrong": about(example, wrong) | {"file": drawn(study, example, wrong, "wrong", "")},
        "missed": about(example, missed) | {"file": drawn(study, example, missed, "missed", marked)},
        "missed_rank": found[method].ranks[[*question["gold_pages"]].index(page)],
        "kind": kind,
        "says": OF_PAGES[kind].says.replace("top k", f"first {K} chunks"),
        "text": texts[missed],
    }


def about(example: Study, place: Place) -> dict:
    """A page in words."""
    return {"doc_name": place[0], "page": place[1] + 1, "kind": kind_in_words(example, place)}


def drawn(study: Study, example: Study, place: Place, name: str, marked: str) -> str | None:
    """The file of a page's picture, written beside the page; None where it cannot be drawn, as of text alone."""
    doc_name, page = place
    source, packed = example.dataset.source(doc_name), io.BytesIO()
    if source.suffix.lower() != ".pdf":
        return None
    try:
        png = picture(source, page, PICTURES["dpi"], marked)
    except StudyError:
        return None
    Image.open(io.BytesIO(png)).save(packed, "WEBP", quality=PICTURES["quality"])
    return study.write(f"pages/walkthrough-{name}.webp", packed.getvalue()).name


def printed(value: float | None) -> str:
    """A figure as statements print it, without sign."""
    return "" if value is None else f"{abs(value):,.12g}"


def tables(example: Study, cells: Sequence[Cell]) -> list[dict]:
    """The rows that cells are of with those around them, a table for each page; rows and columns that are read are
    marked, and a row without label is a gap."""
    pages = dict.fromkeys((cell.doc_name, cell.page) for cell in cells)
    return [
        table_of(sheet_of(example, *place), [cell for cell in cells if (cell.doc_name, cell.page) == place])
        for place in pages
    ]


def table_of(sheet: Sheet, cells: Sequence[Cell]) -> dict:
    """See :func:`tables`."""
    read = [line_of(cell, sheet) for cell in cells]
    lines = [line for line in sheet.lines if line.columns == read[0].columns]
    places = [lines.index(line) for line in read if line in lines]
    near = sorted({at for place in places for at in range(place - AROUND, place + AROUND + 1) if 0 <= at < len(lines)})
    years = {cell.year for cell in cells}
    rows: list[dict] = []
    for before, at in pairwise([-1, *near]):
        if at > before + 1:
            rows.append({"label": "", "cells": [""] * len(lines[at].columns), "is_read": False})
        rows.append(row_of(lines[at], lines[at] in read))
    if near and near[-1] < len(lines) - 1:
        rows.append({"label": "", "cells": [""] * len(read[0].columns), "is_read": False})
    return {
        "doc_name": sheet.doc_name,
        "page": sheet.page + 1,
        "kind": sheet.kind,
        "unit": read[0].money.unit,
        "heads": [(column.year, column.year in years) for column in read[0].columns],
        "rows": rows,
    }


def row_of(line: Line, is_read: bool) -> dict:
    """A row of :func:`tables`; negative figures in parentheses."""
    cells = [f"({printed(value)})" if value is not None and value < 0 else printed(value) for value in line.values]
    return {"label": line.label, "cells": cells, "is_read": is_read}


def answers(question: pd.Series, found: Mapping[str, Found]) -> Markup:
    """What each method would have answered from its pages."""
    rows = []
    for name, one in found.items():
        n_gold = sum(place[0] == question["doc_name"] and place[1] in question["gold_pages"] for place in one.places)
        why = one.read.result.why_not or "; ".join(one.read.vetoes) or "not sure enough"
        is_answered = one.read.is_sure
        rows.append(
            {
                "Method": title(name),
                "Gold pages it has": f"{n_gold} of {len(question['gold_pages'])}",
                "Answer": one.read.result.text if is_answered else "no answer",
                "Outcome": one.outcome if is_answered else why,
            }
        )
    return markdown_table(pd.DataFrame(rows))


def of_text(study: Study) -> dict | None:
    """The question about one report of an unseen company that search misses and Ahead finds, with what may be shown of
    it; None in the books of other datasets, and where no run of them is here."""
    if (
        study.dataset.name not in ("financebench", UNSEEN)
        or (other := or_without_filings(lambda: unseen_study(study))) is None
    ):
        return None
    asked = other.questions[other.questions["question_type"] == OF_REPORT]
    runs = runs_here(other)
    if len(runs) < 2 or (found := missed_by_search(asked, runs, K)) is None:
        return None
    question, by_method = found
    record = unseen_questions()[question["question_id"]]
    rows = [
        {
            "Method": title(name),
            "Rank of the gold page": ", ".join(map(rank_in_words, ranks)),
            "Its first pages": by_filing(question, places),
        }
        for name, (ranks, places) in by_method.items()
    ]
    return {
        "question": record["question"],
        "answer": record["answer"],
        "company": record["company"],
        "doc_name": record["doc_name"],
        "quotes": [(piece["evidence_page_num"] + 1, piece["evidence_text"]) for piece in record["evidence"]],
        "n": len(asked),
        "table": markdown_table(pd.DataFrame(rows)),
    }


def by_filing(question: pd.Series, places: Sequence[Place]) -> Markup:
    """Pages in their order, with the name of a filing where it changes; gold pages in bold, those that answer in full
    as well in italics."""
    parts = []
    for doc_name, of_filing in groupby(places, key=lambda place: place[0]):
        is_right = doc_name == question["doc_name"]
        marks = dict.fromkeys(question["also"], "*") | dict.fromkeys(question["gold_pages"], "**") if is_right else {}
        pages = ", ".join(f"{marks.get(page, '')}{page + 1}{marks.get(page, '')}" for _, page in of_filing)
        parts.append(f"{escape(doc_name)}: {pages}")
    return Markup("; ".join(parts))
