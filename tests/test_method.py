"""What a function of a search keeps: in memory by its arguments, in the store by all that it reads."""

import pytest

from lib.method import remembered, stored

PROFILE = {"bm25": {"k1": 1.5}}


@pytest.fixture
def search(fake_study):
    return fake_study(["cash?"], ["net cash", "sales"], PROFILE)


def test_a_value_is_made_once_for_its_arguments(search):
    made = []

    @remembered
    def twice(study, n):
        made.append(n)
        return 2 * n

    assert [twice(search, n) for n in (1, 2, 1)] == [2, 4, 2]
    assert made == [1, 2]


def test_a_key_has_the_arguments_that_the_stage_does_not_name_what_is_read_and_the_settings(search):
    on = ["chunks", "run={condition}/{name}"]

    @stored("words/{name}", on=on, settings=["bm25"], version=2)
    def counted(study, name, least=1, condition="standard"):
        return study.chunks["text"].str.split().str.len().ge(least).tolist()

    search.digest = "digest of {}".format
    search.settings_of = lambda sections: {one: search.profile[one] for one in sections}
    assert counted(search, "all", least=2) == [True, False]
    [(stage, key)] = search.store.log
    params = {"least": 2, "condition": "standard", "settings": PROFILE}
    params |= {"chunks": "digest of chunks", "run": "digest of run=standard/all"}
    assert (stage, key) == ("words/all", search.store.key("words/all", params, 2))
    assert counted(search, "all") == [True, True]
    assert len(search.store.log) == 2
