"""Questions that no one filing answers: what is found of several filings, what is read where nothing answers."""

from lib.analysis.apart import measured_apart
from lib.data.layout import SEVERAL, UNANSWERABLE

ACME, BOLT = "ACME_2020_10K", "BOLT_2020_10K"
REVENUE = "Consolidated statements of income\n(in millions)\n2020\n2019\nTotal revenue\n$\n4,210\n$\n3,980\n"


def test_questions_of_several_filings_and_without_evidence_are_measured_apart(folder, open_words):
    folder.text(ACME, "anvils of the north", REVENUE, "lawsuits")
    folder.text(BOLT, "bolts of the south", "cash flow fell", "lawsuits")
    folder.question("q1", ACME, (1, "Total revenue"))
    alone = open_words({"run.depth": 20})
    assert measured_apart(alone, 2, ["bm25"]).empty
    both = [{"doc_name": ACME, "evidence_page_num": 0}, {"doc_name": BOLT, "evidence_page_num": 0}]
    both = [piece | {"evidence_text": text} for piece, text in zip(both, ("anvils of", "bolts of"), strict=True)]
    folder.question("q2", ACME, question="Are anvils of the north or bolts sold?", evidence=both)
    both = [both[0], both[1] | {"evidence_page_num": 1, "evidence_text": "cash flow fell"}]
    folder.question("q3", ACME, question="Are anvils of the north sold?", evidence=both)
    folder.question("q4", ACME, question="What was the total revenue of Acme in FY2020?", evidence=[])
    study = open_words({"run.depth": 20})
    assert study.questions["question_id"].tolist() == ["q1"]
    several, unanswerable = measured_apart(study, 2, ["bm25"]).to_dict("records")
    assert (several["kind"], several["n"]) == (SEVERAL, 2)
    # both pages of q2, and of q3 that of one filing
    found = several["doc_recall"], several["page_recall"], several["all_pages"]
    assert found == ((1 + 1 / 2) / 2, (1 + 1 / 2) / 2, 1 / 2)
    assert (unanswerable["kind"], unanswerable["n"]) == (UNANSWERABLE, 1)
    assert unanswerable["figure_read"] == 1
    assert study.dataset.apart.fingerprint != study.dataset.fingerprint
