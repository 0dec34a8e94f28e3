# Two commands do all the set-up:  make demo  (the main job)  and  make test.  CONTRIBUTING.md explains the others.
PYTHON ?= python3
VENV ?= .venv
BENCH ?= .venv-bench
BIN = $(VENV)/bin
INSTALL = $(BIN)/python -m pip install $(QUIET)
QUIET = --quiet --disable-pip-version-check
EXTRAS_demo = cli,data,report
EXTRAS_paper = benchmark,cli

# Tests start hundreds of processes, each of which would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-data quick long coverage engines oldest fuzz mutants check docstrings hooks bench paper paper-quick docs html doctest pictures dist clean

demo: $(VENV)/demo
	$(BIN)/evenhand demo --html evenhand-report.html

test: $(VENV)/dev
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto

# What reads official files, from the folder that EVENHAND_DATA names; all else is in `make test`.
test-data: $(VENV)/dev
	@test -d "$$EVENHAND_DATA" || { echo "Set EVENHAND_DATA to the folder that holds the official files." >&2; exit 2; }
	$(BIN)/python -m pytest -m data $$(grep --recursive --files-with-matches --include="test_*.py" "data_file\|mark.data" tests paper)

# Main behavior of every package, with few examples of each law; files that are slow as a whole are not imported.
quick: $(VENV)/dev
	OMP_NUM_THREADS=1 EVENHAND_EXAMPLES=$${EVENHAND_EXAMPLES:-8} $(BIN)/python -m pytest -n 2 -m "not slow" tests src

coverage: $(VENV)/dev
	$(BIN)/python -m pytest -n auto --cov --cov-report=term:skip-covered --cov-report=html

# Laws on every engine, Spark on a local cluster of two workers; needs Java.
engines: $(VENV)/dev $(VENV)/spark
	EVENHAND_SPARK_MASTER="local-cluster[2,1,512]" $(BIN)/python -m pytest tests/test_engines.py tests/test_frames.py

# The core with the oldest versions that pyproject.toml allows, which may warn of what is to come; needs uv.
OLDEST = $(VENV)-oldest
TESTED = tally measures columns groups counts distributions frames statistics engines streams power \
	contrasts homogeneity clusters surveys expected scoring
oldest:
	uv venv --quiet --clear $(OLDEST)
	uv pip install --quiet --python $(OLDEST)/bin/python --resolution lowest-direct --editable ".[all]" \
		"hypothesis>=6.120" "polars>=1.20" "pytest>=8.3" "pytest-randomly>=3.16" "pyyaml>=6" "statsmodels>=0.14"
	$(OLDEST)/bin/python -m pytest -m "not slow" -W ignore::DeprecationWarning tests/audit $(TESTED:%=tests/test_%.py)

# Further cases of tests of which `make test` runs some.
long: $(VENV)/dev
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -m long --hypothesis-profile random

# Goes on where the last run ended; CASES of each target.
CASES ?= 10000
fuzz: long
	PYTHONPATH=tests OMP_NUM_THREADS=1 $(BIN)/python -m fuzz --cases $(CASES)

# Changes the code in one place at a time, and sees whether a test notices; SAMPLE of each area.
SAMPLE ?= 80
mutants: $(VENV)/dev
	OMP_NUM_THREADS=1 $(BIN)/python tools/mutants.py --sample $(SAMPLE)

check: $(VENV)/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/codespell
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/docstrings.py
	OMP_NUM_THREADS=1 $(BIN)/python tools/stale.py

docstrings: $(VENV)/dev
	$(BIN)/python tools/docstrings.py

hooks: $(VENV)/dev
	$(BIN)/pre-commit install --hook-type pre-commit --hook-type pre-push

bench: $(BENCH)/done
	$(BENCH)/bin/python benchmarks/run.py

paper: $(VENV)/paper
	$(BIN)/python -m paper

paper-quick: $(VENV)/paper
	$(BIN)/python -m paper --quick

# Pages and examples can be made side by side: make --jobs=2 docs.
docs: html doctest
	@echo "Open docs/_build/html/index.html"

html: $(VENV)/dev $(VENV)/docs
	$(BIN)/sphinx-build -W -q -b html docs docs/_build/html
	$(BIN)/python docs/links.py docs/_build/html

doctest: $(VENV)/dev $(VENV)/docs
	$(BIN)/sphinx-build -W -q -b doctest docs docs/_build/doctest

# The report's first screen in the README; needs Chromium.
pictures: $(VENV)/dev
	$(BIN)/python docs/pictures.py

dist: $(VENV)/release
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*

$(VENV)/bin/python:
	@$(PYTHON) -c "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))" 2>/dev/null || { echo "evenhand needs Python 3.11 or newer, with venv, and $(PYTHON) is not that: name one, as in make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(addprefix $(VENV)/,demo dev docs paper release spark): $(VENV)/%: pyproject.toml | $(VENV)/bin/python
	@echo "Installing evenhand[$(or $(EXTRAS_$*),$*)] in $(VENV) …"
	@$(INSTALL) --editable ".[$(or $(EXTRAS_$*),$*)]" || { echo "evenhand[$(or $(EXTRAS_$*),$*)] could not be installed in $(VENV): that takes a package index that pip can reach." >&2; exit 2; }
	@touch $@

$(BENCH)/done: pyproject.toml benchmarks/requirements.txt
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install $(QUIET) --requirement benchmarks/requirements.txt --editable .
	@touch $@

clean:
	rm -rf $(VENV) $(OLDEST) $(BENCH) dist docs/_build htmlcov .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
