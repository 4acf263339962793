"""Whether a run fits the machine: its memory and its disk, found before anything long starts."""

import shutil
from pathlib import Path

import numpy as np

from foldwise.abstraction.estimate import SizeEstimate, card_bytes
from foldwise.abstraction.strategy import stored_dtype
from foldwise.game.errors import DefinitionError
from foldwise.solver import memory_estimate
from foldwise.solver.config import RunConfig
from foldwise.solver.config_costs import config_costs
from foldwise.solver.milestones import PARTS
from foldwise.solver.samplers import FULL_WIDTH


def check_memory(config: RunConfig, size: SizeEstimate) -> None:
    """Refuse a game whose tables the machine does not have the memory for."""
    needed, available = memory_estimate.least_bytes(size), memory_estimate.available_bytes()
    if needed > available:
        raise DefinitionError(
            f"game {size.name!r} needs {needed / 1e9:.1f} GB for {size.infoset_actions:,} infoset-actions, "
            f"{available / 1e9:.1f} GB are free: {_what_fits(config, size, available)}"
        )


def check_disk(config: RunConfig, size: SizeEstimate, folder: Path) -> None:
    """Refuse a run whose checkpoints and strategy do not fit on the disk, given what its folder already holds."""
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    held = sum(path.stat().st_size for path in folder.rglob("*.npy")) if folder.is_dir() else 0
    needed, free = disk_bytes(config, size), shutil.disk_usage(place).free + held
    if needed > free:
        fits = max(0, free - card_bytes(config)) * size.infoset_actions // max(1, needed - card_bytes(config))
        raise DefinitionError(
            f"game {size.name!r} needs {_amount(needed)} of disk for cards, checkpoints and its strategy, {str(place)!r} has "
            f"{_amount(free)} free: make room, give another folder, or use fewer buckets or bet sizes "
            f"({fits:,} infoset-actions would fit, it has {size.infoset_actions:,})"
        )


def _amount(num_bytes: int) -> str:
    """In the unit in which it is not nothing."""
    return f"{num_bytes / 1e9:.1f} GB" if num_bytes >= 10**8 else f"{num_bytes / 1e6:.2f} MB"


def disk_bytes(config: RunConfig, size: SizeEstimate) -> int:
    """The peak on disk: the last checkpoint and the one being written, kept sums, the same for the strategy, and cards."""
    kept = 0 if config.solver.sampler in FULL_WIDTH else len(PARTS) * size.table_bytes // 2
    stored = size.infoset_actions * np.dtype(stored_dtype(size.infoset_actions)).itemsize
    return 2 * size.table_bytes + kept + 2 * stored + card_bytes(config)


def _what_fits(config: RunConfig, size: SizeEstimate, available: int) -> str:
    """Ways to make it fit: single precision, the largest shipped config of the same game that fits, or a smaller game."""
    ways = []
    solver = config.solver
    can_be_single = solver.precision == "double" and solver.sampler == "external" and config.distributed is None
    if can_be_single and memory_estimate.least_bytes(size) - size.table_bytes // 2 <= available:
        ways.append("--set solver.precision=single")
    fitting = [cost for cost in config_costs() if cost.game == config.game and cost.bytes <= available]
    if fitting:
        largest = max(fitting, key=lambda cost: cost.bytes)
        ways.append(f"config {largest.name} ({largest.bytes / 1e9:.1f} GB)")
    return (
        f"{' or '.join(ways)} would fit; or use fewer buckets or bet sizes"
        if ways
        else "use fewer buckets or bet sizes"
    )
