"""A two-player game as kernels read it."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from foldwise.game.definition import GameDefinition


class TableRules(NamedTuple):
    """The rules of a definition as numbers and arrays."""

    limit: bool
    num_hole: int
    stacks: npt.NDArray[np.int64]  # [2]
    blinds: npt.NDArray[np.int64]  # [2]
    raise_sizes: npt.NDArray[np.int64]  # [rounds]; zeros in no-limit
    first_players: npt.NDArray[np.int64]  # [rounds]
    max_raises: npt.NDArray[np.int64]  # [rounds]
    board_sizes: npt.NDArray[np.int64]  # [rounds]
    deck: npt.NDArray[np.int64]


def table_rules(definition: GameDefinition) -> TableRules:
    raise_sizes = definition.raise_sizes or (0,) * definition.num_rounds
    return TableRules(
        limit=definition.limit,
        num_hole=definition.num_hole_cards,
        stacks=np.array(definition.stacks, np.int64),
        blinds=np.array(definition.blinds, np.int64),
        raise_sizes=np.array(raise_sizes, np.int64),
        first_players=np.array(definition.first_players, np.int64),
        max_raises=np.array(definition.max_raises, np.int64),
        board_sizes=np.array(definition.board_sizes, np.int64),
        deck=np.array(definition.deck, np.int64),
    )
