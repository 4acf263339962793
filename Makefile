# Every target sets up what it needs: a virtual environment in .venv with the locked packages.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
NOJIT := $(addprefix tests/game/,test_cards.py test_definition.py test_betting.py text/test_match_state.py hands/test_dealing.py \
	test_rules_oracles.py trees/test_tree.py trees/test_bluff.py primitives/test_rng.py) \
	tests/matches/table/test_transcripts.py tests/postprocess tests/agent/mappings/test_translation.py

.PHONY: help demo demo-network test test-load test-nojit fuzz soak mutants audit lint bench pages lock clean
help:
	@echo "make demo    the main job, end to end, in under five minutes"
	@echo "make demo-network   a broker, two workers, a comparison split over them, and watch"
	@echo "make test    all tests, in under ten minutes"
	@echo "make test-load   the tests of network, dealer and matches with every core busy"
	@echo "make test-nojit   the quick tests of the game room with numba's compiler switched off"
	@echo "make fuzz    20,000 mutated streams at the dealer and the client, 10,000 payloads at every MQTT subscriber"
	@echo "make soak    an hour of killed processes and cut connections; SECONDS=120 for two minutes"
	@echo "make mutants   200 wrong signs, weights and comparisons: which the tests do not notice; hours, COUNT=20 for fewer"
	@echo "make audit   known weaknesses of the locked packages (pip-audit)"
	@echo "make lint    ruff and mypy"
	@echo "make bench   timings as ratios in one run (benchmarks/)"
	@echo "make pages   the tables of the documentation, from benchmarks/results/"
	@echo "make lock    resolve requirements.lock anew"

# uv installs in seconds; plain pip reads the same lock where uv is not to be had. Modules are compiled once, as pip does by
# itself: where PYTHONDONTWRITEBYTECODE is set, every start of a command would compile 650 of them, half of its time.
$(READY): pyproject.toml requirements.lock
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "foldwise needs Python 3.11 or newer; set PYTHON=..." >&2; exit 2; }
	@echo "setting up $(VENV) ..."
	@if $(BIN)/python -m pip install --quiet uv 2>/dev/null; then \
	    $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python -r requirements.lock && \
	    $(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps -e . ; \
	else \
	    $(BIN)/python -m pip install --quiet -r requirements.lock && \
	    $(BIN)/python -m pip install --quiet --no-deps -e . ; \
	fi
	@touch $@

demo: $(READY)
	@$(BIN)/python -m foldwise.cli.support.demo

# mosquitto where it is installed, else our own broker.
demo-network: $(READY)
	@$(BIN)/python -m foldwise.cli.support.demo_network

# tests/conftest.py puts the files that take longest first, so that both processes end together.
test: $(READY)
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder --durations=10 tests

# The tests that wait for processes and sockets once more, with a busy loop on every core and two besides.
UNDER_LOAD := tests/matches/network tests/matches/table tests/matches/duplicate tests/agent/clients/test_client.py
test-load: $(READY)
	@$(BIN)/python tests/support/load.py -- $(BIN)/python -m pytest -q -n 1 $(UNDER_LOAD)

# Kernels as plain Python: the same results, and errors the compiler would hide (indexes, overflow) come out.
test-nojit: $(READY)
	@NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -n 2 -m "not jit" $(NOJIT)

fuzz: $(READY)
	@FOLDWISE_FUZZ=10000 $(BIN)/python -m pytest -q tests/matches/table/test_fuzz.py tests/matches/network/test_messages.py

SECONDS ?= 3600
soak: $(READY)
	@$(BIN)/python benchmarks/soak.py --seconds $(SECONDS)

COUNT ?= 200
mutants: $(READY)
	@$(BIN)/python benchmarks/mutants.py --count $(COUNT)

# In an environment of its own: its packages are none of ours. It asks PyPI, or what PIP_AUDIT_VULNERABILITY_SERVICE names (osv).
# --strict: a package that the service does not know, as where only a mirror can be reached, is an error and no clean bill.
audit: $(READY)
	@test -x $(VENV)-audit/bin/pip-audit || { $(PYTHON) -m venv $(VENV)-audit && $(VENV)-audit/bin/python -m pip install --quiet pip-audit; }
	@timeout 300 $(VENV)-audit/bin/pip-audit --requirement requirements.lock --require-hashes --disable-pip --strict --timeout 15 \
	    --progress-spinner off || { echo "audit: not clean. A table above lists known weaknesses; an ERROR, or no line at all within 300 s," \
	    "means that the service could not be asked and nothing was audited: try with a network, or PIP_AUDIT_VULNERABILITY_SERVICE=osv" >&2; exit 1; }

lint: $(READY)
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

bench: $(READY)
	@$(BIN)/python benchmarks/run_all.py

pages: $(READY)
	@$(BIN)/python benchmarks/pages.py

lock:
	@test -x $(BIN)/uv || { $(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip install --quiet uv; }
	@$(BIN)/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --extra dev --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" pyproject.toml -o requirements.lock

clean:
	rm -rf $(VENV) $(VENV)-audit .pytest_cache .mypy_cache .ruff_cache dist build
