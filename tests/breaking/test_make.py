"""Words that a user gives make reach the program as they were typed: make expands none of them, no shell runs them."""

import re
import shlex
import subprocess

import pytest

from lib.files import ROOT
from tests.breaking.damage import cases
from tests.test_command import MAKEFILE, made, making

pytestmark = pytest.mark.breaking

ODD = {
    "dollars": "Which note covers the $500 million loan, $5 $ $$ $$$ $(5) ${x} $HOME $(Q) $(value Q)?",
    "a command": "$(touch pwned) $(shell touch pwned) `touch pwned` ; touch pwned | touch pwned & touch pwned > pwned",
    "an end of quotes": "'; touch pwned; \"; touch pwned; '\"",
    "functions of make": "$(error stop) $(eval Q := x) $(foreach x,1 2,$(x)) $(call Q) $(info pwned)",
    "words of make": "define Q\nendef\noverride export include ifdef\n\ttouch pwned",
    "an apostrophe": "What was Acme's revenue?",
    "a quote": '"',
    "lines": "one\ntwo\r\n\nthree\n",
    "backslashes": "a\\b \\\\ \\\nc \\",
    "signs": "# ! % ~ * ? [a-z] {a,b} < > = := += @ - + : ; , \t|",
    "an option": "--help",
    "letters": "Société Générale 売上高 \u2028 \U0001f4b0",
    "no UTF-8": "caf\udce9",
}
#: A target, a variable that it takes, and the word before it on the command line.
TAKEN = [
    ("ask", "Q", "--"),
    ("new", "DATASET", "--"),
    ("index", "DATASET", "--dataset"),
    ("index", "PROFILE", "--profile"),
    ("measure", "QUESTIONS", "--questions"),
    ("verify", "METHODS", "--methods"),
    ("verify", "CHAPTER", "--chapter"),
    ("notebook", "NB", "notebook"),
    ("book", "RESULTS", "--results"),
    ("book", "JOBS", "--jobs"),
    ("diagnose", "PAGES_FROM", "--pages-from"),
]
#: Expanded by make into a recipe: what the Makefile itself says, and programs and folders that a maintainer names.
OF_THE_MAKEFILE = {*"PYTHON VENV UV INTO LOCKED LIB OPTIONS WITH_WORDS STAMP LEAST MAKEFILE_LIST".split()}


@pytest.fixture(autouse=True)
def _nothing_is_run(tmp_path, monkeypatch):
    """What an odd word would run would leave a file, here or in the checkout."""
    monkeypatch.chdir(tmp_path)
    yield
    assert not [at for at in (tmp_path, ROOT) if (at / "pwned").exists()]


@pytest.mark.parametrize("is_in_environment", [False, True], ids=["argument", "environment"])
@pytest.mark.parametrize(("target", "name", "before"), TAKEN)
@cases("text", ODD)
def test_a_word_is_handed_over_as_it_was_typed(target, name, before, text, is_in_environment):
    given = [target] if is_in_environment else [target, f"{name}={text}"]
    [words] = made(*given, environment={name: text} if is_in_environment else {})
    assert text in words
    assert words[words.index(text) - 1] == before


def test_no_recipe_expands_what_a_user_says():
    """A recipe reads a user's words from the environment, as ``$$NAME``: neither make nor a shell expands them."""
    lines = [line for line in MAKEFILE.splitlines() if line.startswith(("\t", "OPTIONS", "LOCKED", "  -c"))]
    assert {*re.findall(r"(?<!\$)\$[({](?:if )?\$?[({]?([A-Z_]+)", "\n".join(lines))} <= OF_THE_MAKEFILE
    given = {*re.findall(r"(?m)^([A-Z_]+) \?=", MAKEFILE)} - {"PYTHON"}
    assert given == {*re.search(r"(?m)^TYPED := (.*)$", MAKEFILE)[1].split()}


@pytest.mark.parametrize(("name", "target"), [("RUN", "diagnose"), ("PARAMS", "notebook")])
@cases("text", ODD)
def test_words_are_parted_as_by_a_shell_and_not_run(name, target, text):
    [words] = made(target, f"{name}=-p methods {shlex.quote(text)} \"[bm25, dense]\" '' a\\ b")
    assert words[-6:] == ["-p", "methods", text, "[bm25, dense]", "", "a b"]


@pytest.mark.parametrize(("name", "target"), [("RUN", "diagnose"), ("PARAMS", "notebook")])
def test_a_quote_that_is_not_closed_is_named(name, target):
    done = subprocess.run(making(target, f"{name}=a 'b"), capture_output=True, text=True)
    assert done.returncode != 0
    assert f"error: {name} is " in done.stderr
    assert "Traceback" not in done.stderr
