"""The numbers of the data card, against published files."""

import re

import pandas as pd

from lib.files import ROOT
from lib.published import RESULTS

CARD = re.sub(r"\s+", " ", (ROOT / "book" / "data_card.md").read_text(encoding="utf-8"))


def test_the_second_set_is_as_described():
    questions = pd.read_csv(RESULTS / "page-questions" / "default" / "questions.csv")
    companies, filings, types = (questions[name].value_counts() for name in ("company", "doc_name", "question_type"))
    assert f"{len(questions)} questions on {len(filings)} of FinanceBench's 84 filings" in CARD
    largest = f"JPMorgan {companies['JPMorgan']} questions ({companies['JPMorgan'] / len(questions):.0%})"
    assert largest.replace("%)", " %)") in CARD
    assert f"largest filing has {filings.max()} questions ({100 * filings.max() / len(questions):.0f} %)" in CARD
    for name, n in companies.drop("JPMorgan").items():
        assert f"{name.removesuffix(' Corporation')} {n}" in CARD
    assert f"`page-number` ({types['page-number']} questions" in CARD
    assert f"`page-text` ({types['page-text']})" in CARD
    kinds = questions["doc_type"].value_counts()
    assert f"{kinds['10-K']} questions are on 10-Ks and {kinds['10-Q']} on 10-Qs" in CARD


def test_the_larger_collection_the_systems_and_the_outside_sets_are_as_described():
    tables = RESULTS / "financebench" / "default" / "shown" / "tables"
    pages = pd.read_csv(tables / "haystack.csv").groupby("n_filings")["n_pages"].max()
    assert f"150, 250 and {pages.index[-1]} filings ({pages.iloc[-1]:,} pages)" in CARD
    assert f"instead of {pages.index[0]} ({pages.iloc[0]:,} pages)" in CARD
    systems = pd.read_csv(tables.with_name("figures") / "answers-systems.csv")
    assert f"{systems['system'].nunique()} labelled systems" in CARD
    assert f"On the {systems['n'].min()} questions whose answer is a number" in CARD
    outside = pd.read_csv(ROOT / "lib" / "analysis" / "outside.csv", dtype=str).groupby("set")["question_id"].nunique()
    assert [name for name, n in outside.items() if not re.search(f"{n} questions of (the )?{name}", CARD)] == []
