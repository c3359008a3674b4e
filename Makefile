# Both targets do their own set-up on a fresh machine: an environment in .venv, filled from the package registry.
PYTHON ?= python3
VENV ?= .venv
RUNTIME ?= .venv-runtime
BIN = $(VENV)/bin

.PHONY: demo test test-runtime clean

demo: $(VENV)/.installed
	$(BIN)/vendor-tool demo

test: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n auto

# what needs the kernel runtime and no GPU: references in float64, kernels traced and lowered, the shim over the real thing,
# parity from the lock to the outcome with kernels for the C target, here and on a local Ray
test-runtime: $(RUNTIME)/.installed
	$(RUNTIME)/bin/python -m pytest -n auto tests/parity tests/codegen tests/shim/test_real_runtime.py tests/test_parity_*.py

$(RUNTIME)/.installed: pyproject.toml
	$(PYTHON) -m venv $(RUNTIME)
	$(RUNTIME)/bin/python -m pip install --quiet torch==2.13.0 numpy
	$(RUNTIME)/bin/python -m pip install --quiet --editable '.[gpu]' ray==2.50.0 pytest pytest-xdist hypothesis
	touch $@

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.installed-test: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) $(RUNTIME) .mypy_cache .ruff_cache
