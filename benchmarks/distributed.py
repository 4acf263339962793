"""Distributed external sampling: rates, waiting, batch sizes, and exploitability beside the local solver.

python benchmarks/distributed.py               children as threads of one process, about three minutes on quiet cores
python benchmarks/distributed.py --ray         also on Ray: one node, and two nodes on this machine
python benchmarks/distributed.py --learning    also exploitability per node for 1, 2, 4 children and by batch size

Rates are of the bet tree of configs/hunl-hierarchical.toml with 8 flop clusters of 10 percentile buckets a street (built
once: minutes). One child is held to one core and two children to two, the head among them. Each pair of rates is measured
in turns and the best of each is taken; where other programs share the cores, read the rates by processor time.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.abstraction.build import build_abstract_game
from foldwise.abstraction.config import check_config, read_config
from foldwise.solver.config import RunConfig
from foldwise.solver.distributed.run import DistributedRun
from foldwise.solver.regret_kernels import normalise_sums
from foldwise.solver.response.best_response import ExactResponse
from foldwise.solver.sampling.mccfr import Mccfr

HIERARCHICAL = Path(__file__).resolve().parent.parent / "configs" / "hunl-hierarchical.toml"


def speed_config(children: int, **options: Any) -> RunConfig:
    street = {"method": "percentile", "buckets": 10}
    changes = {
        "cards": {"streets": [{"method": "lossless"}, *[street] * 3], "public": {"clusters": 8, "base_buckets": 1000}},
        "solver": {"sampler": "external"},
        "distributed": {"children": children, **options},
    }
    return read_config(HIERARCHICAL, RunConfig, changes)


def exact_config(seed: int = 1, **options: Any) -> RunConfig:
    """One bucket before the flop, so that the flop's buckets forget nothing and best responses are exact."""
    streets = [{"method": "percentile", "buckets": 1}, {"method": "percentile", "buckets": 12}]
    data = {
        "name": "two-nl-8",
        "game": "two-nl-8",
        "cards": {"streets": streets, "public": {"clusters": 4, "base_buckets": 100}},
        "solver": {"sampler": "external", "seed": seed},
        "distributed": options,
    }
    return check_config(data, RunConfig, "benchmark")


def measure(game: AbstractGame, config: RunConfig, cores: int, seconds: float, address: str | None) -> dict[str, float]:
    """Nodes per second of wall time after warm-up, and who waited."""
    available = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, available[:cores])  # threads and Ray's processes inherit it
    try:
        with tempfile.TemporaryDirectory() as folder:
            run = DistributedRun(game, config, Path(folder), False, address)
            try:
                head = run.head
                head.advance(2000)  # warm up: tables touched, batches at full size
                nodes, waiting, start = head.nodes, head.waiting_seconds, time.perf_counter()
                processor = time.process_time()
                while time.perf_counter() - start < seconds:
                    head.advance(1)
                took = time.perf_counter() - start
                return {
                    "rate": (head.nodes - nodes) / took,
                    "processor_rate": (head.nodes - nodes) / (time.process_time() - processor),
                    "head_waits": (head.waiting_seconds - waiting) / took,
                    "child_waits": float(np.mean([child.waiting_share for child in head.children()])),
                }
            finally:
                run.close()
    finally:
        os.sched_setaffinity(0, available)


def compare_rates(game: AbstractGame, seconds: float, turns: int, address: str | None, label: str) -> None:
    best: dict[int, dict[str, float]] = {}
    for _ in range(turns):
        for children in (1, 2):
            found = measure(game, speed_config(children), children, seconds, address)
            if children not in best or found["rate"] > best[children]["rate"]:
                best[children] = found
    for children, found in best.items():
        print(
            f"{label}: {children} child(ren) on {children} core(s): {found['rate'] / 1e6:.2f}M nodes/s, "
            f"head waits {100 * found['head_waits']:.0f}%, a child {100 * found['child_waits']:.0f}%",
            flush=True,
        )
    print(f"{label}: 2 on 2 against 1 on 1: {best[2]['rate'] / best[1]['rate']:.2f}x", flush=True)
    if address is None:  # on Ray the children's CPU time is in other processes
        ratio = best[2]["processor_rate"] / best[1]["processor_rate"]
        print(f"{label}: nodes a second of processor time, 2 children against 1: {ratio:.2f}x", flush=True)


def two_nodes(game: AbstractGame, seconds: float) -> None:
    """Two Ray nodes of one core each on this machine, a child on each."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        cluster.add_node(num_cpus=1)
        found = measure(game, speed_config(2), 2, seconds, cluster.address)
        print(
            f"two Ray nodes, a child on each: {found['rate'] / 1e6:.2f}M nodes/s, "
            f"head waits {100 * found['head_waits']:.0f}%, a child {100 * found['child_waits']:.0f}%"
        )
    finally:
        cluster.shutdown()


def by_batch_size(game: AbstractGame, seconds: float, address: str | None, label: str) -> None:
    for batch in (8, 32, 128, 512, 2048):
        found = measure(game, speed_config(2, batch_iterations=batch), 2, seconds, address)
        print(
            f"{label}: batches of {batch}: {found['rate'] / 1e6:.2f}M nodes/s, a child waits "
            f"{100 * found['child_waits']:.0f}%",
            flush=True,
        )


def exploitability_after(
    game: AbstractGame, solver: Any, response: ExactResponse, budgets: Sequence[float]
) -> list[float]:
    found, policy = [], np.empty(game.num_entries)
    for budget in budgets:
        while solver.nodes < budget:
            each = solver.nodes / solver.iteration if solver.iteration else budget
            solver.advance(max(1, int((budget - solver.nodes) / each)))
        normalise_sums(game.tree.nodes, game.deals.num_buckets, solver.table, policy)
        found.append(response.exploitability(policy).exploitability_mbb)
    return found


def learning(seeds: range, budgets: Sequence[float]) -> None:
    """Mean exploitability and its standard error, and the ratio to the local external sampler's."""
    game = build_abstract_game(exact_config())
    response = ExactResponse(game)
    local = np.array(
        [exploitability_after(game, Mccfr(game, exact_config(seed).solver), response, budgets) for seed in seeds]
    )
    _show("local external sampling", local, local.mean(axis=0))
    cases: list[tuple[str, dict[str, Any]]] = [(f"{n} child(ren)", {"children": n}) for n in (1, 2, 4)]
    cases += [(f"2 children, batches of at most {b}", {"children": 2, "batch_iterations": b}) for b in (1, 8)]
    cases += [("2 children, updates without the flop factor", {"children": 2, "weigh_by_flops": False})]
    for label, options in cases:
        rows = []
        for seed in seeds:
            with tempfile.TemporaryDirectory() as folder:
                run = DistributedRun(game, exact_config(seed, **options), Path(folder), False, None)
                rows.append(exploitability_after(game, run.head, response, budgets))
                run.close()
        _show(label, np.array(rows), local.mean(axis=0))


def _show(label: str, rows: np.ndarray, base: np.ndarray) -> None:
    means, errors = rows.mean(axis=0), rows.std(axis=0, ddof=1) / len(rows) ** 0.5
    parts = [f"{mean:.2f} +- {error:.2f} ({mean / b:.2f}x)" for mean, error, b in zip(means, errors, base)]
    print(f"{label}: {', '.join(parts)} mbb", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ray", action="store_true")
    parser.add_argument("--learning", action="store_true")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each measurement")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=1)
    arguments = parser.parse_args()
    game = build_abstract_game(speed_config(1))
    print(f"{game.name}: {game.tree.num_nodes:,} nodes, {game.num_entries:,} infoset-actions", flush=True)
    compare_rates(game, arguments.seconds, arguments.turns, None, "in one process")
    by_batch_size(game, arguments.seconds, None, "in one process, 2 children")
    if arguments.ray:
        compare_rates(game, arguments.seconds, arguments.turns, "local", "on Ray")
        by_batch_size(game, arguments.seconds, "local", "on Ray, 2 children")
        two_nodes(game, arguments.seconds)
    if arguments.learning:
        learning(range(arguments.first_seed, arguments.first_seed + arguments.seeds), (1e5, 1e6, 4e6))


if __name__ == "__main__":
    main()
