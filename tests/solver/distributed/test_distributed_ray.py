"""Children on Ray: the same tables as in one process, and no harm from a killed child or a killed head."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.abstraction.strategy import Strategy
from foldwise.cli.main import main
from foldwise.game.errors import DefinitionError
from foldwise.solver.distributed.child import card_game
from foldwise.solver.distributed.ray_engine import check_address, keep_off_standard_output
from foldwise.solver.distributed.run import DistributedRun
from tests.support.clustered_cards import clustered_cards, clustered_config
from tests.support.places import CONFIGS, ROOT

pytest.importorskip("ray", reason="Ray is not installed: pip install 'foldwise[distributed]'")
# Ray's own daemons leave sockets to the garbage collector, and its client warns of what it deprecates in itself.
pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::FutureWarning"
)

HIERARCHICAL = CONFIGS / "hunl-hierarchical.toml"
GONE_SECONDS = 120.0  # a bound for a process to end on a busy machine, not a wait


def is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def descendants(process: int) -> set[int]:
    """All processes below one, by the parents the kernel names."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found = {process}
    while True:
        more = {child for child, parent in parents.items() if parent in found} - found
        if not more:
            return found - {process}
        found |= more


def named_by_ray(started: set[int]) -> list[int]:
    """Those of the processes that Ray gives names: the children of a head, and the agents of its daemon."""
    return [process for process in started if Path(f"/proc/{process}/cmdline").read_bytes().startswith(b"ray::")]


def listening_addresses(processes: set[int]) -> list[str]:
    """Where these processes listen: the kernel's list of sockets, by the inodes they hold open."""
    inodes = set()
    for process in processes:
        for descriptor in Path(f"/proc/{process}/fd").glob("*"):
            with contextlib.suppress(OSError):
                inodes.add(str(descriptor.readlink()))
    found = []
    for table, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in inodes:
                words = bytes.fromhex(fields[1].partition(":")[0])
                raw = b"".join(words[i : i + 4][::-1] for i in range(0, len(words), 4))
                found.append(socket.inet_ntop(family, raw))
    return found


def test_a_port_that_says_nothing_is_no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foldwise.solver.distributed.ray_engine._KNOCK_SECONDS", 0.2)
    silent = socket.create_server(("127.0.0.1", 0))
    with silent, pytest.raises(DefinitionError, match=r"no answer within 0.2 s.*start one"):
        check_address(f"127.0.0.1:{silent.getsockname()[1]}")


def test_what_ray_reports_is_logged_and_not_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Ray's own loop over its daemons' reports: printed, the report of a lost host would stand amid a command's JSON."""
    from ray._private import worker

    monkeypatch.setattr(worker, "print_to_stdstream", worker.print_to_stdstream)  # put back afterwards
    keep_off_standard_output()
    stop = threading.Event()

    def poll() -> tuple[None, dict[str, object]]:
        stop.set()
        return None, {"job_id": None, "error_message": "a host is gone"}

    job = SimpleNamespace(binary=lambda: b"job")
    subscriber = SimpleNamespace(subscribe=lambda: None, poll=poll)
    worker.listen_error_messages(SimpleNamespace(gcs_error_subscriber=subscriber, current_job_id=job), stop)
    assert capsys.readouterr().out == ""
    assert "a host is gone" in caplog.text


def wait_until_gone(processes: set[int]) -> None:
    deadline = time.monotonic() + GONE_SECONDS
    while left := {process for process in processes if is_running(process)}:
        assert time.monotonic() < deadline, f"still running: {left}"
        time.sleep(0.05)  # polling: they are grandchildren, which cannot be waited for


@pytest.fixture(scope="module")
def game() -> AbstractGame:
    return card_game(clustered_config(), clustered_cards())[0]


def test_ray_and_in_process_tables_are_the_same_and_a_killed_child_comes_back(
    game: AbstractGame, tmp_path: Path
) -> None:
    """One thread a child and the same seed: bit for bit. Then a child is killed in mid-batch and the run goes on."""
    config = clustered_config(iterations=4000)
    here = DistributedRun(game, config, tmp_path / "here", False, None)
    here.head.advance(1000)
    here.checkpoint()
    before = descendants(os.getpid())
    run = DistributedRun(game, config, tmp_path / "ray", False, "local")
    try:
        started = descendants(os.getpid()) - before
        listening = listening_addresses(started)
        assert listening and set(listening) <= {"127.0.0.1", "::1", "::ffff:127.0.0.1"}
        run.head.advance(1000)
        run.checkpoint()
        assert run.head.iteration == here.head.iteration
        assert np.array_equal(run.head.table, here.head.table)
        here.close()

        run.head.advance(500)  # leaves two batches under way
        children = [child.process for child in run.head.children()]
        priorities = {os.getpriority(os.PRIO_PROCESS, process) for process in [0, *children]}
        assert len(priorities) == 1  # Ray's own default would let children wait for every other program
        os.kill(children[0], signal.SIGKILL)
        run.head.advance(2500)
        assert run.head.iteration == 4000
        now = [report.process for report in run.head.engine.call_all("report")()]
        assert now[1] == children[1] and now[0] != children[0]
        manifest = run.save()
        assert manifest.iterations == 4000
    finally:
        run.close()
    wait_until_gone(started)
    strategy = Strategy(tmp_path / "ray")
    strategy.verify()
    assert strategy.manifest.reached > 500


@pytest.mark.parametrize("address", ["127.0.0.1:{port}", "ray://127.0.0.1:{port}", "127.0.0.1", "six:many", ":6379"])
def test_an_address_without_a_cluster_is_refused_before_anything_is_built(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Left to itself Ray would look for it for a minute, and only once the cards are built."""
    monkeypatch.setattr("foldwise.abstraction.build.build_abstract_game", lambda *_: pytest.fail("built first"))
    monkeypatch.setattr("ray.init", lambda **_: pytest.fail("asked Ray first"))
    with socket.socket() as taken:  # bound, so that nobody else is given it, but not listening
        taken.bind(("127.0.0.1", 0))
        given = address.format(port=taken.getsockname()[1])
        arguments = ["solve", str(HIERARCHICAL), "-o", str(tmp_path / "x"), "--children", "2", "--ray", given]
        assert main(arguments) == 2
    captured = capsys.readouterr()
    expected = "(Connection refused): start one" if "{port}" in address else "expected auto, local or HOST:PORT"
    assert f"{given!r}" in captured.err and expected in captured.err
    assert captured.err.count("\n") == 1 and captured.out == ""
    assert not (tmp_path / "x").exists()


HEAD = """
import subprocess
import sys
from pathlib import Path
from tests.support.clustered_cards import clustered_cards, clustered_config
from foldwise.solver.distributed.child import card_game
from foldwise.solver.distributed.run import DistributedRun

bystander = subprocess.Popen(["sleep", "1000"])  # none of Ray's, so none of its watch's business
Path(sys.argv[1], "bystander").write_text(str(bystander.pid))
config = clustered_config(seconds=600, checkpoint_seconds=0.2)
run = DistributedRun(card_game(config, clustered_cards())[0], config, Path(sys.argv[1]), False, "local")
for progress in run:
    pass
"""


def test_a_killed_head_leaves_nothing_running_and_resumes(game: AbstractGame, tmp_path: Path) -> None:
    """Killed between two looks at its manifest; the checkpoint is whole, and another number of children goes on.

    Children and agents are stopped before, as on a machine so busy that they never run.
    """
    command = [sys.executable, "-c", HEAD, str(tmp_path)]
    head = subprocess.Popen(command, cwd=ROOT)
    try:
        deadline = time.monotonic() + 240.0
        while True:
            assert head.poll() is None, "the head ended by itself"
            assert time.monotonic() < deadline, "no checkpoint in four minutes"
            manifest = tmp_path / "distributed.json"
            if manifest.exists() and json.loads(manifest.read_text())["iterations"] > 0:
                break
            time.sleep(0.05)  # polling for a file, with a deadline
        bystander = int((tmp_path / "bystander").read_text())
        started = descendants(head.pid) - {bystander}
        named = named_by_ray(started)
        assert len(named) == 4
        for process in named:
            os.kill(process, signal.SIGSTOP)  # stopped, they notice nothing: others must end them
    finally:
        head.kill()
        head.wait()
    wait_until_gone(started)
    os.kill(bystander, signal.SIGKILL)  # raises if it is gone as well
    saved = json.loads((tmp_path / "distributed.json").read_text())["iterations"]
    config = clustered_config(children=3, iterations=saved + 500)
    run = DistributedRun(game, config, tmp_path, True, None)
    assert run.head.iteration == saved
    for _ in run:
        pass
    assert run.save().iterations == saved + 500
    run.close()
    Strategy(tmp_path).verify()
