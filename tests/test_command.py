"""The command line: every command explains itself, a person's error is one sentence with status 1, runs have names."""

import errno
import hashlib
import inspect
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

import pandas as pd
import pytest
import yaml
from click.testing import CliRunner
from filelock import FileLock, Timeout

import retrieval_gap
from lib import __main__ as command_line
from lib import files
from lib.book import notebooks
from lib.files import ROOT
from lib.methods import METHODS
from lib.options import FIRST, Names, named_runs
from lib.schema import StudyError
from lib.studies import OUTPUTS_VARIABLE

COMMANDS = command_line.commands.commands
MAKEFILE = (ROOT / "Makefile").read_text()
TEXTS = "README.md Makefile book/*.md notebooks/*.ipynb lib/**/*.py extras/**/*.py examples/*.py".split()
NAMING = sorted(
    path
    for path in itertools.chain.from_iterable(map(ROOT.glob, TEXTS))
    if path.name != "changelog.md" and re.search(r"\bmake [a-z]|-m lib |retrieval-gap ", path.read_text())
)
#: A target of make with its variables.
MAKE = r"""(make [a-z-]+(?: [A-Z_]+=(?:'[^']*'|"[^"]*"|[^\s`;,"'\\]*))*)"""
PRINTING = f"{sys.executable} -c 'import json, sys; print(json.dumps(sys.argv[1:]))'"
NEEDED = {"ask": ["What was revenue?"], "diagnose": ["--run", "mine=nowhere.trec"]}
OPTIONS = {"dataset": "", "profile": "default", "results": "published", "questions": ""}
OPENING = sorted(set(COMMANDS) - {"methods", "notebook", "verify", "break", "pin"})


def run(*arguments: str):
    """The result of ``python -m lib`` with these arguments."""
    return CliRunner().invoke(command_line.commands, list(arguments))


def making(*arguments: str, venv: Path = Path(sys.prefix)) -> list[str]:
    """The command line of make in the checkout, without building the environment, and with a program that does no more
    than print its words as JSON."""
    read = [*sorted(ROOT.glob("requirements*.txt")), ROOT / "pyproject.toml"]
    stamp = f"{venv}/.ready-{hashlib.sha256(b''.join(path.read_bytes() for path in read)).hexdigest()[:12]}"
    return ["make", "-s", "-C", str(ROOT), "-o", stamp, f"VENV={venv}", f"LIB={PRINTING}", *arguments]


def made(*arguments: str, environment: Mapping[str, str] = MappingProxyType({})) -> list[list[str]]:
    """The words that each command of the program gets from make; what is none of the program is not run."""
    given = {"capture_output": True, "check": True, "env": os.environ | environment}
    would = subprocess.run([*making(*arguments), "-n"], **given).stdout
    done = subprocess.run(making(*arguments), **given).stdout if PRINTING.encode() in would else b""
    return [json.loads(line) for line in done.splitlines()]


def sentence(result) -> str:
    """The one line that a failed command ends with."""
    assert result.exit_code == 1, result.output
    lines = [line for line in result.stderr.splitlines() if line.strip()]
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    return lines[0]


@pytest.mark.parametrize("path", NAMING, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_command_that_a_text_names_is_understood_with_its_options(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = path.read_text()
    for name, rest in re.findall(r"(?:python -m lib|\bretrieval-gap) ([a-z][a-z-]*)([^`\n]*)", text):
        assert name in COMMANDS
        known = {option for param in COMMANDS[name].params for option in param.opts}
        assert set(re.findall(r"(?<= )--?[a-z][a-z-]*", rest)) <= known | {"--help"}, name
    start = r"\b" if path.name == "Makefile" else r"(?:^|`|run |say )"
    for command in sorted({*re.findall(start + MAKE, text, re.MULTILINE)}):
        for variable in re.findall(r"(?<= )(?!UV_)[A-Z_]+(?==)", command):
            assert re.search(rf"^{variable} \?=", MAKEFILE, re.MULTILINE), variable
        for name, *given in made(*shlex.split(command)[1:]):
            for run_file in (one for one in given if one.endswith((".trec", ".jsonl"))):
                Path(run_file).touch()  # the reader's own
            context = COMMANDS[name].make_context(name, given)
            if path.suffix == ".md" and (parameters := context.params.get("parameters")):
                values = {key: yaml.safe_load(value) for key, value in parameters}
                notebooks.check_parameters(context.params["name"], values)


@pytest.mark.parametrize(
    "asked", ["Which note covers the $500 million loan of `Acme`?", 'Acme\'s "net" $(sales)\nin 2022', "-k"]
)
def test_make_hands_a_question_over_as_it_was_typed(asked):
    [words] = made("ask", f"Q={asked}", "DATASET=my $5 filings")
    assert words == ["ask", "--dataset", "my $5 filings", "--profile", "default", "--", asked]
    [words] = made("notebook", "PARAMS=-p methods \"[bm25, dense]\" -p k '$5 `x`'")
    assert words[-6:] == ["-p", "methods", "[bm25, dense]", "-p", "k", "$5 `x`"]


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help_and_is_refused_with_usage_where_an_option_is_wrong(name):
    result, wrong = run(name, "--help"), run(name, "--cook")
    assert result.exit_code == 0
    assert " ".join(COMMANDS[name].help.split()) in " ".join(result.output.split())
    assert (wrong.exit_code, "Usage:" in wrong.stderr) == (2, True)


def test_what_is_installed_lists_the_commands_for_everybody_first_and_prints_the_method_table(monkeypatch, capsys):
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts == {"retrieval-gap": "lib.__main__:main"}
    monkeypatch.setattr(sys, "argv", ["retrieval-gap", "methods"])
    monkeypatch.setattr(sys.stdout, "reconfigure", lambda **given: None, raising=False)  # pytest's lacks it
    with pytest.raises(SystemExit, match="^0$"):
        command_line.main()
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(METHODS)
    listed = re.search(r"Commands:\n(.*)", run("--help").output, re.DOTALL)[1]
    names = re.findall(r"^  (\S+)", listed, re.MULTILINE)
    assert (names[:4], sorted(names)) == (FIRST, sorted(COMMANDS))


@pytest.mark.parametrize("name", command_line.CALLING)
def test_what_a_command_calls_takes_the_study_and_the_options(name):
    module, function = COMMANDS[name].callback.called.split(":")
    options = {param.name: None for param in COMMANDS[name].params if param.name not in OPTIONS}
    inspect.signature(getattr(import_module(module), function)).bind(None, **options)


@pytest.mark.parametrize("name", OPENING)
def test_a_dataset_that_is_not_there_is_one_sentence(name):
    result = run(name, *NEEDED.get(name, []), "--dataset", "no/such/folder")
    assert sentence(result).startswith("error: no/such/folder: ")


def test_an_error_of_disk_or_rights_is_one_sentence_with_what_mends_it_and_another_is_not(monkeypatch):
    full, defect = OSError(errno.ENOSPC, "No space left on device", "/x/y"), OSError(errno.ENOENT, "None", "/no")
    opened = iter([full, defect])
    monkeypatch.setattr(Names, "open", lambda self, chapter="": (_ for _ in ()).throw(next(opened)))
    assert sentence(run("measure")).startswith("error: /x/y: No space left on device; make room on")
    assert run("measure").exception is defect


def test_a_book_is_built_while_no_other_is(monkeypatch, tmp_path):
    def build(names, jobs, check):
        with pytest.raises(Timeout):
            FileLock(tmp_path / "locks" / "book.lock").acquire(timeout=0)
        return done.append(jobs)

    done = []
    monkeypatch.setattr(files, "ARTIFACTS", tmp_path)
    monkeypatch.setattr("lib.book.build.build_book", build)
    assert run("book", "--jobs", "3").exit_code == 0
    assert done == [3]


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ("verify --dataset no/such/folder", "nothing is published of folder"),
        ("notebook 99_none", "unknown notebook '99_none'; choose from 01_data"),
        ("notebook ../notebooks/01_data", r"unknown notebook '\.\./notebooks/01_data'; choose from 01_data"),
        (r'notebook 03_baselines -p methods "\ud800"', "methods is .*: give its value as YAML"),
        ("notebook 03_baselines -p methods [bm25", r"methods is '\[bm25': give its value as YAML"),
        ("notebook 03_baselines -p methods 2024-01-01", "methods is '2024-01-01': give its value as YAML"),
    ],
)
def test_what_is_not_there_or_no_value_is_one_sentence(tmp_path, monkeypatch, arguments, wanted):
    monkeypatch.setenv(OUTPUTS_VARIABLE, str(tmp_path))  # which the command sets
    assert re.match(f"error: {wanted}", sentence(run(*arguments.split())))


def test_a_verification_that_fails_has_status_1(monkeypatch):
    for is_same in (True, False):
        monkeypatch.setattr("extras.publish.verify.verify", lambda *given, is_same=is_same: is_same)
        result = run("verify")
        said = "the published results were not reproduced" in result.stderr
        assert (result.exit_code, said) == (1 - is_same, not is_same)


def test_a_run_is_named_by_its_file_without_endings_or_as_it_is_said():
    named = named_runs([Path("a/bge-1.5.trec.gz"), "b.jsonl"], ["mine=c=d.trec"])
    assert named == {"bge-1.5": Path("a/bge-1.5.trec.gz"), "b": Path("b.jsonl"), "mine": Path("c=d.trec")}


@pytest.mark.parametrize("given", [([], []), (["a/x.trec", "b/x.jsonl"], []), (["x.trec"], ["x=y.trec"]), ([], ["=x"])])
def test_runs_without_a_name_of_their_own_are_one_sentence(given):
    with pytest.raises(StudyError, match="--run name=file; .* each with a name of its own"):
        named_runs(*given)


FRAME = pd.DataFrame({"question_id": ["q1"], "doc": ["ACME"], "page": [0]})


@pytest.mark.parametrize(
    ("run", "wanted"),
    [
        ("runs/my.trec.gz", {"my": Path("runs/my.trec.gz")}),
        (Path("my.jsonl"), {"my": Path("my.jsonl")}),
        (FRAME, {"run": FRAME}),
        ({"mine": "my.trec", "other": FRAME}, {"mine": "my.trec", "other": FRAME}),
    ],
)
def test_one_run_or_several_are_measured_by_name(monkeypatch, run, wanted):
    monkeypatch.setattr(retrieval_gap, "diagnose_runs", lambda *given: given)
    runs, *options = retrieval_gap.diagnose(run, Path("my-filings"), pages_from=1, k=10)
    assert options == ["my-filings", "", "default", 1, 10]
    assert runs.keys() == wanted.keys()
    assert all(runs[name] is one or runs[name] == one for name, one in wanted.items())


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"run": None}, "run is a NoneType; give a file, a frame, or files and frames by name, as a dict"),
        ({"run": ["my.trec"]}, "run is a list; give a file, a frame, or files"),
        ({"run": {"mine": None}}, "run is a dict; give a file"),
        ({"run": {1: "my.trec"}}, "run is a dict; give a file"),
        ({"k": None}, "k is None; give a whole number, or leave it out"),
        ({"k": True}, "k is True; give a whole number"),
        ({"k": 5.0}, r"k is 5\.0; give a whole number"),
        ({"k": -5}, "k is -5: say one of 1, 3, 5, 10, 20, or add it"),
        ({"pages_from": True}, "pages_from is True; give a whole number"),
        ({"dataset": None}, "dataset is None; give a name or a path, or leave it out"),
        ({"questions": ["demo"]}, r"questions is \['demo'\]; give a name or a path"),
        ({"profile": 5}, "profile is 5; give a name or a path"),
    ],
)
def test_what_is_no_run_or_no_option_is_one_sentence(given, wanted):
    with pytest.raises(StudyError, match=wanted):
        retrieval_gap.diagnose(**{"run": "my.trec", "dataset": "demo"} | given)


def test_a_folder_as_the_page_is_refused_by_its_own_name(tmp_path):
    result = run("diagnose", "--run", "mine=nowhere.trec", "--out", str(tmp_path))
    assert (result.exit_code, f"File '{tmp_path}' is a directory" in result.stderr) == (2, True)
