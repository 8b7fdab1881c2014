"""Numbers and tables as they are printed."""

import numpy as np
import pandas as pd

from lib.show.display import markdown_table, p_value, seconds, typeset
from lib.show.tables import reported_means, reported_runs, reported_values, reported_versions, short_title, title


def test_numbers_have_a_minus_sign_and_none_where_they_round_to_zero_and_seconds_two_digits():
    cells = ["-0.20 [-0.30, -0.00]", "+0.00", "-0.001", "-3", "10-K", "-0.0 and text"]
    shown = markdown_table(pd.DataFrame({"Gain": cells})).splitlines()[2:]
    written = ["−0.20 \\[−0.30,&nbsp;0.00\\]", "0.00", "−0.001", "−3", "10\\-K", "\\-0.0 and text"]
    assert shown == [f"| {text} |" for text in written]
    assert typeset("-0.05 [-0.10, -0.00] (loss); no 10-K, 2-3") == "−0.05 [−0.10, 0.00] (loss); no 10-K, 2-3"
    assert [*map(seconds, (0.0504, 0.0423, 2, 9.96, 12.3))] == ["0.050", "0.042", "2.0", "10", "12"]
    assert [*map(p_value, (0.0005, 0.0002, np.nan))] == ["0.001", "< 0.001", "–"]


def test_reported_figures_are_known_of_their_dataset_alone():
    known = reported_runs("financebench")
    assert known["page_scorer_filing", "standard"]["page_recall"] == 0.55
    assert known["dense", "oracle-document"]["ctx_bleu"] == 0.25
    assert len(known) == 11 + 2
    means = reported_means("financebench", "dense", ["page_recall", "doc_ndcg"])  # of which it reports one
    assert list(means) == ["Reported: Page recall"]
    assert means["Reported: Page recall"].to_dict() == {"standard": 0.34, "oracle-document": 0.6, "oracle-page": 1.0}
    assert reported_values("financebench", "page_recall")["page_scorer_filing"] == 0.55
    versions = reported_versions("financebench").set_index("context")
    assert versions.loc["pages given", ["Numeric match, English", "Numeric match, French"]].tolist() == [0.34, 0.70]
    assert (reported_runs("page-questions"), reported_values("mine", "page_recall")) == ({}, {})
    assert reported_means("demo", "dense", ["page_recall"]).shape == (3, 0)
    assert reported_versions("demo").empty


def test_a_method_has_its_title_and_a_reader_s_own_its_name():
    assert (title("dense_records"), title("mine")) == ("Dense, metadata match", "mine")
    assert short_title("dense_covers") == "Dense, metadata match (cover pages)"
