"""Children on Ray nodes of two hosts, a millisecond apart: the same tables as in one process, and a host cut off in mid-run.

The hosts are network namespaces of this machine (`tests/support/hosts.py`); `benchmarks/hosts.py` does the same with four.
"""

import tempfile
from pathlib import Path

import pytest

from foldwise.abstraction.strategy import Strategy
from tests.support.hosts import Hosts, missing
from tests.support.ray_hosts import ToldHead, start_ray

pytest.importorskip("ray", reason="Ray is not installed: pip install 'foldwise[distributed]'")


def test_two_hosts_give_the_tables_of_one_process_and_a_lost_host_is_survived(tmp_path: Path) -> None:
    """The first host has a core to spare, where the lost child comes back."""
    if reason := missing():
        pytest.skip(f"children on several hosts are not checked: {reason}")
    with tempfile.TemporaryDirectory(prefix="fw-") as temporary, Hosts(2, delay_seconds=0.001) as hosts:
        head = ToldHead(hosts, tmp_path / "run", start_ray(hosts, [2, 1], temporary), children=2, iterations=3000)
        assert head.tell("compare 1000")
        children = head.tell("processes")
        at = [next(host for host in range(2) if hosts.runs_on(host, child)) for child in children]
        assert sorted(at) == [0, 1]
        head.tell("advance 500")  # leaves two batches in flight
        assert min(hosts.carried_bytes()) > 100_000  # batches and answers go between the hosts
        hosts.cut(1)
        assert head.tell("advance 1500") == 3000
        now = head.tell("processes")
        assert all(hosts.runs_on(0, child) for child in now)
        assert now[at.index(0)] == children[at.index(0)] and now[at.index(1)] != children[at.index(1)]
        assert head.tell("save") == 3000
        head.close()
    strategy = Strategy(tmp_path / "run")
    strategy.verify()
    assert strategy.manifest.reached > 500
