# Needs python3 (3.11 or later, with its venv module) and make; everything else goes into .venv.
PYTHON ?= python3
PYTEST_ARGS ?= -n 2 --dist worksteal --durations 20

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
STAMP := $(VENV)/.stamp

FOLDERS := base model checker properties patching reports scenarios manifests analysis audit reproduce api cli
TYPING := build/typing/podrace
# Folders checked beside the packages, if they have Python files.
BESIDE = $(patsubst %/,%,$(sort $(dir $(wildcard tests/*.py bench/*.py docs/*.py))))

.PHONY: reproduce-old check cluster test test-all nightly tools campaign compare conform mutants go-mutants bench real lockstep survey site reference audit-runs wheel-check lint format setup clean

check: setup
	$(BIN)/podrace check

# What one runs while working: every folder, fewer random examples, no test that takes long.
test: setup
	PODRACE_TESTS=fast $(BIN)/python -m pytest $(PYTEST_ARGS)

# Every test but the campaign's and the nightly ones, with a third of the random examples: what CI runs.
test-all: setup
	PODRACE_TESTS=ci $(BIN)/python -m pytest -m 'not campaign and not real and not lockstep and not nightly' $(PYTEST_ARGS)

# Every test but the campaign's, with all cases and all random examples: more than an hour on two cores. Every release needs it.
nightly: setup
	PODRACE_TESTS=nightly $(BIN)/python -m pytest -m 'not campaign and not real and not lockstep' $(PYTEST_ARGS)

# SPIN and TLC, for the tests that compare with them, Chromium for those of the HTML report, and the schemas of SARIF and
# JUnit for those that validate reports; without these, such tests are skipped (in CI they fail).
tools: setup
	./.ci/tools

# What takes too long for every test run: all engines to the end on every scenario, thousands of random systems,
# searches killed and resumed.
campaign: setup
	PODRACE_TESTS=campaign $(BIN)/python -m pytest -m campaign $(PYTEST_ARGS) --ignore tests/survey

# podrace's answers about random systems against oracles that share no code with it, for ten minutes; COMPARE="--first 90
# --seconds 3600" goes on from there, and says for how long. The table of the longest run: tests/independent/compared.tsv.
COMPARE ?= --seconds 600 --processes 2

compare: setup
	$(BIN)/python -m tests.independent.campaign $(COMPARE)

# Upstream's unit-test tables, restated as facts in JSON, played on the model: CASES="FILE... --release X.Y".
CASES ?= $(wildcard tests/conformance/upstream/*.json) --release 1.36.0

conform: setup
	$(BIN)/python -m tests.conformance.play $(CASES)

# 200 random mutants of the engines and of the model, against the tests that reach them; measuring which do takes a quarter of
# an hour, and is kept. MUTANTS="--seed 7 --count 50 --table FILE" draws others, "--under model" from the model alone; those that the table has are not tested again.
MUTANTS ?=

mutants: setup
	$(BIN)/python -m tests.mutation.run $(MUTANTS)

# 100 random mutants of kube-scheduler, against tours and against upstream's own unit tests. Needs Go 1.26 or later. GO_MUTANTS="--seed 7 --count 40 --table FILE" draws others;
# those that the table has are not tested again.
GO_MUTANTS ?=

go-mutants: setup
	$(BIN)/python -m tests.tools.go_mutants $(GO_MUTANTS)

# Answers of `podrace audit` on the logs of ten thousand random runs of the model: whole, without bodies, and damaged. Half an hour; what was done is kept in
# build/audit-runs, and gone on with. AUDIT_RUNS="--again" asks anew about the runs that are there, which takes two minutes.
AUDIT_RUNS ?=

audit-runs: setup
	$(BIN)/python -m tests.audit.model_runs build/audit-runs $(AUDIT_RUNS)

# A real etcd, kube-apiserver and kube-scheduler on loopback, built by Go (a quarter of an hour the first time), on which races are made to happen;
# `podrace audit` is asked about each log. CLUSTER="--store" replaces the logs that the tests read; CLUSTER="nothing-wrong --pods 1000 --times 20".
CLUSTER ?=

cluster: setup
	$(BIN)/python -m tests.audit.cluster build/cluster $(CLUSTER)

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	rm -rf $(TYPING)
	mkdir -p $(TYPING)
	for folder in $(FOLDERS); do ln -s ../../../$$folder $(TYPING)/$$folder; done
	$(BIN)/mypy $(TYPING) $(BESIDE)

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup
	@set -e; for script in $(sort $(wildcard bench/*.py)); do echo "== $$script"; $(BIN)/python -m bench.$$(basename $$script .py); done

# All properties on all releases over small clusters, and what each violation goes away with, against the table in
# tests/survey; takes about an hour. PODRACE_UPDATE_GOLDEN=1 makes the table anew. Then what the table of everyday changes has not yet.
survey: setup
	PODRACE_TESTS=campaign $(BIN)/python -m pytest -m campaign $(if $(PODRACE_UPDATE_GOLDEN),,$(PYTEST_ARGS)) tests/survey
	$(BIN)/python -m tests.survey.everyday

# All races and hazards on the real scheduler of several versions, against the table in docs/notebook/real-runs.md, and what of its code is reached (docs/notebook/coverage.md). Needs Go 1.26 or later; compiling a version
# takes 7 minutes of a processor. REAL_VERSIONS="1.36.3 1.35.4" chooses, REAL_PART=hazards leaves out the races, REAL_PART=empty what has its cell in the table, PODRACE_UPDATE_GOLDEN=1 makes the table anew.
# REAL_TOURS=large also tours the scenarios of 3,000 to 60,000 transitions (docs/notebook/tours-table.md), which takes hours.
REAL_TESTS ?= tests/reproduce

real: setup
	PODRACE_TESTS=ci PODRACE_REAL="$(REAL_VERSIONS)" PODRACE_REAL_PART="$(REAL_PART)" PODRACE_REAL_TOURS="$(REAL_TOURS)" $(BIN)/python -m pytest -m real -s $(REAL_TESTS)

# The model held against the real scheduler of four versions on 10,000 random runs, and ten mistakes put into the model that must be found. Needs Go 1.26 or
# later. LOCKSTEP_VERSIONS="v1.36.3" chooses.
LOCKSTEP_VERSIONS ?= v1.33.6 v1.34.4 v1.35.4 v1.36.3

lockstep: setup
	$(BIN)/podrace lockstep $(foreach version,$(LOCKSTEP_VERSIONS),--kubernetes $(version)) --clusters 100 --runs 25 --store build/lockstep
	$(BIN)/python -m tests.tools.recorded $(foreach version,$(LOCKSTEP_VERSIONS),--kubernetes $(version)) --clusters 40 --runs 13 --store build/lockstep
	PODRACE_TESTS=ci $(BIN)/python -m pytest -m lockstep tests/reproduce/lockstep/test_lockstep.py

# A race on the real scheduler of 1.13.0, whose driver is not in the wheel; RACE="72124 -o json" gives options of `podrace reproduce`.
RACE ?= 72124

reproduce-old: setup
	$(BIN)/python -m tests.reproduce.v1_13 $(RACE)

# The documentation as static pages.
site: setup
	$(BIN)/python docs/build_site.py build/site

# The pages of docs/ that are written from the catalogue, and the parts of those of findings that are.
reference: setup
	$(BIN)/python docs/build_reference.py
	$(BIN)/python docs/build_history.py
	$(BIN)/python docs/build_findings.py

# What a user does: install the wheel, made of the source distribution, into a fresh environment, and run the tutorial's commands.
wheel-check: setup
	rm -rf build/wheel build/fresh build/sdist
	mkdir -p build/sdist
	$(BIN)/python -c "from setuptools import build_meta; build_meta.build_sdist('build/sdist')" >/dev/null
	$(PIP) wheel -q --no-deps --no-build-isolation -w build/wheel build/sdist/*.tar.gz
	$(PYTHON) -m venv build/fresh
	build/fresh/bin/python -m pip --disable-pip-version-check --no-input install -q -c constraints.txt build/wheel/*.whl
	PODRACE_NO_CACHE=1 $(BIN)/python -m tests.pages.tutorial build/fresh/bin

setup: $(STAMP)

# A working .venv is kept, also if PYTHON is now another one: make clean first to change it.
# The build backend is installed first, pinned like the rest, so that nothing unpinned takes part. Bytecode is made as an installed
# package has it: where Python is told to write none, every command would compile podrace again, for 0.3 s.
$(STAMP): pyproject.toml setup.py constraints.txt
	$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	$(PIP) install -q -c constraints.txt setuptools
	$(PIP) install -q -c constraints.txt --no-build-isolation -e '.[dev,mcp]'
	$(BIN)/python -m compileall -q $(FOLDERS)
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
