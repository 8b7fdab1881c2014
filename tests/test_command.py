"""The command line: every command explains itself, a person's error is one sentence with status 1, runs have names."""

import errno
import hashlib
import itertools
import json
import os
import pkgutil
import re
import shlex
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from unittest.mock import create_autospec

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
from lib.options import Names, named_runs
from lib.schema import StudyError
from lib.studies import OUTPUTS_VARIABLE, open_study

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
OPENING = sorted(set(COMMANDS) - {"methods", "new", "notebook", "verify", "break", "pin"})


def run(*arguments: str):
    """The result of ``python -m lib`` with these arguments."""
    return CliRunner().invoke(command_line.commands, list(arguments))


def making(*arguments: str) -> list[str]:
    """The command line of make in the checkout, without building the environment, and with a program that only prints
    its arguments as JSON."""
    files = [*sorted(ROOT.glob("requirements*.txt")), ROOT / "pyproject.toml"]
    stamp = f"{sys.prefix}/.ready-{hashlib.sha256(b''.join(path.read_bytes() for path in files)).hexdigest()[:12]}"
    return ["make", "-s", "-C", str(ROOT), "-o", stamp, f"VENV={sys.prefix}", f"LIB={PRINTING}", *arguments]


def made(*arguments: str, environment: Mapping[str, str] = MappingProxyType({})) -> list[list[str]]:
    """The arguments that make gives to commands of the program; a target that runs something else too is not run."""
    given = {"capture_output": True, "check": True, "env": os.environ | environment}
    would = subprocess.run([*making(*arguments), "-n"], **given).stdout
    is_safe = all(PRINTING.encode() in line for line in would.splitlines())
    done = subprocess.run(making(*arguments), **given).stdout if is_safe else b""
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


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help_and_is_refused_with_usage_where_an_option_is_wrong(name):
    result, wrong = run(name, "--help"), run(name, "--cook")
    assert result.exit_code == 0
    assert " ".join(COMMANDS[name].help.split()) in " ".join(result.output.split())
    assert (wrong.exit_code, "Usage:" in wrong.stderr) == (2, True)


def test_the_installed_program_prints_the_method_table(monkeypatch, capsys):
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts == {"retrieval-gap": "lib.__main__:main"}
    monkeypatch.setattr(sys, "argv", ["retrieval-gap", "methods"])
    monkeypatch.setattr(sys.stdout, "reconfigure", lambda **given: None, raising=False)  # pytest's lacks it
    with pytest.raises(SystemExit, match="^0$"):
        command_line.main()
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(METHODS)


#: A command with its options, the function that it calls with the study, and the options that this receives.
CALLS = [
    ("measure --methods bm25", "extras.measure.measure", ["bm25"]),
    ("publish", "extras.publish.publish.publish", []),
    ("preflight", "extras.preflight.preflight", []),
    ("page-scorer --by filing --fold 1", "extras.page_scorer.train.train_folds", [("filing",), 1]),
    ("mistakes -k 3", "extras.page_scorer.mistakes.train_mistakes", [3]),
    ("train-ahead", "extras.ahead.train.train", []),
    ("train-preference --fold 0", "extras.preference.train.run", [0]),
]


@pytest.mark.parametrize(("arguments", "called", "given"), CALLS)
def test_a_command_calls_its_function_with_the_study_and_its_options(monkeypatch, arguments, called, given):
    function = create_autospec(pkgutil.resolve_name(called), return_value=defaultdict(int))
    monkeypatch.setattr(called, function)
    monkeypatch.setattr(Names, "open", lambda names, chapter="": names)
    monkeypatch.setattr(command_line, "echo_frame", bool)
    result = run(*arguments.split(), "--dataset", "mine")
    assert result.exit_code == 0, result.output
    function.assert_called_once_with(Names("mine"), *given)


@pytest.mark.parametrize("name", OPENING)
def test_a_dataset_that_is_not_there_is_one_sentence(name):
    result = run(name, *NEEDED.get(name, []), "--dataset", "no/such/folder")
    assert sentence(result).startswith("error: no/such/folder: ")


def test_an_error_of_disk_or_rights_is_one_sentence_and_another_is_a_traceback(monkeypatch):
    full, defect = OSError(errno.ENOSPC, "No space left on device", "/x/y"), OSError(errno.ENOENT, "None", "/no")
    opened = iter([full, defect])
    monkeypatch.setattr(Names, "open", lambda self, chapter="": (_ for _ in ()).throw(next(opened)))
    assert sentence(run("measure")).startswith("error: /x/y: No space left on device; ")
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
        ("notebook ../notebooks/01_data", r".*notebook '\.\./notebooks/01_data'.* 01_data"),
        (r'notebook 03_baselines -p methods "\ud800"', "methods is .*; give its value as YAML"),
        ("notebook 03_baselines -p methods [bm25", r"methods is '\[bm25'; give its value as YAML"),
        ("notebook 03_baselines -p methods 2024-01-01", "methods is '2024-01-01'; give its value as YAML"),
    ],
)
def test_what_is_not_there_or_no_value_is_one_sentence(tmp_path, monkeypatch, arguments, wanted):
    monkeypatch.setenv(OUTPUTS_VARIABLE, str(tmp_path))  # which the command sets
    assert re.match(f"error: {wanted}", sentence(run(*arguments.split())))


def test_a_rerun_prints_the_folder_in_which_its_tables_are(tmp_path, monkeypatch):
    def run_chapter(name, given, target):
        study = open_study(chapter=name, artifacts=tmp_path, **given)
        study.write("tables/one.csv", "a\n")
        return study.write("notebooks/one.ipynb", "{}")

    monkeypatch.setattr(files, "ARTIFACTS", tmp_path)
    monkeypatch.setattr(notebooks, "run", run_chapter)
    monkeypatch.setenv(OUTPUTS_VARIABLE, str(tmp_path))  # which the command sets
    result = run("notebook", "03_baselines", "--dataset", "demo", "-p", "methods", "[bm25, dense]", "-p", "k", "10")
    executed, tables = (line.partition(": ")[2] for line in result.stdout.splitlines())
    assert (Path(executed).is_file(), [path.name for path in Path(tables).iterdir()]) == (True, ["one.csv"])


def test_a_folder_of_the_study_or_none_is_not_begun_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for given in ("", "demo", str(ROOT)):
        assert "name a folder of your own" in sentence(run("new", "--", given))
    assert run("new", "mine").stdout.endswith(f"next: put PDFs into {Path('mine/pdfs')} and say this again\n")


def test_a_verification_that_fails_has_status_1(monkeypatch):
    for is_same in (True, False):
        monkeypatch.setattr("extras.publish.verify.verify", lambda *given, is_same=is_same: is_same)
        result = run("verify")
        said = "the published results were not reproduced" in result.stderr
        assert (result.exit_code, said) == (1 - is_same, not is_same)


def test_a_run_is_named_by_its_file_or_explicitly():
    runs = named_runs([Path("a/bge-1.5.trec.gz"), "b.jsonl"], ["mine=c=d.trec"])
    assert runs == {"bge-1.5": Path("a/bge-1.5.trec.gz"), "b": Path("b.jsonl"), "mine": Path("c=d.trec")}
    for given in ([], []), (["a/x.trec", "b/x.jsonl"], []), (["x.trec"], ["x=y.trec"]), ([], ["=x"]):
        with pytest.raises(StudyError, match="--run name=file"):
            named_runs(*given)


FRAME = pd.DataFrame({"question_id": ["q1"], "doc": ["ACME"], "page": [0]})


@pytest.mark.parametrize("run", ["runs/my.trec.gz", {"my": "runs/my.trec.gz"}, {"my": FRAME}, FRAME])
def test_one_run_or_several_are_measured_by_name(monkeypatch, run):
    monkeypatch.setattr(retrieval_gap, "diagnose_runs", lambda *given: given)
    runs, *options = retrieval_gap.diagnose(run, Path("my-filings"), pages_from=1, k=10)
    assert options == ["my-filings", "", "default", 1, 10, ""]
    assert [*runs] == (["run"] if run is FRAME else ["my"])


@pytest.mark.parametrize(
    "given",
    [
        *({"run": run} for run in (None, ["my.trec"], {"mine": None}, {1: "my.trec"})),
        *({"k": k} for k in (None, True, 5.0, -5)),
        *({"pages_from": True}, {"dataset": None}, {"questions": ["demo"]}, {"profile": 5}),
    ],
)
def test_an_invalid_run_or_option_is_named(given):
    with pytest.raises(StudyError, match=f"^{next(iter(given))} is "):
        retrieval_gap.diagnose(**{"run": "my.trec", "dataset": "demo"} | given)


def test_a_folder_as_the_page_is_refused_by_its_own_name(tmp_path):
    result = run("diagnose", "--run", "mine=nowhere.trec", "--out", str(tmp_path))
    assert (result.exit_code, f"File '{tmp_path}' is a directory" in result.stderr) == (2, True)
