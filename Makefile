# Retrieval Gap. `make help` lists the targets.
SHELL := /bin/bash
export PYTHONDONTWRITEBYTECODE :=  # packages are compiled once, not again by every chapter's kernel
PYTHON ?= python3
VENV := .venv
DATASET ?=
QUESTIONS ?=
PROFILE ?= default
RESULTS ?= published
JOBS ?= 0
NB ?= 03_baselines
PARAMS ?=
METHODS ?=
CHAPTER ?=
PART ?=
Q ?=
RUN ?=
PAGES_FROM ?=
CONDITION ?=
CHROMA ?=
ENGINE ?=
TORCH_INDEX ?=
PIP_FIND_LINKS ?=
LEAST := $(shell sed -n 's/^requires-python = ">=\(.*\)"/\1/p' pyproject.toml)
UV := $(VENV)/bin/uv
INTO = $(VENV)
LOCKED = $(UV) pip install --python $(INTO) --quiet --require-hashes $${PIP_FIND_LINKS:+--find-links "$$PIP_FIND_LINKS"} \
  -c requirements.txt $$(ls -d $(VENV)/lib/*/*/torch-*+cpu.dist-info >/dev/null 2>&1 && echo "-c requirements-cpu.txt")
LIB := $(VENV)/bin/python -m lib
# What a user says reaches a command as typed: expanded nowhere, and read by the shell from its environment alone.
TYPED := DATASET QUESTIONS PROFILE RESULTS JOBS NB PARAMS METHODS CHAPTER PART Q RUN PAGES_FROM CONDITION CHROMA ENGINE TORCH_INDEX PIP_FIND_LINKS
$(foreach name,$(TYPED),$(eval override $(name) := $$(value $(name))))
export $(TYPED)
OPTIONS = --dataset "$$DATASET" --questions "$$QUESTIONS" --profile "$$PROFILE" --results "$$RESULTS"
# $(WITH_WORDS) NAME COMMAND: the command with the words of a variable behind it, parted by quotes and blanks as by a shell.
define PART_WORDS
import os, shlex, sys
name, *command = sys.argv[1:]
try:
    os.execvp(command[0], command + shlex.split(os.environ[name]))
except ValueError as error:
    sys.exit(f"error: {name} is {os.environ[name]!r}: {error}; close every quote")
endef
export PART_WORDS
WITH_WORDS = $(VENV)/bin/python -c "$$PART_WORDS"
STAMP := $(VENV)/.ready-$(shell cat requirements*.txt pyproject.toml | sha256sum | cut -c1-12)

.PHONY: diagnose new index ask asked sure help env examples ray book demo measure notebook results publish verify golden break preflight methods lines test test-demo test-cells test-all lint format clean audit lock
.DEFAULT_GOAL := help

help:  ## print this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12
	@echo
	@echo "Variables: DATASET= financebench | demo | a folder; PROFILE= default | base | paper | smoke | a .yaml file;"
	@echo "QUESTIONS= another question set over the dataset's filings, a folder or the name of a published one;"
	@echo "RESULTS= published | texts (of a language model alone) | fresh (nothing that was published); JOBS= chapters at the same time (0 chooses);"
	@echo "CHROMA= host:port of a served Chroma in place of artifacts/chroma; ENGINE= ray: filings are indexed by a Ray cluster."
	@echo "Example: make notebook NB=03_baselines PARAMS='-p methods \"[bm25]\"'"

env: $(STAMP)  ## build the isolated environment in .venv (done by the other targets when it is missing)

$(UV): requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < tuple(map(int, "$(LEAST)".split("."))))' || { echo "Python $(LEAST) or newer is needed: say PYTHON=python3.11"; exit 1; }
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	@sed -n '/^uv==/,/[^\]$$/p' requirements.txt | $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r /dev/stdin
	@touch $@

$(STAMP): $(UV) requirements-cpu.txt pyproject.toml
	@echo "Building the environment in $(VENV) from requirements.txt: about half a minute, once."
	@if [ "$$(uname)" = Linux ] && ! command -v nvidia-smi >/dev/null; then \
	  $(LOCKED) $${TORCH_INDEX:+--index "$$TORCH_INDEX"} --no-deps -r requirements-cpu.txt 2>/dev/null || \
	  echo "No CPU-only torch here, so the full one is taken (gigabytes). To avoid it: make env UV_TORCH_BACKEND=cpu"; fi
	@$(LOCKED) -r pyproject.toml
	@$(UV) pip install --python $(VENV) --quiet --no-deps --no-build-isolation --editable .
	@rm -f $(VENV)/.ready-* && touch $@

examples: $(STAMP)  ## add LlamaIndex and LangChain to .venv (90 MB), which examples/ uses besides Chroma
	@$(LOCKED) -r pyproject.toml --extra examples

ray: $(STAMP)  ## add Ray to .venv (200 MB), which ENGINE=ray needs
	@$(LOCKED) -r pyproject.toml --extra ray

book: $(STAMP)  ## run every chapter and build the book (DATASET=, PROFILE=, RESULTS=)
	@$(LIB) book $(OPTIONS) --jobs "$$JOBS"

demo: $(STAMP)  ## build the whole book on the embedded synthetic filings; RESULTS=texts computes it, in minutes
	@$(LIB) book --dataset demo --profile "$$PROFILE" --results "$$RESULTS" --jobs "$$JOBS"

measure: $(STAMP)  ## compute runs and metrics without a book: DATASET=, QUESTIONS=, METHODS="bm25 dense" (default all)
	@$(LIB) measure $(OPTIONS) --methods "$${METHODS:-all}"

notebook: $(STAMP)  ## rerun one chapter with changed parameters: NB=03_baselines PARAMS='-p methods "[bm25]"'
	@$(WITH_WORDS) PARAMS $(LIB) notebook "$$NB" $(OPTIONS)

publish: $(STAMP)  ## copy a whole run's results to book/results/ (refuses uncommitted changes and text of the dataset)
	@$(LIB) publish $(OPTIONS)

verify: $(STAMP)  ## recompute and compare with the published results, row by row: METHODS="bm25 dense" or all, or CHAPTER=02_oracles
	@$(LIB) verify $(OPTIONS) --methods "$${METHODS:-bm25}" --chapter "$$CHAPTER"

golden: $(STAMP)  ## compare every published number, run and key with those of commit 0733168; the changelog lists differences
	@$(VENV)/bin/python -m pytest -q tests/publish/test_golden.py

break: $(STAMP)  ## try bad input, hostile text, faults and damage; print each outcome: PART= words of pytest's -k
	@$(VENV)/bin/python -m pytest -q -m breaking $${PART:+-k "$$PART"} tests/breaking

preflight: $(STAMP)  ## report what a profile downloads, whether GPU and disk suffice, and how long it takes (PROFILE=paper)
	@$(LIB) preflight $(OPTIONS)

diagnose: $(STAMP)  ## show where any system loses evidence, from its run: RUN="my.trec other.jsonl" DATASET=, QUESTIONS=; PAGES_FROM=0 or 1, CONDITION=oracle-document
	@$(WITH_WORDS) RUN $(LIB) diagnose --dataset "$$DATASET" --questions "$$QUESTIONS" --profile "$$PROFILE" --pages-from "$$PAGES_FROM" --condition "$$CONDITION"

index: $(STAMP)  ## index a folder of PDFs for make ask: DATASET=path, CHROMA=host:port, ENGINE=ray
	@$(LIB) index --dataset "$$DATASET" --profile "$$PROFILE"

ask: $(STAMP)  ## print the pages that fit a question best: Q="…" DATASET=path, CHROMA=host:port
	@$(LIB) ask --dataset "$$DATASET" --profile "$$PROFILE" -- "$$Q"

sure: $(STAMP)  ## refit the confidence of table readings on FinanceBench's question sets; writes lib/statements/sure.json
	@$(VENV)/bin/python -m extras.sure

asked: $(STAMP)  ## ask the demo's ten questions again for a page of the book; writes lib/book/asked.json
	@$(LIB) index --dataset demo
	@$(VENV)/bin/python -m extras.asked

new: $(STAMP)  ## start with your own filings: DATASET=folder of PDFs; writes metadata from cover pages and a file for questions
	@$(LIB) new -- "$$DATASET"

methods: $(STAMP)  ## print the method table
	@$(LIB) methods

lines:  ## count lines of Python by package of lib, extras and tests
	@git ls-files '*.py' | xargs wc -l | awk '$$2 ~ "/" { split($$2, at, "/"); room = at[1]; \
	  if (room == "lib") { n["lib, all"] += $$1; room = at[3] ? "lib/" at[2] : "lib, root" } \
	  n[room] += $$1; n["all"] += $$1 } END { for (room in n) printf "%7d  %s\n", n[room], room }' | LC_ALL=C sort -k2

results: $(STAMP)  ## pack all results of a built book into artifacts/<dataset>/<profile>/all-results.zip (DATASET=, PROFILE=)
	@$(LIB) results $(OPTIONS)

test: $(STAMP)  ## lint, the floors of lib (pyproject.toml) and the quick tests
	@$(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check .
	@$(VENV)/bin/lint-imports --no-logo --no-cache
	@$(VENV)/bin/python -m pytest -q -m "not slow" -n auto --dist loadfile

test-demo: $(STAMP)  ## build the demo's book and open it in a browser if there is one; recompute cheap rows with fewer processor features (minutes)
	@$(VENV)/bin/python -m pytest -q -n 2 --dist loadfile --durations 5 tests/book/test_demo_book.py tests/publish/test_processors.py

test-cells: $(STAMP)  ## run every chapter on published results, on the demo and with one parameter changed, every cell twice (minutes)
	@$(VENV)/bin/python -m pytest -q -n 2 tests/test_reruns.py

test-all: $(STAMP)  ## run every test except those of make break, including slow ones
	@$(VENV)/bin/python -m pytest -q -m "not breaking"

lint: $(STAMP)  ## lint with ruff
	@$(VENV)/bin/ruff check .

format: $(STAMP)  ## format the code and sort its imports
	@$(VENV)/bin/ruff check --fix . ; $(VENV)/bin/ruff format .

audit: INTO = artifacts/tools
audit: $(UV)  ## check the pinned packages for known vulnerabilities
	@$(UV) venv --quiet --clear $(INTO)
	@$(LOCKED) --group tools
	@$(INTO)/bin/pip-audit --strict --require-hashes --disable-pip --progress-spinner off -r requirements.txt

lock: $(UV)  ## rewrite requirements.txt after a change in pyproject.toml
	@$(UV) pip compile --quiet --universal --python-version $(LEAST) --all-extras --group tools --generate-hashes --no-annotate \
	  --custom-compile-command "make lock" pyproject.toml --output-file requirements.txt

clean:  ## remove built books (results stay in artifacts/)
	@rm -rf book/_build
