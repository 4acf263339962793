"""One run in one folder."""

import errno
import fcntl
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from foldwise.abstraction.storage.array_folder import kept_arrays
from foldwise.abstraction.storage.folder_lock import lock_path, locked
from foldwise.cli.main import main
from foldwise.game.errors import DefinitionError
from tests.support.places import CONFIGS

HOLDER = """
import sys, time
from pathlib import Path
from foldwise.abstraction.storage.folder_lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(1000)  # until it is killed
"""


def test_the_second_run_is_told_who_holds_the_folder(tmp_path, capsys):
    folder = tmp_path / "run"
    with locked(folder):
        with pytest.raises(DefinitionError, match=f"in use by process {os.getpid()} "), locked(folder):
            pass
        assert main(["solve", str(CONFIGS / "kuhn.toml"), "-o", str(folder), "--iterations", "1"]) == 2
        assert "is in use by" in capsys.readouterr().err
        with locked(tmp_path / "other"):  # others are free
            pass
    with locked(folder):
        pass
    assert not list(tmp_path.iterdir())


def test_the_lock_of_a_killed_run_is_taken_over(tmp_path):
    folder = tmp_path / "run"
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(folder)], stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(DefinitionError, match=f"in use by process {holder.pid} "), locked(folder):
            pass
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    assert lock_path(folder).exists()  # what a killed run leaves behind
    with locked(folder):
        pass
    assert not lock_path(folder).exists()


def test_a_disk_too_full_for_the_lock_is_named(tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(OSError, match="No space left") as error, locked(tmp_path / "run"):
        pass
    assert error.value.filename == str(lock_path(tmp_path / "run"))
    assert not list(tmp_path.iterdir())


def test_a_refused_run_leaves_nothing_behind(tmp_path, capsys):
    assert main(["solve", str(tmp_path / "missing.toml"), "-o", str(tmp_path / "new" / "run")]) == 2
    assert not list(tmp_path.iterdir())


def test_every_command_that_writes_a_folder_holds_it(tmp_path, monkeypatch, capsys):
    """Each command locks the folder it was given before doing anything else."""
    asked = []

    def refuse(folder):
        asked.append(folder)
        raise DefinitionError("in use")

    monkeypatch.setattr("foldwise.abstraction.storage.folder_lock.locked", refuse)
    kuhn = str(CONFIGS / "kuhn.toml")
    for command in (
        ["solve", kuhn],
        ["abstract", kuhn],
        ["match", "bot:call", "bot:fold"],
        ["compare", "runs/kuhn", "bot:call"],
        ["tournament", "bot:call", "bot:fold"],
        ["lbr", "runs/kuhn"],
        ["exploitability", "runs/kuhn", "--real-cards"],
    ):
        assert main([*command, "-o", str(tmp_path / command[0])]) == 2
        assert asked[-1] == tmp_path / command[0]


def test_what_two_want_of_the_cache_is_made_once(tmp_path, monkeypatch):
    """The second arrives while the first is still working: it waits, and reads the first one's result."""
    making, waiting, go_on = threading.Event(), threading.Event(), threading.Event()
    flock = fcntl.flock

    def tell(descriptor, operation):
        if making.is_set():
            waiting.set()
        flock(descriptor, operation)

    def make():
        making.set()
        assert go_on.wait(600)
        return {"numbers": np.arange(5)}

    monkeypatch.setattr(fcntl, "flock", tell)
    words = (tmp_path / "kept", "numbers", 1, "x", {})
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(kept_arrays, *words, make)
        assert making.wait(600)
        second = threads.submit(kept_arrays, *words, lambda: pytest.fail("made twice"))
        assert waiting.wait(600)
        go_on.set()
        assert all(np.array_equal(one.result()["numbers"], np.arange(5)) for one in (first, second))
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["manifest.json", "numbers.npy"]


def test_a_cache_that_cannot_be_written_costs_only_time(tmp_path):
    """Its folder is a file here: the superuser may write everywhere else."""
    (tmp_path / "file").write_text("")
    found = kept_arrays(tmp_path / "file" / "kept", "numbers", 1, "x", {}, lambda: {"numbers": np.arange(5)})
    assert np.array_equal(found["numbers"], np.arange(5)) and not found["numbers"].flags.writeable
