"""What the tests of the table share: one server with a strategy, matches and a broker, for all tests of a process."""

import pytest

from tests.support.web_server import serving


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """A folder of matches, with one that is finished."""
    from foldwise.cli.main import main

    folder = tmp_path_factory.mktemp("runs")
    assert main(["match", "bot:strength", "bot:call", "--hands", "30", "-o", str(folder / "done")]) == 0
    return folder


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Where the server keeps its sessions."""
    return tmp_path_factory.mktemp("sessions")


@pytest.fixture(scope="session")
def feed_url(local_broker):
    from tests.support.network import url

    return url(local_broker)


@pytest.fixture(scope="session")
def table(holdem_strategy, runs, folder, feed_url):
    words = (str(holdem_strategy), "--port", "0", "-o", str(folder), "--matches", str(runs), "--broker", feed_url)
    with serving(*words) as server:
        yield server
