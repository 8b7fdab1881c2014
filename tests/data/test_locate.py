"""Which dataset a name means, and what happens where FinanceBench is not."""

import pytest

from lib.data import download, locate
from lib.data.locate import open_dataset
from lib.words import DatasetError


@pytest.fixture
def sound(folder):
    folder.pdf("ACME_2020_10K", "net sales rose")
    folder.question("q1", "ACME_2020_10K", (0, "net sales rose"))
    return folder.write()


@pytest.fixture
def places(monkeypatch, tmp_path):
    """Two places where FinanceBench may lie, both empty."""
    found = (tmp_path / "first", tmp_path / "second")
    monkeypatch.setattr(locate, "FINANCEBENCH_PLACES", found)
    return found


@pytest.mark.parametrize("name", ["", "financebench"])
def test_financebench_is_taken_where_it_lies(sound, places, tmp_path, name):
    sound.rename(places[1])
    dataset = open_dataset(name, tmp_path)
    assert (dataset.name, dataset.root) == ("financebench", places[1])


def test_financebench_is_downloaded_to_its_first_place(sound, places, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "download_financebench", sound.rename)
    assert open_dataset("financebench", tmp_path).root == places[0]


def test_without_a_name_and_without_financebench_it_is_the_demo_and_that_is_said(
    sound, places, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(locate, "demo_root", lambda artifacts: sound)
    assert open_dataset("", tmp_path).name == "demo"
    (line,) = capsys.readouterr().out.splitlines()
    assert "DEMO" in line
    assert "DATASET=financebench" in line


def test_a_folder_of_ones_own_is_named_after_it(sound, tmp_path):
    mine = sound.rename(sound.with_name("my filings (2020)"))
    assert open_dataset(str(mine), tmp_path).name == "my-filings-2020-"


@pytest.mark.parametrize("name", ["finance-bench", "no/such/folder"])
def test_a_name_that_means_nothing_says_what_would(tmp_path, name):
    with pytest.raises(
        DatasetError, match=rf"^{name}: no folder with data/\*\.jsonl; give financebench, demo, or such"
    ):
        open_dataset(name, tmp_path)
