# Needs only make and Python 3.11 or newer: every target builds what it needs, in .venv, from the hashed locks.

PYTHON ?= python3
# The Python that Lambda runs; PYENV_VERSION helps where pyenv hides it.
PYTHON_LAMBDA ?= PYENV_VERSION=3.13 python3.13
BIN := .venv/bin
RUN := $(BIN)/python
SOURCES := functions layers tools
CHECKED := $(SOURCES) $(wildcard tests benchmarks requirements)
# The machine that a deployment package is for: this one's, unless ARCH says otherwise.
ARCH ?= $(if $(filter aarch64 arm64,$(shell uname -m)),arm64,x86_64)
PACKED := template.yaml $(shell find functions layers -name __pycache__ -prune -o -type f -print)
COVERAGE := --cov --cov-report=term
UV := uv==0.13.9

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo test quick campaign check conformance cost serve bench eval lock lint-template wheel build size invoke clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 15

setup: .venv/.installed ## Make .venv: the locked packages and this project, editable
	@:

demo: .venv/.installed ## Publish a few texts to a temporary dataset and search them
	@$(RUN) -m local_gateway.demo $(ARGS)

serve: .venv/.installed ## Serve the tool on this machine (options in ARGS)
	@$(RUN) -m local_gateway $(ARGS)

test: .venv/.installed ## Run the tests with coverage (paths and options in ARGS)
	@OMP_NUM_THREADS=1 $(RUN) -m pytest -n 2 $(if $(ARGS),$(ARGS),$(COVERAGE))

quick: .venv/.installed ## Run the tests without the long behaviour tests and the slow ones, in two minutes (options in ARGS)
	@OMP_NUM_THREADS=1 $(RUN) -m pytest -q -n 2 --ignore tests/behaviour -m "not slow" $(ARGS)

campaign: .venv/.installed ## Run the behaviour tests at full length: races, kills, isolation; an hour (options in ARGS)
	@CAMPAIGN=1 OMP_NUM_THREADS=1 $(RUN) -m pytest -q -n 2 tests/behaviour $(ARGS)

check: .venv/.installed ## Lint, check the format, types and spelling, and run the architecture tests
	@$(BIN)/ruff check --quiet $(CHECKED)
	@$(BIN)/ruff format --quiet --diff $(CHECKED)
	@$(BIN)/mypy $(CHECKED)
	@git ls-files -z '*.md' '*.py' '*.toml' '*.yaml' '*.yml' Makefile | xargs -0 $(BIN)/codespell
	@$(RUN) -m pytest -q tests/architecture

conformance: .venv/.installed tests/conformance/node_modules/.installed ## Run the official MCP suite against the handler (options in ARGS)
	@$(RUN) -m tests.conformance $(ARGS)

cost: .venv/.installed ## Measure what a million calls cost and write docs/cost.md (ARGS=--kept: only write)
	@OMP_NUM_THREADS=1 $(RUN) -m benchmarks.cost.estimate $(ARGS)

bench: .venv/.installed ## Measure speed, memory, requests and cost; one table (options in ARGS)
	@OMP_NUM_THREADS=1 $(RUN) -m benchmarks.bench $(ARGS)

eval: .venv/.installed ## Measure search quality on test collections: EVAL_DIR=folder (options in ARGS)
	@OMP_NUM_THREADS=1 $(RUN) -m benchmarks.eval --eval-dir "$(EVAL_DIR)" --pages-dir "$(PAGES_DIR)" $(ARGS)

lock: .venv-lock/.installed ## Compile the locks again (ARGS=--upgrade for newer versions)
	@PATH="$(CURDIR)/.venv-lock/bin:$$PATH" .venv-lock/bin/python requirements/lock.py $(ARGS)

lint-template: .venv-deploy/.installed .venv-audit/.installed ## Check the deployment template: SAM, CloudFormation, security
	@SAM_CLI_TELEMETRY=0 AWS_DEFAULT_REGION=us-east-1 .venv-deploy/bin/sam validate --lint
	@.venv-deploy/bin/cfn-lint --include-checks I --non-zero-exit-code informational --template template.yaml
	@.venv-audit/bin/checkov --config-file .checkov.yaml

wheel: .venv/.installed ## Build the wheel, install it into an empty environment and use it (PYTHON=python3.13)
	@$(RUN) -m tests.wheel --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')"

build: .aws-sam/$(ARCH).stamp ## Build the deployment package (ARCH=arm64 or x86_64)
	@rm -rf .aws-sam/build && cp -R .aws-sam/$(ARCH) .aws-sam/build

size: .venv/.installed .aws-sam/x86_64.stamp .aws-sam/arm64.stamp ## Weigh the packages for both machines and check what is in them
	@$(RUN) -m lambda_emulator.size .aws-sam/x86_64 .aws-sam/arm64

invoke: .venv/.installed .venv-deploy/.installed .venv-lambda/.installed ## Run what was built as Lambda would: EVENT=events/x.json, or all
	@$(RUN) -m lambda_emulator $(EVENT) --python .venv-lambda/bin/python $(ARGS) \
		--emulator "$$(find .venv-deploy/lib -name 'aws-lambda-rie-$(ARCH)')"

clean: ## Remove what the other targets made
	@rm -rf .venv .venv-audit .venv-deploy .venv-lambda .venv-lock .venv-rivals .aws-sam build dist .coverage .coverage.* htmlcov .mypy_cache .pytest_cache .ruff_cache .hypothesis
	@find $(SOURCES) $(wildcard tests benchmarks requirements) -name __pycache__ -prune -exec rm -rf {} +

# Two stamps: a changed lock reinstalls the packages, a changed pyproject.toml only this project.
.venv/.packages: requirements/dev.txt
	@$(call need_python)
	@test -x $(RUN) || { echo 'Making .venv' >&2; $(PYTHON) -m venv .venv; }
	@echo 'Installing the locked packages' >&2
	@$(call pip,$(RUN)) --require-hashes --only-binary :all: --requirement requirements/dev.txt
	@touch $@

.venv/.installed: .venv/.packages pyproject.toml
	@$(call pip,$(RUN)) --no-deps --no-build-isolation --editable .
	@touch $@

# The tools that build, check and run the deployment package; each set has a lock of its own.
.venv-deploy/.installed .venv-audit/.installed .venv-lambda/.installed .venv-rivals/.installed: .venv-%/.installed: requirements/%.txt
	@$(PYTHON_LAMBDA) -c '' || { echo 'Python 3.13 is needed; name it with: make PYTHON_LAMBDA=/path/to/python3.13 …' >&2; exit 1; }
	@test -x .venv-$*/bin/python || $(PYTHON_LAMBDA) -m venv .venv-$*
	@echo 'Installing the locked packages of requirements/$*.txt' >&2
	@$(call pip,.venv-$*/bin/python) --require-hashes --requirement requirements/$*.txt
	@touch $@

# One folder for each architecture, so that neither build replaces the other. SAM's own cache ignores ARCH and MODELS.
.aws-sam/x86_64.stamp .aws-sam/arm64.stamp: .aws-sam/%.stamp: .venv-deploy/.installed $(PACKED)
	@echo 'Building the deployment package for $*' >&2
	@# The stamp has the time of the start: files that change meanwhile are built the next time.
	@mkdir -p .aws-sam && touch .aws-sam/$*.begun
	@PATH="$(CURDIR)/.venv-deploy/bin:$$PATH" MAKEFLAGS= ARCH=$* SAM_CLI_TELEMETRY=0 AWS_DEFAULT_REGION=us-east-1 sam build \
		--no-cached --build-dir .aws-sam/$* --parameter-overrides Architecture=$* >.aws-sam/$*.log 2>&1 || \
		{ cat .aws-sam/$*.log >&2; exit 1; }
	@# Deployments from here are for this architecture, and our own code is compiled as the engine is.
	@sed 's/^\( *\)Default: arm64$$/\1Default: $*/' .aws-sam/$*/template.yaml >.aws-sam/$*/template.new
	@mv .aws-sam/$*/template.new .aws-sam/$*/template.yaml
	@find .aws-sam/$*/*Function .aws-sam/$*/KnowledgeLayer -name __pycache__ -prune -exec rm -rf {} +
	@.venv-deploy/bin/python -m compileall -q --invalidation-mode unchecked-hash .aws-sam/$*/*Function .aws-sam/$*/KnowledgeLayer
	@mv .aws-sam/$*.begun $@

# The suite and the Node version that only it needs.
tests/conformance/node_modules/.installed: tests/conformance/package.json tests/conformance/.npmrc
	@npm --version >/dev/null || { echo 'npm is needed to install the conformance suite' >&2; exit 1; }
	@echo 'Installing the conformance suite' >&2
	@cd tests/conformance && npm install --silent
	@touch $@

.venv-lock/.installed: Makefile
	@$(call need_python)
	@test -x .venv-lock/bin/python || $(PYTHON) -m venv .venv-lock
	@$(call pip,.venv-lock/bin/python) $(UV)
	@touch $@

need_python = $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	{ echo 'Python 3.11 or newer is needed; name one with: make PYTHON=/path/to/python3.11 …' >&2; exit 1; }
pip = $(1) -m pip install -qq --disable-pip-version-check --no-input
