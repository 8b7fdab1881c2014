"""Every command of a module: a study that cannot be opened ends in one sentence and status 1."""

import importlib

import pytest

from lib.command import status_of
from lib.words import StudyError

COMMANDS = {
    "lib.analysis.benchmarks": [],
    "lib.answers.answers": ["--context", "none"],
    "lib.page_scorer.full": ["--fold", "0"],
    "lib.page_scorer.final": ["--target", "nowhere"],
    "extras.preference.train": ["--pairs"],
    "lib.answers.written_contexts": ["--embed", "header"],
    "lib.analysis.depths": ["--limit", "1"],
    "lib.answers.written_kinds": ["--only", "judge"],
    "lib.page_scorer.mistakes_full": ["--by", "company"],
}


@pytest.mark.parametrize("module", COMMANDS)
def test_a_dataset_that_is_not_there_is_told_in_one_sentence(module, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", [module, "--dataset", "no/such/folder", *COMMANDS[module]])
    assert importlib.import_module(module).main() == 1
    said = capsys.readouterr().err
    assert said.startswith("error: no/such/folder: ")
    assert len(said.splitlines()) == 1


def test_another_error_is_not_hidden():
    def broken(args):
        raise KeyError("a defect")

    with pytest.raises(KeyError):
        status_of(broken, None)


def test_a_command_that_ends_well_has_status_0(capsys):
    assert status_of(print, "done") == 0
    assert status_of(lambda args: (_ for _ in ()).throw(StudyError("mend this")), None) == 1
    assert capsys.readouterr() == ("done\n", "error: mend this\n")
