# The two commands that matter: `make sweep` and `make test`. Everything is installed into .venv on first use.
PYTHON ?= python3
VENV ?= .venv
CONSTRAINTS ?= constraints.txt
PYTEST_ARGS ?=
# Workers for the tests; each takes a core and about 1 GiB.
JOBS ?= 2
# Seeds with which `make verify` judges each shipped kernel.
SEEDS ?= 200

BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: venv sweep test test-all verify lint format bench clean

venv: $(STAMP)

$(STAMP): pyproject.toml $(wildcard $(CONSTRAINTS))
	@echo "installing into $(VENV): some minutes and 2 GB, once"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet $(if $(CONSTRAINTS),--constraint $(CONSTRAINTS)) --editable '.[triton,examples,dev]'
	@# Ray does not start where this one is importable and no driver is: it lies aside, where only its tests look.
	$(BIN)/python -m pip install --quiet --no-deps --target $(VENV)/aside 'amdsmi>=6.3'
	touch $@

sweep: venv  ## the shipped kernels on every chip that can be judged here
	$(BIN)/kab-mc sweep --config quickstart

test: venv lint  ## what a change must pass
	$(BIN)/python -m pytest -n $(JOBS) $(PYTEST_ARGS)

test-all: venv lint  ## the same with all tasks, and with what takes too long for every change: for the night
	ALL_TASKS=1 $(BIN)/python -m pytest -n $(JOBS) -m "thorough or not thorough" $(PYTEST_ARGS)
	$(BIN)/kab-mc tasks verify --elements 4096

verify: venv  ## whether the tasks' checkers can be trusted, and accept the shipped kernels every time; takes hours
	$(BIN)/kab-mc tasks verify --seeds 5
	$(BIN)/kab-mc tasks verify --kernels --seeds $(SEEDS) --jobs $(JOBS) --elements 4096

lint: venv
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: venv
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: venv  ## what the harness itself costs
	$(BIN)/python benchmarks/compile_gate.py

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache build dist
