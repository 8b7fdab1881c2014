"""Silver questions of a made-up annual report: what is read from its statements, asked and kept from test folds."""

import random
from types import SimpleNamespace

import pandas as pd
import pytest

from extras.silver.cloze import blank_of, is_prose, sentences
from extras.silver.questions import (
    candidates,
    figures,
    make_questions,
    money,
    read_filing,
    with_tax_checked,
    write_silver,
)
from extras.silver.statements import primary_statements, read_statement
from lib.data.rows import column_years, plain, rows_of
from lib.folds import make_folds
from lib.silver import Silver, companies, read_silver
from lib.words import StudyError

COVER = """UNITED STATES SECURITIES AND EXCHANGE COMMISSION
FORM 10-K
For the fiscal year ended December 31, 2020
OSKARVALE, INC.
(Exact name of registrant as specified in its charter)"""
INCOME = """OSKARVALE, INC.
CONSOLIDATED STATEMENTS OF INCOME
(In millions, except per share amounts)
Years ended December 31,
2020
2019
2018
Net sales
$
500
$
400
$
300
Cost of sales
(300)
(250)
(200)
Gross profit
200
150
100
Interest expense, net (Note 4)
8
9
—
Income before income taxes
120
100
60
Income tax expense
(20)
(25)
(10)
Net income
$ 100
$ 75
$ 50
"""
BALANCE = """CONSOLIDATED BALANCE SHEETS
(In millions)
December 31,
2020
2019
Cash and cash equivalents
$ 90  $ 70
Inventories
60  50
Total current assets
250  220
Total assets
1,000  900
Accounts payable
30  20
Total current liabilities
125  110
Total stockholders’ equity
400  350
"""
PROSE = "In 2020 we opened 37 stores in northern provinces, which employ several hundred people from nearby villages."
PAGES = (COVER, PROSE, INCOME, BALANCE)


@pytest.fixture
def filing():
    return read_filing("OSKARVALE_2020_10K", "Oskarvale", True, PAGES)


@pytest.fixture
def filings():
    """The study's filings, which name the company of another year."""
    row = ("OSKARVALE_2019_10K", "Oskarvale"), ("BOLT_2019_10K", "Bolt")
    return pd.DataFrame(row, columns=["doc_name", "company"])


def pages_of(doc_name: str, texts=PAGES) -> pd.DataFrame:
    return pd.DataFrame({"doc_name": doc_name, "page": range(len(texts)), "text": list(texts)})


def test_rows_join_labels_over_lines_and_values_in_either_layout():
    text = "Proceeds from the sale\nof old stores\n(1,501)\n—\nGoodwill  5  6\nTotal assets\n$ \n7 \n$\n8"
    found = [(row.label, row.values) for row in rows_of(text)]
    assert found == [
        ("Proceeds from the sale of old stores", (-1501, None)),
        ("Goodwill", (5, 6)),
        ("Total assets", (7, 8)),
    ]


def test_a_long_number_with_letters_is_read_at_once():
    assert rows_of("1" * 5000 + "x\n5") == [("1" * 5000 + "x", (5,))]


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("For 2018 to 2020\nDecember 31,\n2020\n2019", (2020, 2019)),
        ("Years ended May 31, 2018, 2019 and 2020\nNet income", (2018, 2019, 2020)),
        ("December 31, 2016\nJanuary 3, 2016\nDecember 28, 2014", ()),  # two columns end in one year
        ("no year at all", ()),
    ],
)
def test_column_years_are_successive_or_unknown(text, years):
    assert column_years(text) == years


def test_labels_lose_notes_and_signs():
    assert plain("Inventories, net (Note 3)") == "inventories net"
    assert plain("Net income (loss) & stockholders’ equity") == "net income loss and stockholders equity"


def test_statements_are_found_by_title_and_rows():
    assert [(s.kind, s.page, s.unit) for s in primary_statements(PAGES)] == [
        ("income", 2, "millions"),
        ("balance", 3, "millions"),
    ]
    assert read_statement(0, INCOME.replace("CONSOLIDATED STATEMENTS OF INCOME", "OVERVIEW")) is None
    assert read_statement(0, INCOME.replace("millions", "short")) is None
    assert read_statement(0, INCOME.replace("CONSOLIDATED", "PRO FORMA")) is None


def test_figures_are_those_of_the_newest_year_and_the_year_before(filing):
    items, _ = figures(filing)
    assert (items["revenue"].value, items["revenue"].before, items["revenue"].page) == (500, 400, 2)
    assert items["cost_of_sales"].value == 300  # shown in parentheses
    assert items["income_tax"].value == 20  # 120 - 20 = 100, so parentheses are no benefit
    assert items["total_assets"].page == 3


def test_a_tax_benefit_stays_negative(filing):
    items, _ = figures(filing)
    items["net_income"] = items["net_income"]._replace(value=140)
    assert with_tax_checked(items)["income_tax"].value == -20  # 120 + 20 = 140
    items["net_income"] = items["net_income"]._replace(value=300)
    assert "income_tax" not in with_tax_checked(items)  # neither 100 nor 140 is near 300


def test_the_year_of_a_filing_is_that_of_its_period(filing):
    assert (filing.year, filing.form, str(filing.end)) == (2020, "10-K", "2020-12-31")
    winter = COVER.replace("December 31, 2020", "February 1, 2020")
    assert read_filing("OSKARVALE_2019_10K", "Oskarvale", True, (winter,)).year == 2019
    assert read_filing("OSKARVALE_2020_10K", "Oskarvale", True, (winter,)).year == 2020


def test_candidates_have_the_answers_of_the_pages(filing):
    found = {}
    for kind, _, slots, answer, pages in candidates(filing, *figures(filing), random.Random(0)):
        found.setdefault((kind, slots.get("measure")), []).append((answer, pages))
    assert ("$500 million", [2]) in found["lookup", None]
    assert ("$100 million", [2]) in found["change", None]  # 500 - 400
    assert ("25.0%", [2]) in found["growth", None]
    assert found["ratio", "current ratio"] == [("2.00", [3])]  # 250 / 125
    assert found["ratio", "working capital"] == [("$125 million", [3])]
    assert found["ratio", "return on assets"] == [("10.00%", [2, 3])]  # 100 / 1,000
    assert found["ratio", "inventory turnover"] == [("5.00", [2, 3])]  # 300 / 60
    assert found["ratio", "effective tax rate"] == [("16.67%", [2])]  # 20 / 120


def test_questions_name_the_company_and_are_the_same_for_a_seed(filings):
    questions, about = make_questions(pages_of("OSKARVALE_2020_10K"), filings, set(), 0)
    assert about["company"].tolist() == ["Oskarvale"]
    assert set(questions["kind"]) >= {"lookup", "change", "ratio"}
    assert questions["question"].str.contains("oskarvale|the company", case=False).all()
    assert questions["question_id"].is_unique
    pd.testing.assert_frame_equal(
        questions, make_questions(pages_of("OSKARVALE_2020_10K"), filings, set(), 0)[0]
    )
    other = make_questions(pages_of("OSKARVALE_2020_10K"), filings, set(), 1)[0]
    assert set(other["question"]) != set(questions["question"])


def test_copies_of_filings_and_pages_of_the_study_are_not_asked_about(filings):
    pages = pd.concat([pages_of("OSKARVALE_2020_10K"), pages_of("OSKARVALE_2020_annualreport")])
    assert make_questions(pages, filings, set(), 0)[1]["doc_name"].tolist() == ["OSKARVALE_2020_10K"]
    questions = make_questions(pages, filings, {INCOME}, 0)[0]
    assert not any(2 in gold for gold in questions["gold_pages"])


def test_money_is_written_with_its_unit():
    assert [money(4478, "millions"), money(-12, "thousands"), money(1.5, "")] == [
        "$4,478 million",
        "-$12 thousand",
        "$1.50",
    ]


def test_sentences_are_prose_that_stands_on_one_page():
    assert [page for page, _ in sentences([PROSE, PROSE + " " + PROSE.replace("37", "38")])] == [1]
    assert is_prose(PROSE)
    assert not is_prose("Total assets 1 2 3 and other things of the company that are in this table.")


def test_a_blank_asks_for_what_it_leaves_out():
    made = [blank_of(0, PROSE, PROSE, "December 31,", random.Random(seed)) for seed in range(40)]
    made = [blank for blank in made if blank]
    assert made
    assert {(blank.kind, blank.answer, blank.noun) for blank in made} == {("count", "37", "stores")}
    assert not any("37" in blank.clause or "we " in blank.clause for blank in made)


def test_the_end_of_the_period_is_no_blank():
    sentence = PROSE.replace("37 stores", "several stores on December 31, 2020")
    assert {blank_of(0, sentence, sentence, "December 31,", random.Random(seed)) for seed in range(40)} == {
        None
    }


def test_companies_are_named_as_the_study_names_them_despite_a_slip(filings):
    found = companies(["OSKARVALE_2021_10K", "OSKARVLE_2021_10K", "QUILL_2020_8K_dated-2020-01-01"], filings)
    assert list(found.values()) == ["Oskarvale", "Oskarvale", "QUILL"]


def test_a_fold_by_company_trains_on_no_silver_question_of_a_tested_company(filings):
    questions = filings.assign(question_id=["q1", "q2"])
    of_bolt = [text.replace("OSKARVALE", "BOLT").replace("Gross", "Total gross") for text in PAGES]
    pages = pd.concat([pages_of("OSKARVALE_2020_10K"), pages_of("BOLT_2020_10K", of_bolt)])
    silver = Silver(*make_questions(pages, filings, set(), 0), pages, "")
    for fold in make_folds(questions, filings, "company", 2, 0):
        tested = questions["company"][list(fold.test)].tolist()
        kept = silver.for_fold(fold, filings)
        for part in (kept.questions, kept.filings):
            assert set(part["company"]) == {"Oskarvale", "Bolt"} - set(tested)
        assert kept.pages["doc_name"].nunique() == 1
    fold = make_folds(questions, filings, "filing", 2, 0)[0]
    assert set(silver.for_fold(fold, filings).questions["company"]) == {"Oskarvale", "Bolt"}


def test_what_is_written_is_read(filings, tmp_path):
    study = SimpleNamespace(
        home=tmp_path / "demo" / "default", filings=filings, pages=pages_of("BOLT_2019_10K", [""])
    )
    with pytest.raises(StudyError, match="python -m lib silver"):
        read_silver(study)
    with pytest.raises(StudyError, match="is missing"):
        write_silver(study, tmp_path / "none.parquet")
    pages_of("OSKARVALE_2020_10K").to_parquet(tmp_path / "pages.parquet")
    made = write_silver(study, tmp_path / "pages.parquet")
    assert len(made.questions) > 5
    pd.testing.assert_frame_equal(read_silver(study).pages, pages_of("OSKARVALE_2020_10K"))
