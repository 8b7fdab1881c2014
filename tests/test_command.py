"""The command line: texts name commands that exist, a person's error is one sentence with status 1, runs have names."""

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
from collections.abc import Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
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
from lib.options import named_runs
from lib.schema import Names, StudyError
from lib.studies import OUTPUTS_VARIABLE, open_study
from lib.study import Study

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


def test_the_installed_program_prints_the_method_table(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["retrieval-gap", "methods"])
    monkeypatch.setattr(sys.stdout, "reconfigure", lambda **given: None, raising=False)  # pytest's lacks it
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    with pytest.raises(SystemExit, match="^0$"):
        pkgutil.resolve_name(scripts["retrieval-gap"])()
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(METHODS)


#: A command with its options, the function that it calls with the study, and the options that this receives.
CALLS = [
    ("measure --methods bm25", "extras.measure.measure", ["bm25"]),
    ("page-scorer --by filing --fold 1", "extras.page_scorer.train.train_folds", [("filing",), 1]),
    ("mistakes -k 3", "extras.page_scorer.mistakes.train_mistakes", [3]),
    ("train-preference --fold 0", "extras.preference.train.run", [0]),
]


@pytest.mark.parametrize(("arguments", "called", "given"), CALLS)
def test_a_command_calls_its_function_with_the_study_and_its_options(monkeypatch, arguments, called, given):
    function = create_autospec(pkgutil.resolve_name(called))
    monkeypatch.setattr(called, function)
    study = SimpleNamespace(alone=nullcontext)
    monkeypatch.setattr("lib.__main__.open_named", lambda names, chapter="": study if names == Names("mine") else None)
    monkeypatch.setattr(command_line, "echo_frame", bool)
    result = run(*arguments.split(), "--dataset", "mine")
    assert result.exit_code == 0, result.output
    function.assert_called_once_with(study, *given)


@pytest.mark.parametrize("name", OPENING)
def test_a_dataset_that_is_not_there_is_one_sentence(name):
    assert "no/such/folder" in sentence(run(name, *NEEDED.get(name, []), "--dataset", "no/such/folder"))


#: A command line that cannot be, and a word of its one sentence.
WRONG = {
    "nothing published": ("verify --dataset no/such/folder", "folder"),
    "no chapter": ("notebook ../notebooks/01_data", "'../notebooks/01_data'"),
    "half a letter": (r'notebook 03_baselines -p methods "\ud800"', "methods"),
    "half a list": ("notebook 03_baselines -p methods [bm25", "'[bm25'"),
    "a date": ("notebook 03_baselines -p methods 2024-01-01", "'2024-01-01'"),
}


@pytest.mark.parametrize(("arguments", "culprit"), WRONG.values(), ids=WRONG)
def test_what_is_not_there_or_no_value_is_one_sentence(tmp_path, monkeypatch, arguments, culprit):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(OUTPUTS_VARIABLE, str(tmp_path))  # which the command sets
    assert culprit in sentence(run(*arguments.split()))


@pytest.mark.parametrize("folder", ["", "demo", str(ROOT)])
def test_a_folder_of_the_study_or_none_is_not_begun_in(folder):
    assert "name a folder of your own" in sentence(run("new", "--", folder))


def test_an_error_of_disk_or_rights_is_one_sentence_and_another_is_a_traceback(monkeypatch):
    full, defect = OSError(errno.ENOSPC, "No space left on device", "/x/y"), OSError(errno.ENOENT, "None", "/no")
    opened = iter([full, defect])
    monkeypatch.setattr("lib.__main__.open_named", lambda names, chapter="": (_ for _ in ()).throw(next(opened)))
    assert "/x/y" in sentence(run("measure"))
    assert run("measure").exception is defect


def test_a_book_and_measure_write_while_no_other_of_the_dataset_does(monkeypatch, tmp_path):
    def write(study, *given):
        with pytest.raises(Timeout):
            FileLock(tmp_path / "locks" / "outputs-demo.lock").acquire(timeout=0)
        done.append(given[:1])

    done = []
    monkeypatch.setattr("lib.book.build._build", lambda study, given, index, *others: write(study, *others))
    monkeypatch.setattr("extras.measure.measure", write)
    demo = SimpleNamespace(artifacts=tmp_path, dataset=SimpleNamespace(name="demo"), store=SimpleNamespace(say=print))
    demo.alone = partial(Study.alone, demo)
    for module in ("lib.book.build", "lib.__main__"):
        monkeypatch.setattr(f"{module}.open_named", lambda names, chapter: demo)
    assert run("book", "--jobs", "3").exit_code == run("measure", "--methods", "bm25").exit_code == 0
    assert done == [(3,), ("bm25",)]


def test_a_rerun_writes_and_prints_a_folder_of_its_own(tmp_path, monkeypatch):
    def run_chapter(name, given, target):
        open_study(chapter=name, artifacts=tmp_path, **given).write("tables/one.csv", "a\n")
        return target

    monkeypatch.setattr(files, "ARTIFACTS", tmp_path)
    monkeypatch.setattr(notebooks, "run", run_chapter)
    monkeypatch.setenv(OUTPUTS_VARIABLE, str(tmp_path))  # which the command sets
    result = run("notebook", "03_baselines", "--dataset", "demo", "-p", "methods", "[bm25, dense]", "-p", "k", "10")
    _, tables = (line.partition(": ")[2] for line in result.stdout.splitlines())
    assert [*tmp_path.glob("reruns/03_baselines-*/tables/*")] == [Path(tables) / "one.csv"]


@pytest.mark.parametrize("is_same", [True, False])
def test_a_verification_that_fails_has_status_1(monkeypatch, is_same):
    monkeypatch.setattr("extras.publish.verify.verify", lambda *given: is_same)
    assert run("verify").exit_code == (0 if is_same else 1)


def test_a_run_is_named_by_its_file_or_explicitly():
    runs = named_runs([Path("a/bge-1.5.trec.gz"), "b.jsonl"], ["mine=c=d.trec"])
    assert runs == {"bge-1.5": Path("a/bge-1.5.trec.gz"), "b": Path("b.jsonl"), "mine": Path("c=d.trec")}
    for given in ([], []), (["a/x.trec", "b/x.jsonl"], []), (["x.trec"], ["x=y.trec"]), ([], ["=x"]):
        with pytest.raises(StudyError, match="--run"):
            named_runs(*given)


FRAME = pd.DataFrame({"question_id": ["q1"], "doc": ["ACME"], "page": [0]})


@pytest.mark.parametrize("run", ["runs/my.trec.gz", {"my": "runs/my.trec.gz"}, {"my": FRAME}, FRAME])
def test_one_run_or_several_are_measured_by_name(monkeypatch, run):
    monkeypatch.setattr(retrieval_gap, "diagnose_runs", lambda *given: given)
    runs, *options = retrieval_gap.diagnose(run, Path("my-filings"), pages_from=1, k=10)
    assert options == ["my-filings", "", "default", 1, 10, ""]
    assert [*runs] == (["run"] if run is FRAME else ["my"])


INVALID = [("run", None), ("run", ["my.trec"]), ("run", {"mine": None}), ("run", {1: "my.trec"}), ("k", True)]
INVALID += [("k", 5.0), ("k", -5), ("pages_from", True), ("dataset", None), ("profile", 5)]


@pytest.mark.parametrize(("name", "value"), INVALID)
def test_an_invalid_run_or_option_is_named(name, value):
    with pytest.raises(StudyError, match=f"^{name} is "):
        retrieval_gap.diagnose(**{"run": "my.trec", "dataset": "demo"} | {name: value})
