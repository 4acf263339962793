"""`foldwise bench`: fixed seeds on a small game, for a signature of what the solvers compute, and their speed."""

import time
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

import typer

from foldwise.cli.options import JsonOption
from foldwise.cli.support.output import emit, stdout

# Iterations of each sampler on Leduc: enough to touch every kind of update, quick enough for every commit.
_ITERATIONS = {
    "chance": 3000,
    "external": 20_000,
    "outcome": 100_000,
    "average": 20_000,
    "cfr": 1000,
    "cfr+": 1000,
    "lcfr": 1000,
    "dcfr": 1000,
    "dcfr+": 1000,
}


@dataclass(frozen=True, kw_only=True)
class BenchRequest:
    repeat: Annotated[int, typer.Option(min=1, help="Time each sampler this many times and keep the best.")] = 3
    as_json: JsonOption = False


class BenchResult(TypedDict):
    signature: str
    nodes_per_second: dict[str, float]


def bench(request: BenchRequest) -> None:
    """Run every sampler on Leduc with a fixed seed: a signature of the results, and nodes a second.

    The signature changes if and only if a solver's results change; commit messages quote it.

    Example: foldwise bench
    """
    import numpy as np
    import xxhash

    from foldwise.abstraction.build import build_abstract_game
    from foldwise.abstraction.config import check_config
    from foldwise.solver.config import RunConfig
    from foldwise.solver.run import make_solver

    digest = xxhash.xxh3_64()
    rates: dict[str, float] = {}
    for sampler, iterations in _ITERATIONS.items():
        data: dict[str, Any] = {"name": "leduc", "game": "leduc", "solver": {"sampler": sampler, "seed": 1}}
        config = check_config(data, RunConfig, "bench")
        game = build_abstract_game(config)
        best = float("inf")
        for _ in range(request.repeat):
            solver = make_solver(game, config)
            solver.advance(0)  # compiles
            start = time.perf_counter()
            solver.advance(iterations)
            best = min(best, time.perf_counter() - start)
        rates[sampler] = solver.nodes / best
        # Single precision: the last bits of a sum may differ between processors.
        digest.update(np.ascontiguousarray(solver.table.astype(np.float32)).data)
        digest.update(str(solver.nodes).encode())
    signature = digest.hexdigest()[:8]

    def show() -> None:
        for sampler, rate in rates.items():
            stdout.print(f"{sampler:10} {rate / 1e6:7.1f}M nodes/s")
        stdout.print(f"signature  {signature}")

    emit(BenchResult(signature=signature, nodes_per_second=rates), request.as_json, show)
