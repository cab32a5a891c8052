# Lockgate's commands. Each works from a fresh clone; `make help` lists them.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help venv demo test check e2e truth cluster corpus bench generate lock format clean

help:  ## show this list
	@grep -hE '^[a-z0-9]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9]+):.*## (.*)$$/  make \1\t\2/' | expand -t 18

$(STAMP): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "lockgate needs Python 3.11 or newer, this is " + sys.version.split()[0])'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) (once)" >&2
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

venv: $(STAMP)  ## make the virtual environment with the locked dependencies

demo: $(STAMP)  ## what `kubectl gpu why` says of recorded clusters: no root, no Go, no cluster
	@$(BIN)/python tools/demo.py

test: $(STAMP)  ## the quick suite: no root, no Go, minutes
	$(BIN)/python -m pytest -q -n auto -m "not e2e and not truth and not gpu" tests

check: $(STAMP)  ## lint, format, types, layers, generated files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/generate.py --check

e2e: $(STAMP)  ## the real cluster: needs root, Go and gcc; builds Kubernetes once into the user's cache
	$(BIN)/python -m tests.cluster build
	$(BIN)/python -m pytest -q -m e2e tests/cluster

truth: $(STAMP)  ## compare the models with the real programs on fresh generated cases; needs root, Go and gcc
	$(BIN)/python -m tests.cluster build
	$(BIN)/python -m pytest -q -m truth tests

cluster: $(STAMP)  ## a real two-node cluster with Lockgate in it, and a shell
	$(BIN)/python -m tests.cluster shell --install

corpus: $(STAMP)  ## how often `why` is right, on thousands of questions with known answers; a minute
	@$(BIN)/python -m tests.corpus --misses

bench: $(STAMP)  ## what is timed, against what
	$(BIN)/python -m bench

generate: $(STAMP)  ## write every generated file
	$(BIN)/python tools/generate.py

format: $(STAMP)  ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: $(STAMP)  ## write requirements.lock anew (no registry addresses in it)
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-emit-index-url --no-annotate --python-version 3.11 \
	  --all-extras --group dev pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-emit-index-url --no-annotate --python-version 3.11 \
	  --extra node --extra operator pyproject.toml -o deploy/image/requirements.lock
	sed -i "/^--/d" requirements.lock deploy/image/requirements.lock

clean:  ## remove what this folder's commands made here (the user's cache stays)
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
