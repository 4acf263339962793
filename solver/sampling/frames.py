"""What sampling walks write on, sized by the game: stacks, and the list of a walk that goes street by street."""

import numpy as np

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.game.trees.tree_kernels import DECISION
from foldwise.solver.sampling.chance_kernels import Reached
from foldwise.solver.sampling.sampling_kernels import Frames


def make_frames(game: AbstractGame) -> Frames:
    """A stack for one worker: a frame for every decision on the longest path, and one row of scratch."""
    depth, most_actions = game.depth + 1, game.max_actions
    return Frames(
        node=np.zeros(depth, dtype=np.int32),
        action=np.zeros(depth, dtype=np.int32),
        row=np.zeros(depth, dtype=np.int64),
        sigma=np.zeros((depth, most_actions)),
        value=np.zeros((depth, most_actions)),
        weight=np.zeros((depth, 2)),
    )


def make_reached(game: AbstractGame) -> Reached:
    """A list for one worker, with room for every decision of the tree."""
    most, most_actions = _num_decisions(game), game.max_actions
    return Reached(
        node=np.zeros(most, dtype=np.int32),
        parent=np.zeros(most, dtype=np.int32),
        action=np.zeros(most, dtype=np.int32),
        row=np.zeros(most, dtype=np.int64),
        reach=np.zeros((most, 2)),
        sigma=np.zeros((most, most_actions)),
        value=np.zeros((most, most_actions)),
    )


def reached_bytes(game: AbstractGame) -> int:
    """What such a list takes."""
    return _num_decisions(game) * (3 * 4 + 8 + 2 * 8 + 2 * 8 * game.max_actions)


def _num_decisions(game: AbstractGame) -> int:
    return int(np.count_nonzero(game.tree.nodes["kind"] == DECISION))
