"""How many tokens of a ranking show a page."""

import numpy as np
import pandas as pd

from lib.analysis.sizes import recall_within


def test_a_page_counts_while_its_chunk_fits_into_the_budget_and_a_list_that_is_too_short_has_no_value():
    found = pd.DataFrame({"question_id": ["a", "a", "b"], "page_tokens": [2000, 1000, np.nan], "run_tokens": 999})
    assert recall_within(found) == {500: 0}  # behind 999 tokens the page of b may follow
    assert recall_within(found.assign(run_tokens=3000)) == {500: 0, 1000: 0.25, 2000: 0.5}
