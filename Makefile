# Each target sets up all it needs on a machine with Python 3.11 or newer: packages in .venv, the CDK CLI in
# node_modules. Setting up again happens only when pyproject.toml, constraints.txt or package-lock.json change.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo synth test test-aws test-sdk compiled bench check lint format readme docs lock clean

VENV := .venv
BIN := $(VENV)/bin
PIP := 26.3# the first thing in a new .venv: installs dependency groups
INSTALL := python -m pip install --quiet --constraint constraints.txt
DEV := setup $(VENV)/.installed-dev

export PATH := $(CURDIR)/$(BIN):$(CURDIR)/node_modules/.bin:$(PATH)
unexport PYTHONDONTWRITEBYTECODE# aws_cdk takes seconds to import without bytecode
unexport VIRTUAL_ENV
unexport PYTHONPATH

help: ## say what there is
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 16

demo: setup ## deploy the example stacks onto a local AWS, and see quotas lend, reclaim and preempt
	@python -m examples.demo

synth: setup ## synthesize the example stacks with the CDK CLI, and judge them
	@rm -rf cdk.out
	cdk synth --quiet
	quotactl check cdk.out

test: check ## lint, types and every test
	QUOTA_CONSTRUCTS_FLAGS=none pytest -q -m "not slow" tests/quota_constructs tests/stacks
	QUOTA_CONSTRUCTS_FLAGS=recommended pytest

test-aws: $(DEV) ## ask a real AWS account what it does; says what that costs, and asks first
	python -m tests.conformance

test-sdk: setup ## test with the SageMaker Python SDK, in build/sdk since it is large
	@test -x build/sdk/bin/python || .ci/new-venv build/sdk
	@build/sdk/bin/python -m pip install --quiet pip==$(PIP)
	@build/sdk/bin/python -m pip install --quiet --editable '.[local]' --group sdk
	build/sdk/bin/python -m pytest tests/sdk

compiled: $(DEV) ## compile the scheduler into a wheel in build/compiled, and test that one
	@python -m tools.compiled
	COMPILED_PACKAGES=build/compiled/packages pytest -q tests/repository/test_compiled.py

bench: $(DEV) ## measure, each figure against its reference
	python -m benchmarks

check: $(DEV) ## lint, format and types
	ruff check
	ruff format --check
	mypy

lint: check

format: $(DEV) ## format, and fix what can be fixed
	ruff check --fix
	ruff format

readme: setup ## write the README's generated parts anew
	python -m tools.readme

docs: $(DEV) ## build the documentation site into site/
	NO_MKDOCS_2_WARNING=1 python -m mkdocs build --quiet

setup: $(VENV)/.installed node_modules/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || .ci/new-venv $(VENV)
	@python -m pip --version | grep -q "^pip $(PIP) " || python -m pip install --quiet pip==$(PIP)
	@if node --version 2>/dev/null | grep -Eq '^v(2[2-9]|[3-9][0-9])'; then node=; else node='--group node'; fi; \
	$(INSTALL) --build-constraint constraints.txt --editable '.[local]' $$node
	@.ci/link-node $(BIN)
	@touch $@

# What developing takes more than using: not worth the wait before a first demo.
$(VENV)/.installed-dev: $(VENV)/.installed
	@$(INSTALL) --group dev
	@touch $@

node_modules/.installed: package.json package-lock.json | $(VENV)/.installed
	@npm ci --no-audit --no-fund --loglevel=error
	@touch $@

lock: ## pin the newest packages that fit, in constraints.txt
	@rm -rf build/lock && .ci/new-venv build/lock
	@build/lock/bin/python -m pip install --quiet pip==$(PIP)
	@build/lock/bin/python -m pip install --quiet --editable '.[local]' --group dev --group node
	@{ sed -n '/^#/p' constraints.txt; build/lock/bin/python -m pip freeze --all --exclude pip --exclude-editable; } > build/constraints.txt
	@mv build/constraints.txt constraints.txt

clean: ## forget everything that make has set up or built
	rm -rf $(VENV) node_modules cdk.out build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis
