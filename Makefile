# Everything runs in a virtual environment that this file makes: only Python 3.11+ and make are needed.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
OUT ?= out
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
LOCKED := $(PIP) --no-deps --require-hashes --requirement

.PHONY: help reproduce test faults mutations lint format bench docs lock audit clean

help:  ## This list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /: /'

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("SteadyRL needs Python 3.11 or newer, $(PYTHON) is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: $(VENV)/bin/python requirements/base.txt pyproject.toml
	$(LOCKED) requirements/base.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	touch $@

$(VENV)/.dev: $(VENV)/bin/python requirements/dev.txt requirements/torch.txt pyproject.toml
	$(LOCKED) requirements/dev.txt
	$(PIP) --requirement requirements/torch.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	touch $@

reproduce: $(VENV)/.base  ## The Maze study of the paper, with figures, verdicts and a report in out/maze
	$(BIN)/steadyrl reproduce maze --out $(OUT)/maze

test: $(VENV)/.dev  ## All tests
	$(BIN)/python -m pytest -n auto --dist loadgroup tests src

faults: $(VENV)/.dev  ## Every promise of docs/reliability.md, the long way (about 20 minutes); figures in out/faults.jsonl
	mkdir -p $(OUT) && rm -f $(OUT)/faults.jsonl
	STEADYRL_FAULTS=long STEADYRL_FIGURES=$(abspath $(OUT))/faults.jsonl OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/faults
	$(BIN)/python benchmarks/checkpoints.py

mutations: $(VENV)/.dev  ## The protections taken out of the sources one at a time: which of them would no test miss?
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.faults.mutate

lint: $(VENV)/.dev  ## Style, types, direction of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev  ## Put the code in its canonical form
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.dev  ## Side by side, as ratios
	$(BIN)/python benchmarks/measures.py
	$(BIN)/python benchmarks/maze.py
	$(BIN)/python benchmarks/steppers.py
	$(BIN)/python benchmarks/workers.py
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/baselines.py
	$(BIN)/python benchmarks/study.py

docs: $(VENV)/.docs  ## The site, in site/
	$(BIN)/mkdocs build --strict

$(VENV)/.docs: $(VENV)/bin/python requirements/docs.txt pyproject.toml
	$(LOCKED) requirements/docs.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	touch $@

lock: $(VENV)/.dev  ## Renew the lock files
	$(PIP) pip-tools
	$(BIN)/python requirements/lock.py

audit: $(VENV)/bin/python  ## Known vulnerabilities of the locked packages; asks the advisory service of PyPI
	$(PYTHON) -m venv $(VENV)/audit
	$(VENV)/audit/bin/python -m pip --disable-pip-version-check install --quiet pip-audit
	for set in base dev docs torch; do \
	  $(VENV)/audit/bin/pip-audit --strict --progress-spinner off --no-deps --disable-pip --requirement requirements/$$set.txt \
	    || { echo "requirements/$$set.txt: has a known vulnerability, or the advisory service cannot be reached from here (requirements/audit.py asks in another way)"; exit 1; }; \
	done

clean:  ## Remove what was made
	rm -rf $(VENV) $(OUT) site dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
