"""Which dataset a name means, what happens where FinanceBench is not, and the demo: the bytes that were drawn."""

import json
import shutil
from collections import Counter

import pytest

from lib import files
from lib.data import locate
from lib.data.dataset import read_dataset
from lib.data.locate import DEMO, open_dataset
from lib.data.pages import check_gold, extract_pages
from lib.files import RESULTS, digest_of, digest_of_file
from lib.schema import DatasetError
from tests.conftest import write_questions

NAME = "ACME_2020_10K"


@pytest.fixture
def sound(folder):
    folder.pdf(NAME, "net sales rose")
    folder.question("q1", NAME, (0, "net sales rose"))
    return folder.write()


@pytest.fixture(autouse=True)
def data(monkeypatch, tmp_path):
    """The folder that FinanceBench may lie in, without it."""
    monkeypatch.setattr(locate, "DATA", tmp_path / "data")
    monkeypatch.delenv(locate.DATA_VARIABLE, raising=False)
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def assert_taken(name: str, *given) -> None:
    """Opening ends in the error that another dataset has this name."""
    with pytest.raises(DatasetError, match=f"another dataset has the name {name};"):
        open_dataset(*given)


@pytest.mark.parametrize("name", ["", "financebench"])
def test_financebench_is_taken_where_it_lies_or_where_a_variable_says(sound, data, tmp_path, monkeypatch, name):
    monkeypatch.setattr(locate, "download_financebench", sound.rename)
    found = open_dataset("financebench")
    assert found.root == data / "financebench" == open_dataset(name).root
    monkeypatch.setenv("RETRIEVAL_GAP_DATA", str(tmp_path / "elsewhere"))
    with pytest.raises(DatasetError, match="elsewhere"):
        open_dataset(name)
    data.rename(tmp_path / "elsewhere")
    assert open_dataset(name).root == tmp_path / "elsewhere" / "financebench"


def test_without_a_name_and_without_financebench_it_is_the_demo(capsys):
    assert open_dataset("").name == "demo"
    assert "DEMO" in capsys.readouterr().out


def test_a_name_with_a_meaning_is_that_of_one_dataset(sound, tmp_path, monkeypatch):
    own = sound.rename(sound.with_name("store"))
    assert_taken("store", str(own))
    monkeypatch.setattr(files, "RESULTS", tmp_path / "results")
    published = tmp_path / "results" / "store" / "default"
    published.mkdir(parents=True)
    fingerprint = read_dataset(own, "any").fingerprint
    (published / "manifest.json").write_text(json.dumps({"fingerprint": fingerprint}))
    assert open_dataset(str(own)).name == "store"


@pytest.mark.parametrize("collection", ["sound", "demo"])
def test_nor_has_a_question_set_such_a_name(sound, tmp_path, collection):
    doc_name = NAME if collection == "sound" else "TARNBECK_2021_10K"
    root = write_questions(tmp_path / "mine" / "demo", {"financebench_id": "x", "doc_name": doc_name})
    assert_taken("demo", str(sound) if collection == "sound" else "demo", str(root), tmp_path / "artifacts")


def test_a_copy_is_the_same_dataset_and_another_of_its_name_is_refused(sound, tmp_path):
    artifacts, first = tmp_path / "artifacts", tmp_path / "a" / "mine"
    first.parent.mkdir()
    sound.rename(first)
    copied = shutil.copytree(first, tmp_path / "b" / "mine")
    for folder in (first, copied, first):
        assert open_dataset(str(folder), artifacts=artifacts).name == "mine"
    about = json.dumps({"doc_name": NAME, "company": "Acme & Sons"})
    (first / "data" / "test_document_information.jsonl").write_text(about)
    assert open_dataset(str(first), artifacts=artifacts).name == "mine"  # changed at its place
    assert_taken("mine", str(copied), "", artifacts)


DRAWN = "f731953fb01b869b6d86"  # of all files, in order
BLANK = {"TARNBECK_2021_10K", "ORVELLOW_2021_10K", "VEYLORIA_2021_10K"}  # filings with pages without text


def test_the_demo_s_bytes_are_those_that_were_drawn_and_published_and_its_records_quote_them():
    files = sorted(path for folder in ("data", "pdfs") for path in (DEMO / folder).iterdir())
    assert digest_of([digest_of_file(path) for path in files])[:20] == DRAWN
    dataset = open_dataset("demo")
    published = json.loads((RESULTS / "demo" / "default" / "manifest.json").read_text())
    assert dataset.fingerprint == published["fingerprint"]
    pages = extract_pages(dataset)
    assert check_gold(dataset, pages) == 52
    assert set(pages.loc[pages["text"] == "", "doc_name"]) == BLANK
    assert Counter(map(len, dataset.questions["gold_pages"])) == {1: 31, 2: 9, 3: 1}
