"""Time limits that only a hung network should reach, however busy the machine."""

import pytest

from foldwise.matches.network import connection, feed
from tests.support.network import SECONDS


@pytest.fixture(autouse=True)
def long_limits(monkeypatch):
    """Of a call to the broker, and of silence on a connection: beyond them a stalled process looks like a lost one."""
    monkeypatch.setattr(connection, "_CALL_SECONDS", SECONDS)
    monkeypatch.setattr(connection, "KEEPALIVE_SECONDS", int(SECONDS))


@pytest.fixture
def patient_feed(monkeypatch):
    """The end of a match is published however long the broker takes."""
    monkeypatch.setattr(feed, "_CLOSING_SECONDS", SECONDS)
