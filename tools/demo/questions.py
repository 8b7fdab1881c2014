"""Questions as FinanceBench writes them down: one record each, with evidence cut from the drawn pages."""

from collections.abc import Sequence
from dataclasses import dataclass

from tools.demo.corpus import Filing
from tools.demo.pdf import Span

EXTRACTION = "Information extraction"
NUMERICAL = "Numerical reasoning"
LOGICAL = "Logical reasoning (based on numerical reasoning) OR Logical reasoning"


@dataclass(frozen=True)
class Question:
    """What is asked of one filing, and the marks under which the answer is drawn."""

    kind: str  # "metrics-generated", "domain-relevant" or "novel-generated"
    doc_name: str
    question: str
    answer: str
    marks: tuple[str, ...]
    justification: str = ""
    reasoning: str | None = None
    domain_question: str | None = None


def records(questions: Sequence[Question], filings: Sequence[Filing]) -> list[dict]:
    """The lines of ``financebench_open_source.jsonl``, ids in the order given."""
    named = {filing.doc_name: filing for filing in filings}
    return [_record(number, item, named[item.doc_name]) for number, item in enumerate(questions, start=1)]


def _record(number: int, item: Question, filing: Filing) -> dict:
    return {
        "financebench_id": f"demo_id_{number:05d}",
        "company": filing.company.short,
        "doc_name": item.doc_name,
        "question_type": item.kind,
        "question_reasoning": item.reasoning,
        "domain_question_num": item.domain_question,
        "question": item.question,
        "answer": item.answer,
        "justification": item.justification,
        "dataset_subset_label": "OPEN_SOURCE",
        "evidence": [
            {
                "evidence_text": cut(filing.pages[span.page], span),
                "doc_name": item.doc_name,
                "evidence_page_num": span.page,
                "evidence_text_full_page": filing.pages[span.page],
            }
            for span in _one_span_a_page(filing, item.marks)
        ],
    }


def _one_span_a_page(filing: Filing, marks: Sequence[str]) -> list[Span]:
    """The marks' spans in page order, those of one page joined into one."""
    found: dict[int, Span] = {}
    for span in (span for mark in marks for span in filing.marks[mark]):
        known = found.get(span.page, span)
        found[span.page] = Span(span.page, min(known.start, span.start), max(known.end, span.end))
    return [found[page] for page in sorted(found)]


def cut(text: str, span: Span) -> str:
    """The part of a page's text that holds a span of its printed characters, white space in between included.

    Raises:
        ValueError: the page has fewer printed characters than the span needs.
    """
    printed = [place for place, character in enumerate(text) if not character.isspace()]
    if span.end > len(printed):
        raise ValueError(
            f"page {span.page} has {len(printed)} printed characters; the span ends at {span.end}"
        )
    return text[printed[span.start] : printed[span.end - 1] + 1]
