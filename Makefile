# Two commands matter: `make demo` and `make test`. Both set up everything they need.
.DEFAULT_GOAL := help
PY := .venv/bin/python
unexport PYTHONDONTWRITEBYTECODE # or every process of the tests and of the demo would compile all it imports anew
HANDS := $(shell expr $$(getconf _NPROCESSORS_ONLN) + 2) # tests wait for browsers and processes now and then
.PHONY: help setup azurite chromium php functions read ready demo demo-azure test screens check errors bench chaos chaos-days fuzz mutants lock clean

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## the virtual environment in .venv
	@scripts/setup

azurite: ## the storage emulator for the tests, in .cache
	@scripts/setup-azurite

chromium: ## the browser for the tests of the dashboard
	@scripts/setup-chromium

php: ## PHP with PHPUnit and phpcs, for the tests of the box module
	@scripts/setup-php

functions: ## the worker of the Functions host for one test, in .cache, if there is a Python 3.13
	@scripts/setup-functions-runtime

read: setup # once for all processes of the tests: each would translate what it collects anew. What is wrong they tell.
	@$(PY) -m pytest --collect-only -qq >/dev/null 2>&1 || true

ready: setup azurite chromium php functions read

demo: setup ## migrate a simulated company to a simulated box, live
	@.venv/bin/b24migrate demo || test $$? -eq 5 # findings are what the simulated company is meant to have

demo-azure: setup azurite ## the same demo on the Azure store: Azurite and two workers
	@$(PY) scripts/demo_azure.py

# Tests allocate and free the same megabytes again and again; glibc gives them back to the system each time.
test: export MALLOC_TRIM_THRESHOLD_ := 268435456
test: export MALLOC_TOP_PAD_ := 16777216
test: ## all tests
	@$(MAKE) --no-print-directory --jobs ready # side by side: they wait for what they load, or use one core
	@$(PY) -m pytest -n $(HANDS) # shared out by tests/shares.py

screens: setup chromium ## pictures of all pages of the dashboard, in artifacts/screens
	@B24MIGRATE_SCREENS=artifacts/screens $(PY) -m pytest tests/browser/test_pages.py tests/browser/test_fidelity.py tests/browser/test_hostile.py

check: setup ## style, types, and imports between packages
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/mypy src tests bench
	@.venv/bin/lint-imports

errors: setup ## docs/errors.md and docs/errors.ru.md from the pages of error codes
	@$(PY) -m b24migrate.messages docs

bench: setup ## speed compared with other clients; writes bench/RESULTS.md
	@$(PY) -m bench

chaos: setup azurite php ## migrations with faults on both sides and random kills: nothing is lost or doubled
	@$(PY) -m tests.chaos
	@$(PY) -m tests.chaos --store azurite --companies 1 --kills 15 # three processes, one of them killed at a time
	@$(PY) -m tests.chaos --target php --companies 1 --kills 12 # to the module for the box, which is killed as well
	@$(PY) -m tests.chaos --target rest --companies 1 --kills 8 # to a box without it, by its own methods
	@$(PY) -m tests.chaos --days 2 --companies 1 # then days of work at the source and on the box, and a `sync` after each

DAYS ?= 5
chaos-days: setup azurite php ## the same with days of work (DAYS=5) and `sync`, ten companies: box = source
	@$(PY) -m tests.chaos --days $(DAYS) --companies 5
	@$(PY) -m tests.chaos --days $(DAYS) --companies 2 --store azurite
	@$(PY) -m tests.chaos --days $(DAYS) --companies 2 --target php
	@$(PY) -m tests.chaos --days $(DAYS) --companies 1 --target rest

SEEDS ?= 200
FIRST ?= 1
fuzz: setup ## invalid answers, by seed (SEEDS=200 FIRST=1): no run stops, and all records arrive in the end
	@$(PY) -m tests.fuzz --seeds $(SEEDS) --first $(FIRST)

SAMPLES ?= 200
SEED ?= 1
mutants: setup azurite ## mutations of the source, by seed (SAMPLES=200 SEED=1), and those that no test detects
	@$(PY) -m tests.mutants --samples $(SAMPLES) --seed $(SEED)

LOCK := uv pip compile --generate-hashes --no-emit-index-url --no-header --universal --python-version 3.11 -q
AZURE := --extra azure --extra monitor --extra functions
lock: ## the locks from pyproject.toml (needs uv): the product, the product on Azure, and all for development
	@$(LOCK) pyproject.toml simulator/pyproject.toml $(AZURE) --group build --group dev -o requirements-dev.lock
	@$(LOCK) pyproject.toml -c requirements-dev.lock --group build -o requirements.lock
	@$(LOCK) pyproject.toml -c requirements-dev.lock $(AZURE) --group build -o requirements-azure.lock

clean: ## removes the virtual environment, the caches and the output of the demo
	@rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .import_linter_cache demo-out bench/out artifacts
