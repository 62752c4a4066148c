# make demo: the whole workflow on the embedded demo. make demo-all: with every study. make test: every test.
# make test-slurm: the tests on a Slurm cluster that they start on this machine. All install what they need into .venv.
VENV := .venv
PYTHON ?= python3
CORES ?= all
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: install lock demo demo-all test test-units test-faults test-slurm lint docs benchmark-gpu clean

install: $(INSTALLED)

# torch first and without a hash: which build it is, CPU or CUDA, and what libraries come with it, is the machine's affair.
# Everything else is pinned by version and hash, so pip resolves nothing.
$(INSTALLED): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed" if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet "$$(sed -n 's/.*"\(torch==[^"]*\)".*/\1/p' pyproject.toml)"
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --editable .
	touch $@

# Pin what pyproject.toml asks for, keeping today's versions where they still fit; UPGRADE=--upgrade takes the newest. The
# environments of conda follow. Then run "make test": docs/dependencies.md says which tests prove an upgrade.
lock: install
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --extra dev --extra docs --universal --python-version 3.11 --generate-hashes \
		--no-emit-package torch --custom-compile-command "make lock" --quiet $(UPGRADE) --output-file requirements.lock
	$(BIN)/python envs/write.py

demo: install
	$(BIN)/snakemake --cores $(CORES)

# The paper's studies at the demo's size, laid over the demo: what the demo has made is not made again.
demo-all: install
	$(BIN)/snakemake --cores $(CORES) --configfile config/config.yaml $(sort $(wildcard config/demo/*.yaml))

# Fast tests first, with the linters beside them; then those that run Snakemake, the longest files first (tests/conftest.py).
# One thread per process: the processes share the cores.
PYTEST := $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder
test: export OMP_NUM_THREADS := 1
test: export FAVOR_KILLS := 4
test: install
	$(MAKE) --jobs 2 lint test-units
	$(PYTEST) --durations 25 tests/workflow tests/faults tests/test_extending.py

test-units: export OMP_NUM_THREADS := 1
test-units: install
	$(PYTEST) --ignore tests/workflow --ignore tests/faults --ignore tests/slurm --ignore tests/test_extending.py

# With SIGKILL at 25 random moments, where 'make test' has 4.
test-faults: export OMP_NUM_THREADS := 1
test-faults: install
	$(BIN)/python -m pytest tests/faults

# CONFIG=config/config.yaml makes the undisturbed run the whole demo, in the place of a configuration of seconds.
test-slurm: export OMP_NUM_THREADS := 1
test-slurm: CONFIG ?= tests/data/slurm.yaml
test-slurm: install
	$(BIN)/python tests/slurm/cluster.py --install
	FAVOR_SLURM_CONFIG=$(CONFIG) $(BIN)/python -m pytest tests/slurm --durations 0

lint: install
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint

# The documentation as a site of plain files: build/site/index.html. A broken link stops it.
docs: install
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

# Checks of the engine on one GPU, then its speed: meant for under 8 minutes. Figures: benchmarks/figures/{device}.json.
benchmark-gpu: install
	$(BIN)/python benchmarks/gpu.py

clean:
	rm -rf results .snakemake
