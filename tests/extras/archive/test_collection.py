"""A larger collection: whose filings the added ones are."""

import pandas as pd

from extras.archive.collection import companies


def test_companies_are_named_as_the_study_names_them_despite_a_slip():
    filings = pd.DataFrame({"doc_name": ["OSKARVALE_2020_10K"], "company": ["Oskarvale"]})
    found = companies(["OSKARVALE_2021_10K", "OSKARVLE_2021_10K", "QUILL_2020_8K_dated-2020-01-01"], filings)
    assert list(found.values()) == ["Oskarvale", "Oskarvale", "QUILL"]
