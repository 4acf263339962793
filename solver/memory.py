"""How much memory a run takes, said before it starts."""

import os
from pathlib import Path

import numpy as np

from abstraction.abstract_game import AbstractGame
from game.errors import DefinitionError
from solver.best_response import has_exact_response

_PROCESS_BYTES = 330_000_000  # the interpreter with numpy, numba and the compiled kernels


def estimate_bytes(game: AbstractGame) -> int:
    """Peak resident memory of a run: tables, tree, and the policy an evaluation makes."""
    tables = 2 * game.num_entries * np.dtype(np.float64).itemsize
    tree = sum(array.nbytes for array in game.tree)
    policy = game.num_entries * np.dtype(np.float32).itemsize if has_exact_response(game) else 0
    return _PROCESS_BYTES + tables + tree + policy


def available_bytes() -> int:
    """Memory that can be had without swapping."""
    try:
        with Path("/proc/meminfo").open(encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def check_memory(game: AbstractGame) -> int:
    """The estimate; an error where the machine does not have it."""
    needed, available = estimate_bytes(game), available_bytes()
    if needed > available:
        raise DefinitionError(
            f"game {game.name!r} needs {needed / 1e9:.1f} GB for {game.num_entries:,} infoset-actions, "
            f"{available / 1e9:.1f} GB are free: use fewer buckets or bet sizes"
        )
    return needed
