"""Ray on several hosts, and a head of `solver.distributed` on the first of them that does what it is told.

    python -m tests.support.ray_hosts FOLDER ADDRESS CHILDREN ITERATIONS GAME BUCKETS

is that head: a line of words on its standard input, a line of JSON on its standard output.
"""

import json
import os
import secrets
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from tests.support.hosts import Hosts, end_programs
from tests.support.places import ROOT

_PORT = 6379
_SETTINGS = {
    **os.environ,
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",  # or children have the lowest priority but four, and wait for everybody on a busy machine
    "RAY_AUTH_MODE": "token",  # as docs/distributed.md advises
    "RAY_AUTH_TOKEN": secrets.token_hex(32),
    # A host that leaves two questions unanswered, for five seconds each, is given up; Ray's own patience is a minute.
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "5000",
    "RAY_health_check_failure_threshold": "2",
}
_ATTEMPTS = 3  # on a busy machine Ray may give up starting its daemons


def start_ray(hosts: Hosts, cores: list[int], temporary: str) -> str:
    """A node with so many cores on every host, the first their head; returns its address. They end with the hosts.

    The folder's name is short, since the sockets in it may have names of 107 bytes.
    """
    address = f"{hosts.addresses[0]}:{_PORT}"
    ray = str(Path(sys.executable).with_name("ray"))
    for host, number in enumerate(cores):
        words = [f"--node-ip-address={hosts.addresses[host]}", f"--num-cpus={number}", "--include-log-monitor=false"]
        if host == 0:
            words += ["--head", f"--port={_PORT}", "--include-dashboard=false", f"--temp-dir={temporary}"]
        else:
            words.append(f"--address={address}")
        command = hosts.on(host, ray, "start", *words, f"--object-store-memory={1 << 27}")
        for attempt in range(_ATTEMPTS):
            done = subprocess.run(command, env=_SETTINGS, capture_output=True, text=True)
            if done.returncode == 0:
                break
            end_programs(hosts.names[host])
            assert attempt + 1 < _ATTEMPTS, f"Ray did not start: {done.stderr or done.stdout}"
    return address


class ToldHead:
    """The head as a program on the first host."""

    def __init__(
        self,
        hosts: Hosts,
        folder: Path,
        address: str,
        children: int,
        iterations: int,
        game: str = "two-nl-6",
        buckets: int = 3,
    ):
        words = [str(folder), address, str(children), str(iterations), game, str(buckets)]
        self._process = subprocess.Popen(
            hosts.on(0, sys.executable, "-m", "tests.support.ray_hosts", *words),
            cwd=ROOT,
            env=_SETTINGS | {"PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def tell(self, words: str) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        print(words, file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        assert answer, f"the head ended with {self._process.wait()} when told to {words!r}"
        return json.loads(answer)

    def close(self) -> None:
        """Let it end its children and itself."""
        self._process.communicate()


def main(folder: Path, address: str, children: int, iterations: int, name: str, buckets: int) -> None:
    from foldwise.solver.distributed.child import card_game
    from foldwise.solver.distributed.run import DistributedRun
    from tests.support.clustered_cards import clustered_cards, clustered_config

    config = clustered_config(name, children, iterations=iterations)
    game, _ = card_game(config, clustered_cards(buckets))
    here = DistributedRun(game, config, folder.with_name("here"), False, None)
    run = DistributedRun(game, config, folder, False, address)
    for line in sys.stdin:
        match line.split():
            case ["compare", number]:  # after so many iterations with the children of one process
                for each in (here, run):
                    each.head.advance(int(number))
                    each.checkpoint()
                answer: Any = bool(np.array_equal(run.head.table, here.head.table))
            case ["advance", number]:
                run.head.advance(int(number))
                answer = run.head.iteration
            case ["costs"]:  # so far
                answer = {
                    "iteration": run.head.iteration,
                    "cpu_seconds": time.process_time(),
                    "child_nodes": [child.nodes for child in run.head.children()],
                }
            case ["processes"]:
                answer = [report.process for report in run.head.engine.call_all("report")()]
            case ["save"]:
                answer = run.save().iterations
            case words:
                raise ValueError(f"no such order: {words}")
        print(json.dumps(answer), flush=True)
    run.close()
    here.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5], int(sys.argv[6]))
