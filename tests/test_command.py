"""The command line: every command explains itself; an error that a person can correct is one sentence and status 1."""

import pytest
from click.testing import CliRunner

from lib import __main__ as command_line
from lib.methods import METHODS
from lib.studies import OUTPUTS_VARIABLE
from lib.words import StudyError

COMMANDS = command_line.commands.commands
NEEDED = {
    "answers": ["--context", "none"],
    "export-scorer": ["--target", "nowhere"],
    "silver": ["--pages", "nowhere.parquet"],
}
OPENING = sorted(set(COMMANDS) - {"methods", "notebook", "verify"})


def run(*arguments: str):
    """The result of ``python -m lib`` with these arguments."""
    return CliRunner().invoke(command_line.commands, list(arguments))


def sentence(result) -> str:
    """The one line that a failed command ends with."""
    assert result.exit_code == 1, result.output
    lines = [line for line in result.stderr.splitlines() if line.strip()]
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    return lines[0]


def test_the_commands_are_those_that_make_and_the_readme_name():
    assert {"book", "notebook", "publish", "verify", "preflight", "methods"} <= set(COMMANDS)
    listed = run("--help").output
    assert all(f"  {name} " in listed for name in COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help(name):
    result = run(name, "--help")
    assert result.exit_code == 0
    assert " ".join(COMMANDS[name].help.split()) in " ".join(result.output.split())


@pytest.mark.parametrize("name", OPENING)
def test_a_dataset_that_is_not_there_is_one_sentence(name):
    result = run(name, *NEEDED.get(name, []), "--dataset", "no/such/folder")
    assert sentence(result).startswith("error: no/such/folder: ")


def test_what_was_never_published_is_one_sentence():
    for more in ([], ["--chapter", "01_data"]):
        result = run("verify", "--dataset", "no/such/folder", *more)
        assert (
            sentence(result).startswith("error: nothing is published of folder") or "no/such" in result.stderr
        )


def test_a_notebook_that_is_not_there_and_a_value_that_is_no_yaml_are_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv(OUTPUTS_VARIABLE, str(tmp_path))  # which the command sets
    assert "no notebook '99_none': say one of 01_data" in sentence(run("notebook", "99_none"))
    wrong = run("notebook", "03_baselines", "-p", "methods", "[bm25")
    assert "methods is '[bm25': give its value as YAML" in sentence(wrong)


@pytest.mark.parametrize(
    "arguments", [["book", "--jobs", "-1"], ["book", "--results", "new"], ["cook"], ["answers"]]
)
def test_a_wrong_option_is_refused_with_usage(arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Usage:" in result.stderr


def test_a_verification_that_fails_has_status_1(monkeypatch):
    monkeypatch.setattr("extras.publish.verify.verify", lambda *given: False)
    assert "the published results were not reproduced" in sentence(run("verify"))
    monkeypatch.setattr("extras.publish.verify.verify", lambda *given: True)
    assert run("verify").exit_code == 0


def test_another_error_is_not_hidden(monkeypatch):
    def broken(*given):
        raise KeyError("a defect")

    monkeypatch.setattr("extras.publish.verify.verify", broken)
    assert isinstance(run("verify").exception, KeyError)
    assert not issubclass(KeyError, StudyError)


def test_the_method_table_is_printed():
    result = run("methods")
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.output.splitlines()] == list(METHODS)
