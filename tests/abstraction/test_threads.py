"""Blocks of work on threads, interrupted."""

import pytest

from foldwise.abstraction import threads
from tests.support.pools import HeldPool


def test_an_interrupt_does_not_wait_for_the_rest(monkeypatch):
    monkeypatch.setattr(threads, "ThreadPoolExecutor", HeldPool)
    done = []

    def interrupt(stage, share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        threads.run_blocks(lambda first, last: done.append(first), 100, "stage", interrupt, block=1, workers=2)
    assert len(done) <= 2  # the block whose end was reported, and the one at work
