"""What solving a shipped config takes: its stop condition, and the least memory it needs.

To size a game its betting tree is built, which takes seconds for the largest. `configs/memory.json` keeps the figures, each
with a hash of the config it belongs to; a config that was changed since is sized anew.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from foldwise.abstraction.config import read_config
from foldwise.abstraction.estimate import estimate_size
from foldwise.abstraction.shipped_configs import about_config, configs_folder, shipped_configs
from foldwise.solver.config import RunConfig, SolverConfig
from foldwise.solver.memory_estimate import least_bytes

_KEPT = "memory.json"


@dataclass(frozen=True)
class ConfigCost:
    """A shipped config, and what it takes to solve it as it stands."""

    name: str
    about: str
    game: str
    sampler: str
    stop: str
    seconds: float | None  # of solving; None where something else ends it
    bytes: int  # of memory, at the least


def config_costs() -> list[ConfigCost]:
    """Of all shipped configs."""
    kept = json.loads((configs_folder() / _KEPT).read_text(encoding="utf-8"))
    return [_cost(path, kept.get(name)) for name, path in shipped_configs().items()]


def measured_memory() -> dict[str, dict[str, str | int]]:
    """What `configs/memory.json` must say, worked out anew: about 20 seconds."""
    return {
        name: {"config": config_hash(path), "bytes": config_bytes(path)} for name, path in shipped_configs().items()
    }


def config_hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def config_bytes(path: Path) -> int:
    """The memory of one config, worked out."""
    return least_bytes(estimate_size(read_config(path, RunConfig, {})))


def _cost(path: Path, kept: dict[str, str | int] | None) -> ConfigCost:
    config = read_config(path, RunConfig, {})
    known = kept is not None and kept["config"] == config_hash(path)
    return ConfigCost(
        name=config.name,
        about=about_config(path),
        game=config.game,
        sampler=config.solver.sampler,
        stop=_stop(config.solver),
        seconds=config.solver.seconds,
        bytes=int(kept["bytes"]) if kept is not None and known else config_bytes(path),
    )


def _stop(solver: SolverConfig) -> str:
    conditions = {
        "iterations": solver.iterations,
        "nodes": solver.nodes,
        "s": solver.seconds,
        "mbb": solver.exploitability_mbb,
    }
    return " or ".join(f"{value:,} {unit}" for unit, value in conditions.items() if value is not None)
