"""Children on the Ray nodes of four hosts, a millisecond apart: what an iteration costs, and what 961 cores would need.

    python benchmarks/hosts.py [--save]

The hosts are network namespaces of this machine (root, Linux; tests/support/hosts.py). Runs of 1, 2 and 4 children on
two-nl-12 are first compared with children in one process, table by table; then processor time, bytes and memory are measured.
A model fitted to 1 and 2 children is checked at 4, and taken to the tree of docs/distributed.md, nearly the size of Brown,
Ganzfried and Sandholm's (AAMAS 2015), with 60 children. At last a host is cut off. About two minutes of CPU.
"""

import argparse
import math
import os
import re
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from papers.record import ROOT, Cell, add_save, save, significant

from foldwise.abstraction.build import config_tree
from foldwise.abstraction.config import read_config
from foldwise.game.trees.tree_kernels import DECISION, FOLDED
from foldwise.solver.config import RunConfig
from tests.support.clustered_cards import clustered_config
from tests.support.hosts import Hosts, missing
from tests.support.ray_hosts import ToldHead, start_ray

GAME, BUCKETS = "two-nl-12", 169
PAPERS_CHILDREN, PAPERS_ENTRIES = 60, 1.74e11
LOST_ITERATIONS = 5000
_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Costs:
    """Of one iteration (two walks); a child's are the mean over children."""

    children: int
    same: bool  # the tables, as with children in one process
    head_us: float
    child_us: float
    child_nodes: float
    child_bytes: float  # to one child and back, with all that Ray says besides
    child_megabytes: float  # resident


@dataclass(frozen=True)
class Walk:
    """Of one iteration with uniform strategies."""

    top_nodes: float
    continuations: float
    nodes_below: float


def measure(hosts: Hosts, address: str, folder: Path, children: int, iterations: int) -> tuple[Costs, ToldHead]:
    head = ToldHead(hosts, folder, address, children, 1 << 40, GAME, BUCKETS)
    same = head.tell("compare 2000")
    processes = head.tell("processes")
    head.tell(f"advance {iterations // 4}")  # compiled, and with larger batches
    before, carried, used = head.tell("costs"), sum(hosts.carried_bytes()), [cpu_seconds(each) for each in processes]
    head.tell(f"advance {iterations}")
    after = head.tell("costs")
    done = after["iteration"] - before["iteration"]
    busy = [cpu_seconds(process) - start for process, start in zip(processes, used)]
    nodes = np.subtract(after["child_nodes"], before["child_nodes"])
    away = sum(not hosts.runs_on(0, process) for process in processes) or float("nan")  # one may be on the head's host
    costs = Costs(
        children,
        same,
        1e6 * (after["cpu_seconds"] - before["cpu_seconds"]) / done,
        1e6 * float(np.mean(busy)) / done,
        float(np.mean(nodes)) / done,
        (sum(hosts.carried_bytes()) - carried) / done / away,
        float(np.mean([resident_bytes(process) for process in processes])) / 1e6,
    )
    return costs, head


def cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def resident_bytes(process: int) -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    assert found is not None
    return 1024 * int(found[1])


def uniform_walk(nodes: Any) -> Walk:
    """Both walks of an iteration by external sampling, exactly: all actions of one player, the mean over the other's."""
    return Walk(*(expected_visits(nodes, 0) + expected_visits(nodes, 1)))


@numba.njit(cache=False)  # type: ignore[untyped-decorator]  # numba has no types
def expected_visits(nodes: Any, traverser: int) -> Any:
    top, leaving, below = np.zeros(nodes.size), np.zeros(nodes.size), np.zeros(nodes.size)
    for i in range(nodes.size - 1, -1, -1):  # children stand behind their parents
        node = nodes[i]
        share = 1.0
        if node.kind == DECISION and node.player != traverser:
            share = 1.0 / node.num_children
        for child in range(node.first_child, node.first_child + node.num_children):
            top[i] += share * top[child]
            leaving[i] += share * leaving[child]
            below[i] += share * below[child]
        if node.street == 0 and (node.kind == DECISION or node.kind == FOLDED):
            top[i] += 1.0
        else:
            below[i] += 1.0
            if node.street == 0:
                leaving[i] = 1.0
    return np.array([top[0], leaving[0], below[0]])


def message_bytes(continuations: float) -> float:
    """Of an iteration to one child and back, as docs/distributed.md counts them: a batch is two walks an iteration."""
    there = 2 * (4 + 4 + 1) + 4 * continuations  # hands, where its continuations start, whether it prunes; the nodes
    back = 2 * 8 + 8 * continuations  # flops; values
    return there + back


def papers_tree() -> Any:
    """The tree of the bets that docs/distributed.md lists."""
    text = (ROOT / "docs" / "distributed.md").read_text()
    bets = re.search(r"```toml\n(\[bets\].*?)```", text, re.DOTALL)
    assert bets is not None
    changes = tomllib.loads(bets[1])
    return config_tree(read_config(ROOT / "configs" / "hunl-hierarchical.toml", RunConfig, changes)).nodes


@dataclass(frozen=True)
class Model:
    """Time of an iteration: the longer of the head's, which grows with the children, and a child's, which does not."""

    head_us: float
    head_us_a_child: float
    child_us: float
    bytes_over_messages: float  # what Ray and TCP add, as a factor

    @classmethod
    def fit(cls, few: Costs, more: Costs, walk: Walk) -> "Model":
        each = (more.head_us - few.head_us) / (more.children - few.children)
        factor = more.child_bytes / message_bytes(walk.continuations)
        return cls(few.head_us - few.children * each, each, (few.child_us + more.child_us) / 2, factor)

    def scaled(self, here: Walk, there: Walk) -> "Model":
        """For another tree: the head's walks by nodes, its work for a child by continuations, a child's by nodes."""
        return Model(
            self.head_us * there.top_nodes / here.top_nodes,
            self.head_us_a_child * there.continuations / here.continuations,
            self.child_us * there.nodes_below / here.nodes_below,
            self.bytes_over_messages,
        )


def run_hosts(iterations: int) -> tuple[dict[int, Costs], float, list[int]]:
    """Costs by number of children; then seconds until a run has gone on without one host, and where its children are."""
    found: dict[int, Costs] = {}
    with tempfile.TemporaryDirectory(prefix="fw-") as temporary, Hosts(4, delay_seconds=0.001) as hosts:
        address = start_ray(hosts, [2, 1, 1, 1], f"{temporary}/ray")
        for children in (1, 2, 4):
            found[children], head = measure(hosts, address, Path(temporary, f"run-{children}"), children, iterations)
            print(found[children], flush=True)
            if children < 4:
                head.close()
        hosts.cut(3)
        start = time.perf_counter()
        head.tell(f"advance {LOST_ITERATIONS}")
        seconds = time.perf_counter() - start
        where = [next(host for host in range(4) if hosts.runs_on(host, each)) for each in head.tell("processes")]
        head.close()
    return found, seconds, where


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", type=int, default=100_000, help="of each measurement")
    add_save(parser)
    arguments = parser.parse_args()
    if reason := missing():
        raise SystemExit(f"no hosts: {reason}")
    found, seconds, where = run_hosts(arguments.iterations)
    print(f"a host cut off: went on after {seconds:.0f} s with children on hosts {where}")
    nodes = papers_tree()
    here, there = uniform_walk(config_tree(clustered_config(GAME)).nodes), uniform_walk(nodes)
    model, steeper = Model.fit(found[1], found[2], here), Model.fit(found[2], found[4], here)
    print(here, model, steeper, there, model.scaled(here, there), steeper.scaled(here, there), sep="\n")
    if arguments.save:
        save_costs(found, model, arguments.iterations)
        save_lost(seconds, where)
        save_prediction([each.scaled(here, there) for each in (model, steeper)], there, nodes.size)


def save_costs(found: dict[int, Costs], model: Model, iterations: int) -> None:
    save(
        "brown_2015_hosts",
        f"An iteration of {GAME} on four hosts, 1 ms apart: processor time, bytes, memory; the model is fitted to 1 and 2",
        [
            "children, iterations",
            "tables, beside one process",
            "head, µs",
            "head by the model, µs",
            "a child, µs",
            "a child by the model, µs",
            "nodes a child visits",
            "bytes to a child and back",
            "resident memory of a child, MB",
        ],
        [
            [
                f"{costs.children}, {iterations:,}",
                "the same" if costs.same else "different",
                significant(costs.head_us, 3),
                significant(model.head_us + model.head_us_a_child * costs.children, 3),
                significant(costs.child_us, 3),
                significant(model.child_us, 3),
                significant(costs.child_nodes, 3),
                round(costs.child_bytes) if math.isfinite(costs.child_bytes) else None,
                round(costs.child_megabytes),
            ]
            for costs in found.values()
        ],
        1,
    )


def save_lost(seconds: float, where: list[int]) -> None:
    save(
        "brown_2015_lost_host",
        "Four children on four hosts, one cut off without notice",
        ["", "seen"],
        [
            [f"s until {LOST_ITERATIONS:,} further iterations were done", round(seconds)],
            ["hosts of the four children then (the fourth was cut off)", ", ".join(str(host + 1) for host in where)],
        ],
        1,
    )


def save_prediction(models: list[Model], walk: Walk, nodes: int) -> None:
    """Of the model as it was fitted, and of the one with the slope between 2 and 4 children."""

    def row(name: str, value: Callable[[Model], float], paper: str | None = None) -> list[Cell]:
        return [name, *(significant(value(model), 2) for model in models), paper]

    def head_ms(model: Model) -> float:
        return (model.head_us + PAPERS_CHILDREN * model.head_us_a_child) / 1e3

    def kilobytes(model: Model) -> float:
        return model.bytes_over_messages * message_bytes(walk.continuations) / 1e3

    save(
        "brown_2015_961_cores",
        "The model on a tree of nearly the paper's size, with 60 children of 16 cores and a head (961 cores)",
        ["an iteration", "fitted to 1 and 2", "fitted to 2 and 4", "paper"],
        [
            ["nodes that a child visits, with uniform strategies", *[round(walk.nodes_below)] * 2, None],
            row("head, ms", head_ms),
            row("a child, ms", lambda model: model.child_us / 1e3),
            row("time: the longer of both, ms", lambda model: max(head_ms(model), model.child_us / 1e3), "about 15"),
            row("to a child and back, kB", kilobytes),
            row("through the head's link, kB", lambda model: PAPERS_CHILDREN * kilobytes(model)),
            row(
                "memory of a child, GB",
                lambda _: (16 * PAPERS_ENTRIES / PAPERS_CHILDREN + 48 * nodes) / 1e9,
                "128 a blade",
            ),
        ],
        1,
    )


if __name__ == "__main__":
    main()
