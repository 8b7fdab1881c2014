"""Page kinds learnt from made-up pages of two sorts, and what questions name mapped to them."""

import pandas as pd
import pytest
import yaml

from extras.ahead import learn_kinds
from extras.ahead.learn_kinds import common, labels, learn, main, titles
from lib.words import StudyError

BALANCE = "Consolidated Balance Sheets\nInventories\n{0}\nTotal current assets\n{0}\nTotal current liabilities\n{0}\n"
INCOME = "Consolidated Statements of Income\nNet sales\n{0}\nCost of sales\n{0}\nNet income\n{0}\n"


@pytest.fixture
def pages(monkeypatch):
    for name, value in {
        "N_KINDS": 2,
        "LEAST_FILINGS": 3,
        "LEAST_COMPANIES": 2,
        "LEAST_COMPANIES_OF_WORD": 2,
    }.items():
        monkeypatch.setattr(learn_kinds, name, value)
    names = [f"{company}_{year}_10K" for company in ("ACME", "BOLT") for year in (2019, 2020)]
    rows = [
        (name, page, text.format(number + 1))
        for number, name in enumerate(names)
        for page, text in enumerate((BALANCE, INCOME))
    ]
    return pd.DataFrame(rows, columns=["doc_name", "page", "text"])


def test_titles_are_headings_without_figures_and_companies():
    text = "12\nAcme Inc. and Subsidiaries\nConsolidated Balance Sheets\n(In millions) 2019\nTotal assets 5 6"
    assert titles(text) == ["consolidated balance sheets"]
    assert labels(text) == ["total assets"]


def test_what_is_common_stands_in_several_filings_of_several_companies(monkeypatch):
    monkeypatch.setattr(learn_kinds, "LEAST_FILINGS", 2)
    places = [("ACME_2019_10K", "ACME"), ("ACME_2020_10K", "ACME"), ("BOLT_2019_10K", "BOLT")]
    assert common([["a", "b", "c"], ["a", "b"], ["a", "a"]], places, 2) == ["a"]
    assert common([["a", "b", "c"], ["a", "b"], ["a", "a"]], places, 1) == ["a", "b"]


def test_labels_that_stand_together_are_of_one_kind(pages):
    learnt = learn(pages)
    balance, income = learnt["labels"]["inventories"], learnt["labels"]["net income"]
    assert [*balance.values()] == [*income.values()] == [1.0]
    assert balance != income
    assert learnt["labels"]["total current assets"] == balance
    assert learnt["labels"]["cost of sales"] == income
    assert "consolidated balance sheets" in learnt["kinds"][next(iter(balance))]["titles"]


def test_measures_lie_on_the_kinds_of_their_items(pages):
    learnt = learn(pages)
    balance, income = learnt["labels"]["inventories"], learnt["labels"]["net income"]
    assert learnt["phrases"]["current ratio"] == balance
    assert learnt["phrases"]["net profit margin"] == income
    assert learnt["phrases"]["inventory turnover"] == {0: 0.5, 1: 0.5}
    assert "goodwill" not in learnt["phrases"]


def test_the_file_has_no_text_but_common_titles_labels_and_words(pages, tmp_path):
    pages.loc[0, "text"] += "Secret of Acme\n7\n"
    pages.to_parquet(tmp_path / "pages.parquet")
    main(tmp_path / "pages.parquet", tmp_path / "kinds.yaml")
    written = (tmp_path / "kinds.yaml").read_text()
    assert yaml.safe_load(written)["labels"].keys() >= {"net sales"}
    assert "secret" not in written.lower()
    with pytest.raises(StudyError, match="is missing"):
        main(tmp_path / "none.parquet", tmp_path / "kinds.yaml")
