"""How tables print the contrasts of a family."""

from lib.analysis import families


def test_rivals_are_printed_without_the_match_that_all_of_them_have():
    pairs = [families.rival_titles(*pair) for pair in families.members("rivals")]
    assert {rival for _, rival in pairs} == {"Dense, same match", "Parent-child, same match", "Dense, filing given"}
    assert all("filings" not in scorer for scorer, _ in pairs)
