"""Abstract games in the form full-width kernels read, and which games have one."""

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.abstract_game import AbstractGame, Matrices
from foldwise.game.arrays import Float
from foldwise.game.errors import DefinitionError
from foldwise.solver.full_width.vector_kernels import VectorFrames, VectorGame

_WIDE_BUCKETS = 64


def has_exact_response(game: AbstractGame) -> bool:
    """Whether chance is known exactly and no bucket forgets: only then is a best response in the buckets exact."""
    matrices = game.deals.matrices
    return matrices is not None and matrices.parents is not None


def exact_matrices(game: AbstractGame) -> Matrices:
    """The matrices of a game; raises if it has none."""
    matrices = game.deals.matrices
    if matrices is None or matrices.parents is None:
        raise DefinitionError(
            f"game {game.name!r}: no exact best response and no full-width solving, because its buckets forget or its joint "
            "deals are not counted; use a sampler and lbr, or with nested percentile buckets set joint_boards"
        )
    return matrices


def is_wide(game: AbstractGame) -> bool:
    """Whether a game has enough streets and buckets for passes with matrix products to pay off."""
    return game.num_streets > 2 and int(game.deals.num_buckets.max()) >= _WIDE_BUCKETS


def make_vector_game(game: AbstractGame) -> VectorGame:
    """The game as full-width kernels read it."""
    joint = exact_matrices(game)
    assert joint.parents is not None
    matrices: list[Float] = []
    fold_matrix, settle_matrix = [], []
    for fold, settle in zip(joint.fold_matrices, joint.settle_matrices):
        fold_matrix.append(len(matrices))
        matrices.append(fold)
        settle_matrix.append(len(matrices))
        matrices.extend(settle)
    sizes = [matrix.size for matrix in matrices]
    num_streets = game.num_streets
    parent_offset = np.zeros((num_streets, 2), dtype=np.int64)
    parents: list[npt.NDArray[np.int32]] = [np.zeros(0, dtype=np.int32)]
    for street in range(1, num_streets):
        for player in range(2):
            parent_offset[street, player] = sum(len(part) for part in parents)
            parents.append(joint.parents[street - 1][player])
    return VectorGame(
        nodes=game.tree.nodes,
        num_buckets=np.ascontiguousarray(joint.num_buckets),  # one layout, so that kernels compile once
        by_first=np.concatenate([matrix.ravel() for matrix in matrices]),
        by_second=np.concatenate([matrix.T.ravel() for matrix in matrices]),
        offset=np.cumsum([0, *sizes[:-1]]).astype(np.int64),
        fold_matrix=np.array(fold_matrix, dtype=np.int32),
        settle_matrix=np.array(settle_matrix, dtype=np.int32),
        parents=np.concatenate(parents),
        parent_offset=parent_offset,
    )


def make_vector_frames(game: AbstractGame) -> VectorFrames:
    """A stack for one walk, with both reaches of the root at 1: chance is in the matrices."""
    depth, most_buckets = game.depth, int(game.deals.num_buckets.max())
    return VectorFrames(
        node=np.zeros(depth, dtype=np.int32),
        action=np.zeros(depth, dtype=np.int32),
        own_reach=np.ones((depth, most_buckets)),
        opponent_reach=np.ones((depth, most_buckets)),
        value=np.zeros((depth, most_buckets)),
        sigma=np.zeros((depth, most_buckets * game.max_actions)),
        action_value=np.zeros((depth, most_buckets * game.max_actions)),
    )
