# Recipes; `make` lists them. CI runs the same commands (.ci/run).
VENV ?= .venv
.DEFAULT_GOAL := help

help: ## list the recipes
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

setup: ## make the environment with all development tools
	python3 -m venv $(VENV) && $(VENV)/bin/pip install -q -e '.[dev]'

test: ## run the tests
	$(VENV)/bin/pytest -q

lint: ## ruff, mypy, import-linter
	$(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check . && VENV=$(VENV) bash .ci/types && $(VENV)/bin/lint-imports

format: ## rewrite the layout of the code
	$(VENV)/bin/ruff check --fix . && $(VENV)/bin/ruff format .

golden: ## rewrite the golden outputs; review them as a diff
	$(VENV)/bin/pytest -q tests/golden --update-golden

docs: ## rewrite the generated parts of the documents
	$(VENV)/bin/python -m docs.generate
	$(VENV)/bin/mmp report samples/linux-leak-v1.0.mmp -o docs/examples/leak.html --force

bench: ## measure every figure and rewrite docs/benchmarks.md
	$(VENV)/bin/python -m benchmarks --markdown

build: ## build wheel, sdist and the one-file collector
	rm -rf build dist && SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(VENV)/bin/uv build -q --no-create-gitignore && $(VENV)/bin/python -m mmpscope.collector.build -o dist/mmp-collect.pyz

.PHONY: help setup test lint format golden docs bench build
