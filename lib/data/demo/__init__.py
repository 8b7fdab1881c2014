"""The demo dataset: an invented mini-corpus in FinanceBench's own layout, written as real PDFs.

Twelve filings of four invented companies over three fiscal years (10-K, 10-Q, 8-K, earnings releases), whose figures
agree with each other, and questions of FinanceBench's three types. Nothing in it is random: the same code writes the
same bytes. What it holds is meant to be hard in the way that filings are: years that repeat each other nearly word
for word, the same figure in a statement, a summary and a note, and questions that use other words than the page.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from lib.data.demo import asked_freely, asked_of_domain, asked_of_metrics
from lib.data.demo.corpus import Filing, filings, ledgers
from lib.data.demo.questions import records

__all__ = ["write_demo"]


def write_demo(target: Path) -> None:
    """Write the demo dataset below ``target``, over what an earlier call wrote there.

    Writes ``data/financebench_open_source.jsonl``, ``data/financebench_document_information.jsonl`` and
    ``pdfs/<doc_name>.pdf``; page numbers are counted from 0.
    """
    books = ledgers()
    drawn = filings(books)
    asked = [
        question
        for module in (asked_of_metrics, asked_of_domain, asked_freely)
        for question in module.questions(books)
    ]
    (target / "data").mkdir(parents=True, exist_ok=True)
    (target / "pdfs").mkdir(exist_ok=True)
    for filing in drawn:
        (target / "pdfs" / f"{filing.doc_name}.pdf").write_bytes(filing.pdf)
    _write_lines(target / "data" / "financebench_open_source.jsonl", records(asked, drawn))
    _write_lines(target / "data" / "financebench_document_information.jsonl", map(_information, drawn))


def _information(filing: Filing) -> dict:
    return {
        "doc_name": filing.doc_name,
        "company": filing.company.short,
        "gics_sector": filing.company.sector,
        "doc_type": filing.doc_type,
        "doc_period": filing.doc_period,
        "doc_link": "",
    }


def _write_lines(path: Path, rows: Iterable[dict]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
