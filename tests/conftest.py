"""Settings every test shares, and the broker of those that need one."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).resolve().parent

# The same examples every run; no clock, since the first call of a kernel compiles it.
settings.register_profile(
    "pinned", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("pinned")

# What takes longest goes first: then the processes of a whole run end together. pytest 9 no longer takes the order from its
# arguments where one contains another.
LONGEST = (
    "web/routes/test_browser.py",
    "matches/scoring/test_aivat.py",
    "test_docs.py",
    "solver/distributed",
    "abstraction/deals/test_sequences.py",
    "test_wheel.py",
    "web/routes/test_page.py",
    "test_paper_tables.py",
    "web/routes/test_door.py",
    "solver/sampling/test_vector_sampling.py",
    "solver/response/test_real_response.py",
    "matches/network",
    "test_imports.py",
    "matches/scoring",
    "matches/duplicate",
    "search",
)


def place_in_a_run(path: Path) -> int:
    """The number of the first of `LONGEST` that is this file or holds it; all others come after them."""
    places = (number for number, name in enumerate(LONGEST) if path.resolve().is_relative_to(TESTS / name))
    return next(places, len(LONGEST))


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: place_in_a_run(item.path))


@pytest.fixture(scope="session")
def local_broker(tmp_path_factory):
    """A real broker for all tests of this process: mosquitto where it is installed, our own otherwise."""
    from tests.support.network import start_broker

    broker = start_broker(tmp_path_factory.mktemp("broker"))
    yield broker
    broker.stop()


@pytest.fixture
def own_time(monkeypatch):
    """The dealer's time passes only when the test says so."""
    from tests.support.table import Time

    return Time(monkeypatch)


@pytest.fixture(scope="session")
def strategies(tmp_path_factory):
    """A folder with two made-up strategies of Leduc, `one` and `two`."""
    from tests.support.network import write_strategy

    folder = tmp_path_factory.mktemp("strategies")
    write_strategy(folder / "one", 1)
    write_strategy(folder / "two", 2)
    return folder


@pytest.fixture(scope="session")
def holdem_strategy(tmp_path_factory):
    """A rough strategy of no-limit hold'em: the smallest config, solved for a second or so."""
    from foldwise.cli.main import main
    from tests.support.places import CONFIGS

    folder = tmp_path_factory.mktemp("holdem") / "rough"
    words = ["-o", str(folder), "--iterations", "20000", "--threads", "1"]
    assert main(["solve", str(CONFIGS / "hunl-tiny.toml"), *words]) == 0
    return folder


def pytest_terminal_summary(terminalreporter):
    from tests.support.network import broker_name

    terminalreporter.write_line(f"MQTT broker of this run, where one was needed: {broker_name()}")
