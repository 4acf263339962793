"""Tables in the cache: the same as made, made again when damaged, and no cache needed."""

import numpy as np
import pytest

from foldwise.game.hands import evaluator
from foldwise.game.kept_tables import kept_tables

MODULE = "foldwise.game.cards"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLDWISE_CACHE", str(tmp_path))
    return tmp_path


def make_counted():
    calls = []

    def make():
        calls.append(1)
        return {"a": np.arange(5, dtype=np.int64), "b": np.eye(2, dtype=np.uint16)}

    return make, calls


def same(first, second):
    return set(first) == set(second) and all(
        first[key].dtype == second[key].dtype and np.array_equal(first[key], second[key]) for key in first
    )


def test_made_once_and_read_back(cache):
    make, calls = make_counted()
    assert same(kept_tables("t", MODULE, make), kept_tables("t", MODULE, make))
    assert len(calls) == 1
    assert len(list((cache / "tables").iterdir())) == 1
    kept_tables("t", "foldwise.game.betting", make)  # of other sources
    assert len(calls) == 2


@pytest.mark.parametrize("damage", [lambda data: data[: len(data) // 2], lambda data: b"", lambda data: b"PK" + data])
def test_damaged_tables_are_made_again(cache, damage):
    make, calls = make_counted()
    expected = kept_tables("t", MODULE, make)
    (path,) = (cache / "tables").iterdir()
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert same(kept_tables("t", MODULE, make), expected)
    assert len(calls) == 2
    kept_tables("t", MODULE, make)
    assert len(calls) == 2


def test_every_flipped_byte_is_noticed(cache):
    """Nothing but what was made is ever read, whichever byte of the file is changed."""
    make, _ = make_counted()
    expected = kept_tables("t", MODULE, make)
    (path,) = (cache / "tables").iterdir()
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        assert same(kept_tables("t", MODULE, make), expected)


def test_a_cache_that_cannot_be_written_costs_time_only(cache):
    (cache / "tables").write_text("a file where the folder should be")
    make, calls = make_counted()
    assert same(kept_tables("t", MODULE, make), kept_tables("t", MODULE, make))
    assert len(calls) == 2


def test_evaluator_tables_are_those_built(cache):
    evaluator.evaluator_tables.cache_clear()
    built = evaluator._build_tables()
    for _ in range(2):  # made, then read
        found = evaluator.evaluator_tables()
        assert all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(found, built))
        evaluator.evaluator_tables.cache_clear()
