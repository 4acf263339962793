"""Limits that only a network that hangs should reach, however busy the machine."""

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
    """The last word of a match waits for its broker as long as it takes."""
    monkeypatch.setattr(feed, "_CLOSING_SECONDS", SECONDS)
