# Retrieval Gap. `make help` lists the targets.
SHELL := /bin/bash
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
PART ?= all
ENGINE ?= process
Q ?=
TORCH_INDEX ?=
PACKAGES := $(wildcard requirements*.txt)
PIP := $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check
RUN := $(VENV)/bin/python -m lib
OPTIONS = --dataset "$(DATASET)" --questions "$(QUESTIONS)" --profile "$(PROFILE)" --results "$(RESULTS)"
STAMP := $(VENV)/.ready-$(shell cat requirements.txt requirements-c*.txt pyproject.toml | sha256sum | cut -c1-12)
IS_CPU := $(VENV)/bin/python -m pip show torch 2>/dev/null | grep -q '^Version:.*+cpu'
define TOOLS
@test -d artifacts/tools || $(PYTHON) -m venv artifacts/tools
@artifacts/tools/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-tools.txt
endef
UV := artifacts/tools/bin/uv pip compile --quiet --generate-hashes --no-deps --no-header --no-annotate

.PHONY: index ask help env book demo measure notebook publish verify break preflight methods test test-all lint format clean audit lock
.DEFAULT_GOAL := help

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12
	@echo
	@echo "Variables: DATASET= financebench | demo | a folder; PROFILE= default | base | paper | smoke | a .yaml file;"
	@echo "QUESTIONS= another question set over the dataset's filings, a folder or the name of a published one;"
	@echo "RESULTS= published | fresh; JOBS= chapters at the same time (0 decides)."
	@echo "Example: make notebook NB=03_baselines PARAMS='-p methods \"[bm25]\"'"

env: $(STAMP)  ## build the isolated environment in .venv (done by the other targets when it is missing)

$(STAMP): requirements.txt requirements-cpu.txt requirements-cuda.txt pyproject.toml
	@echo "Building the environment in $(VENV) from requirements.txt: about five minutes, once."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: say PYTHON=python3.11"; exit 1; }
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	@if ! command -v nvidia-smi >/dev/null; then \
	  $(PIP) --no-deps --require-hashes $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) -r requirements-cpu.txt 2>/dev/null || \
	  echo "No CPU-only torch here, so the full one is taken (gigabytes). To avoid it: make env TORCH_INDEX=<PyTorch's CPU index>"; fi
	@$(PIP) --no-deps --require-hashes -r requirements.txt
	@if [ "$$(uname)" = Linux ] && ! $(IS_CPU); then $(PIP) --no-deps --require-hashes -r requirements-cuda.txt; fi
	@$(PIP) --no-deps --no-build-isolation --editable .
	@rm -f $(VENV)/.ready-* && touch $@

book: $(STAMP)  ## run every chapter and build the book (DATASET=, PROFILE=, RESULTS=)
	@$(RUN) book $(OPTIONS) --jobs $(JOBS)

demo: $(STAMP)  ## the whole book on the embedded synthetic filings, in two minutes
	@$(RUN) book --dataset demo --profile "$(PROFILE)" --results "$(RESULTS)" --jobs $(JOBS)

measure: $(STAMP)  ## runs and metrics without a book: DATASET=, QUESTIONS=, METHODS="bm25 dense" (default all)
	@$(RUN) measure $(OPTIONS) --methods "$(or $(METHODS),all)"

notebook: $(STAMP)  ## rerun one chapter with changed parameters: NB=03_baselines PARAMS='-p methods "[bm25]"'
	@$(RUN) notebook $(NB) $(OPTIONS) $(PARAMS)

publish: $(STAMP)  ## copy a whole run's results to book/results/ (refuses uncommitted changes and text of the dataset)
	@$(RUN) publish $(OPTIONS)

verify: $(STAMP)  ## compute again and compare with what was published, row by row: METHODS="bm25 dense" or all, or CHAPTER=02_oracles
	@$(RUN) verify $(OPTIONS) --methods "$(or $(METHODS),bm25)" --chapter "$(CHAPTER)"

break: $(STAMP)  ## try bad input, hostile text, faults and damage; print what came of each: PART=all | inputs | publication | book
	@$(RUN) break $(PART)

preflight: $(STAMP)  ## what a profile would download, whether GPU and disk suffice, how long it takes (PROFILE=paper)
	@$(RUN) preflight $(OPTIONS)

index: $(STAMP)  ## index a folder of PDFs for make ask: DATASET=path; ENGINE=process | ray (on RAY_ADDRESS, or here)
	@$(RUN) index --dataset "$(DATASET)" --profile "$(PROFILE)" --engine "$(ENGINE)"

ask: $(STAMP)  ## print the pages that fit a question best: Q="…" DATASET=path
	@$(RUN) ask --dataset "$(DATASET)" --profile "$(PROFILE)" "$(Q)"

methods: $(STAMP)  ## print the method table
	@$(RUN) methods

test: $(STAMP)  ## lint, the floors of lib (pyproject.toml) and the quick tests
	@$(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check .
	@$(VENV)/bin/lint-imports --no-logo --no-cache
	@$(VENV)/bin/python -m pytest -q -m "not slow"

test-all: $(STAMP)  ## every test, the slow ones too
	@$(VENV)/bin/python -m pytest -q

lint: $(STAMP)  ## ruff's opinion
	@$(VENV)/bin/ruff check .

format: $(STAMP)  ## format the code and sort its imports
	@$(VENV)/bin/ruff check --fix . ; $(VENV)/bin/ruff format .

audit:  ## look the pinned packages up among known vulnerabilities
	$(TOOLS)
	@artifacts/tools/bin/pip-audit --strict --require-hashes --disable-pip --progress-spinner off $(addprefix -r ,$(filter-out requirements-cpu.txt,$(PACKAGES)))

lock:  ## write the hashes of all pinned packages, after a name or version in requirements*.txt was changed
	$(TOOLS)
	@for file in $(filter-out requirements-cpu.txt,$(PACKAGES)); do \
	  grep -oE '^[A-Za-z0-9][^ ;]*' $$file | sort -u > artifacts/tools/names.in; \
	  platform=$$([ $$file = requirements-cuda.txt ] && echo --python-platform=x86_64-manylinux_2_28); \
	  $(UV) $$platform artifacts/tools/names.in --output-file artifacts/tools/new.txt && \
	  { grep '^#' $$file; cat artifacts/tools/new.txt; } > artifacts/tools/file.txt && cp artifacts/tools/file.txt $$file || exit 1; \
	done

clean:  ## remove built books (what was computed stays in artifacts/)
	@rm -rf book/_build
