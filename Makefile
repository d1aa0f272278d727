# `make demo` shows the product, `make test` checks all of it; both need nothing but Python 3.10 to 3.14 to start.
# PYTHON=... chooses the Python; PORT=... the port of the demo.

PORT ?=
LOGDIR ?= .demo/logs
VENV := .venv
DEMO_VENV := .demo/venv
INSTALLED := $(VENV)/installed
DEMO_INSTALLED := $(DEMO_VENV)/installed
PIP_OPTIONS := -qq --disable-pip-version-check --no-input
STATIC := tensorboard_plugin_dlprof/static
PROTO_OUT := tensorboard_plugin_dlprof/run_metadata

.PHONY: help demo test load fuzz install format frontend samples proto bench bench-peers dist clean

help:  ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 20

demo: $(DEMO_INSTALLED)  ## Import the sample profiles and open them in TensorBoard (SERVE=no: only import)
	$(DEMO_VENV)/bin/dlprof demo --logdir $(LOGDIR) $(if $(PORT),--port $(PORT)) $(if $(filter no,$(SERVE)),--no-serve)

test: $(INSTALLED)  ## Run every check: lint, types, frontend, unit, real profiles, HTTP, browser
	@scripts/check.sh $(VENV)/bin/python

install: $(INSTALLED)  ## Make the virtual environment for development, .venv

# A clone is installed in place, so the demo shows the code as it is. Dependencies change with setup.py alone.
$(DEMO_INSTALLED): setup.py
	@python=$$(scripts/choose_python.sh $(PYTHON)) && echo "Installing with $$($$python -V) ..." && \
		$$python -m venv --clear $(DEMO_VENV)
	@$(DEMO_VENV)/bin/python -m pip install $(PIP_OPTIONS) --editable .
	@touch $@

$(INSTALLED): setup.py constraints.txt
	@python=$$(scripts/choose_python.sh $(PYTHON)) && echo "Installing with $$($$python -V) ..." && \
		{ test -x $(VENV)/bin/python || $$python -m venv $(VENV); }
	@$(VENV)/bin/python -m pip install $(PIP_OPTIONS) --constraint constraints.txt --editable '.[test]'
	@touch $@

load: $(INSTALLED)  ## Load a real TensorBoard for five minutes, and look at its times
	DLPROF_LOAD_SECONDS=300 $(VENV)/bin/python -m pytest -q tests/load

# FUZZ_SECONDS=... for each parser. Atheris has no wheels for every Python; the damaged copies need none.
FUZZ_SECONDS ?= 120
fuzz: $(INSTALLED)  ## Read thousands of damaged files, and let atheris look for more, where it can be installed
	DLPROF_FUZZ_COPIES=4000 DLPROF_FUZZ_FIRST=1000 DLPROF_KILLS=200 $(VENV)/bin/python -m pytest -q tests/fuzz tests/faults
	@$(VENV)/bin/python -m pip install $(PIP_OPTIONS) atheris || { echo "atheris cannot be installed here"; exit 0; }; \
		for parser in trace compressed nsight xplane snapshot database small; do \
			$(VENV)/bin/python -m tests.fuzz.with_atheris $$parser build/fuzz/$$parser \
				-max_total_time=$(FUZZ_SECONDS) -artifact_prefix=build/fuzz/ || exit 1; \
		done

format: $(INSTALLED)  ## Format the Python code, and the frontend where Node is installed
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .
	@if test -d frontend/node_modules; then npm --prefix frontend run format; fi

frontend:  ## Build the frontend into the package; commit the result
	cd frontend && npm ci --no-audit --no-fund && npm run build

samples: $(INSTALLED)  ## Make the generated sample profiles again
	$(VENV)/bin/python -m scripts.samples.generate

# Code of a newer tool fails on the oldest protobuf that TensorBoard allows (6.31.1), so the tool's version is fixed.
proto:  ## Generate the Python module of proto/dlprof_plugin.proto
	python=$$(scripts/choose_python.sh $(PYTHON)) && $$python -m venv --clear build/proto-venv
	build/proto-venv/bin/pip install $(PIP_OPTIONS) 'grpcio-tools>=1.74,<1.77' 'setuptools<82'
	build/proto-venv/bin/python -m grpc_tools.protoc -Iproto --python_out=$(PROTO_OUT) --pyi_out=$(PROTO_OUT) \
		proto/dlprof_plugin.proto

bench: $(INSTALLED)  ## Measure imports, queries and starts; BENCH='--sizes 100,2000 --trace FILE' chooses
	$(VENV)/bin/python -m benchmarks $(BENCH)

bench-peers: $(INSTALLED)  ## Measure other tools on the same trace, installed from the package index
	$(VENV)/bin/python -m benchmarks.peers $(BENCH)

dist: $(INSTALLED)  ## Build the wheel and the source distribution into dist/
	$(VENV)/bin/python -m build

clean:  ## Remove what was built, installed and cached
	rm -rf .demo .venv build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis test-results \
		frontend/node_modules
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
