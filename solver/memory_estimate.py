"""How much memory a run takes, estimated before it starts."""

import os
from pathlib import Path

import numpy as np

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.abstraction.deals.joint_deals import JointDeals
from foldwise.abstraction.estimate import SizeEstimate
from foldwise.game.errors import DefinitionError
from foldwise.solver.config import SolverConfig
from foldwise.solver.full_width.vector_game import is_wide
from foldwise.solver.response.responses import has_response
from foldwise.solver.samplers import FULL_WIDTH
from foldwise.solver.sampling.frames import reached_bytes

_PROCESS_BYTES = 190_000_000  # the interpreter with numpy, numba and the compiled kernels
_JOINT_BYTES = 120_000_000  # hands of every flop class, while the joint deals of a two-round game are counted
_CATEGORY_BYTES = 32  # buckets, outcome, probability and alias of one category of joint deals
_MATRIX_COPIES = 5  # of joint matrices: the deals' own, and both ways round in the solver and in the best response
_ROWS_PER_NODE = 2.5  # its values, a reach of the player who led there, and a copy of that at the ends


def estimate_bytes(game: AbstractGame, solver: SolverConfig) -> int:
    """Peak resident memory of a run: tables, tree, cards, and the policy an evaluation makes."""
    solves_wide = solver.sampler in FULL_WIDTH and is_wide(game)
    entry_bytes = 2 * np.dtype(np.float32).itemsize if solves_wide else solver.entry_bytes
    tables = game.num_entries * entry_bytes
    tree = sum(array.nbytes for array in game.tree)
    policy = game.num_entries * np.dtype(np.float32).itemsize if has_response(game) else 0
    joint = _joint_bytes(game.deals.joint) if game.deals.joint is not None else 0
    cards = 0
    if game.cards is not None:
        cards = game.cards.bytes + (_JOINT_BYTES if game.deals.joint is not None else 0)
    lists = solver.threads * reached_bytes(game) if solver.sampler == "chance" else 0
    return _PROCESS_BYTES + tables + tree + policy + joint + cards + lists + _vector_bytes(game, solves_wide)


def _vector_bytes(game: AbstractGame, solves_wide: bool) -> int:
    """Matrices, reaches and values of street-by-street passes: in single precision to solve, and again to evaluate."""
    matrices = game.deals.matrices
    if matrices is None or not is_wide(game):
        return 0
    widest = game.deals.num_buckets.max(axis=1).astype(np.int64)
    nodes = np.bincount(game.tree.nodes["street"], minlength=game.num_streets)
    evaluated = int(matrices.fold_matrices[-1].itemsize)
    vectors = int((_ROWS_PER_NODE * nodes * widest).sum()) + 2 * int(widest[-1]) ** 2
    return vectors * (evaluated + 4 * solves_wide)


def _joint_bytes(joint: JointDeals) -> int:
    """What exact deals take: noticeable if every hand is a bucket."""
    pairs = int(joint.num_buckets.astype(np.int64).prod(axis=1).sum()) * (1 + int(joint.outcomes.shape[1]))
    return _CATEGORY_BYTES * len(joint.probability) + _MATRIX_COPIES * 8 * pairs


def available_bytes() -> int:
    """Memory available without swapping."""
    try:
        with Path("/proc/meminfo").open(encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def least_bytes(size: SizeEstimate) -> int:
    """The least memory a run takes, from the size of its game alone."""
    return _PROCESS_BYTES + size.table_bytes + size.tree_bytes


def check_estimate(name: str, needed: int) -> None:
    """Refuse a run that would not fit, once its game is built and its peak is known better."""
    available = available_bytes() + _resident_bytes()
    if needed > available:
        raise DefinitionError(
            f"game {name!r} needs {needed / 1e9:.1f} GB to solve and evaluate, {available / 1e9:.1f} GB are free: use "
            "fewer buckets or bet sizes"
        )


def _resident_bytes() -> int:
    """What this process already holds, which is part of the estimate."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
