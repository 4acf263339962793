"""What solving a shipped config takes: its stop condition, and the least memory it needs.

To size a game its betting tree is built, which takes seconds for the largest. `configs/memory.json` keeps the figures, each
with a hash of the config it belongs to; a config that was changed since is sized again.
"""

import hashlib
import json
from dataclasses import dataclass
from math import log
from pathlib import Path

from foldwise.abstraction.config import read_config
from foldwise.abstraction.estimate import estimate_size
from foldwise.abstraction.shipped_configs import about_config, configs_folder, shipped_configs
from foldwise.solver.config import RunConfig, SolverConfig
from foldwise.solver.memory_estimate import least_bytes

_KEPT = "memory.json"
# External sampling, nodes per second and thread with two threads: 20 million with tables of 325 MB, 8.1 million with
# 5.4 GB; interpolated by the logarithm of the size.
_RATE_BYTES = (325e6, 5.4e9)
_RATES = (20e6, 8.1e6)


@dataclass(frozen=True)
class ConfigCost:
    """A shipped config, and what it takes to solve it unchanged."""

    name: str
    about: str
    game: str
    sampler: str
    stop: str
    seconds: float | None  # of solving, about where nodes end it; None where nothing says how long it takes
    bytes: int  # of memory, at the least


def config_costs() -> list[ConfigCost]:
    """Of all shipped configs."""
    kept = json.loads((configs_folder() / _KEPT).read_text(encoding="utf-8"))
    return [_cost(path, kept.get(name)) for name, path in shipped_configs().items()]


def measured_memory() -> dict[str, dict[str, str | int]]:
    """The content of `configs/memory.json`, computed again: about 20 seconds."""
    return {
        name: {"config": config_hash(path), "bytes": config_bytes(path)} for name, path in shipped_configs().items()
    }


def config_hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def config_bytes(path: Path) -> int:
    """The memory of one config, computed."""
    config = read_config(path, RunConfig, {})
    return least_bytes(estimate_size(config, config.solver.entry_bytes))


def _cost(path: Path, kept: dict[str, str | int] | None) -> ConfigCost:
    config = read_config(path, RunConfig, {})
    known = kept is not None and kept["config"] == config_hash(path)
    num_bytes = int(kept["bytes"]) if kept is not None and known else config_bytes(path)
    return ConfigCost(
        name=config.name,
        about=about_config(path),
        game=config.game,
        sampler=config.solver.sampler,
        stop=_stop(config.solver),
        seconds=expected_seconds(config.solver, num_bytes),
        bytes=num_bytes,
    )


def expected_seconds(solver: SolverConfig, table_bytes: int) -> float | None:
    """How long a run solves, if it is known: from its own limit, or in external sampling from its nodes at the usual rate.

    The rate was measured on two cores of 2.1 GHz (docs/speed.md): other machines differ, and so do other betting trees.
    """
    about = None
    if solver.nodes is not None and solver.sampler == "external":
        low, high = (log(size) for size in _RATE_BYTES)
        share = min(1.0, max(0.0, (log(max(table_bytes, 1)) - low) / (high - low)))
        about = solver.nodes / (solver.threads * (_RATES[0] + share * (_RATES[1] - _RATES[0])))
    known = [seconds for seconds in (about, solver.seconds) if seconds is not None]
    return min(known) if known else None


def _stop(solver: SolverConfig) -> str:
    conditions = {
        "iterations": solver.iterations,
        "nodes": solver.nodes,
        "s": solver.seconds,
        "mbb": solver.exploitability_mbb,
    }
    return " or ".join(f"{value:,} {unit}" for unit, value in conditions.items() if value is not None)
