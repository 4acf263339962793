"""Stacks for sampling walks, sized by the game."""

import numpy as np

from foldwise.abstraction.abstract_game import AbstractGame
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
