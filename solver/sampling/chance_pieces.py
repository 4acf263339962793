"""Chance sampling on several threads as Zinkevich et al. (NIPS 2007, section 4.2) ran it: pieces by preflop betting.

Betting is public, so what follows one way through the first street shares no infoset with what follows another. Threads
walk the same deals, each its own pieces, and no update is lost. In the paper threads meet after every deal; here they meet
after a block of deals, so a piece sees first-street reaches up to that many deals old. Values, and with them everything
on the first street, are those of the deal.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.game.errors import DefinitionError
from foldwise.game.trees.tree_kernels import CHANCE
from foldwise.solver.config import SolverConfig
from foldwise.solver.sampling.frames import make_reached
from foldwise.solver.sampling.mccfr import Mccfr
from foldwise.solver.sampling.piece_kernels import reach_pieces, update_trunk, walk_pieces
from foldwise.solver.sampling.sampling_kernels import WalkOptions
from foldwise.solver.side_by_side import side_by_side

BLOCK_DEALS = 32


class ChanceInPieces(Mccfr):
    """Chance sampling whose threads divide the betting after the first street; a single thread walks as usual."""

    def __init__(self, game: AbstractGame, config: SolverConfig, block_deals: int = BLOCK_DEALS):
        super().__init__(game, config)
        nodes = game.tree.nodes
        self._block = block_deals
        self._trunk = np.flatnonzero(nodes["street"] == 0).astype(np.int32)
        is_piece = nodes["kind"][self._trunk] == CHANCE
        self._roots = nodes["first_child"][self._trunk[is_piece]].astype(np.int32)
        if len(self._roots) == 0:
            raise DefinitionError(f"game {game.name!r} has one street: its betting has no pieces; leave `pieces` out")
        self._piece_of = np.where(is_piece, np.cumsum(is_piece) - 1, -1).astype(np.int32)
        self._place = np.zeros(len(nodes), dtype=np.int32)
        self._place[self._trunk] = np.arange(len(self._trunk))
        pieces = np.arange(len(self._roots), dtype=np.int32)
        self._shares = [pieces[index :: config.threads] for index in range(config.threads)]
        self._reach = np.zeros((len(self._trunk), 2))
        self._value = np.zeros(len(self._trunk))
        self._sigma = np.zeros(game.max_actions)
        self._reached = [make_reached(game) for _ in range(config.threads)]
        self._deals = np.zeros((block_deals, 2, game.num_streets), dtype=np.int32)
        self._outcome_rows = np.zeros(block_deals, dtype=np.int32)

    def advance(self, iterations: int) -> None:
        """Run that many iterations; 0 iterations only compile."""
        if iterations == 0 and self.config.threads > 1:
            with ThreadPoolExecutor(self.config.threads) as pool:
                self._advance_block(pool, 0, self._options())
        super().advance(iterations)

    def _advance_together(self, iterations: int, options: WalkOptions) -> None:
        with ThreadPoolExecutor(self.config.threads) as pool:
            for first in range(0, iterations, self._block):
                self._advance_block(pool, min(self._block, iterations - first), options)

    def _advance_block(self, pool: ThreadPoolExecutor, count: int, options: WalkOptions) -> None:
        game, table, place = self.game, self.table, self._place
        nodes, outcomes, last_street = game.tree.nodes, game.deals.outcomes, game.num_streets - 1
        deals, rows = self._deals[:count], self._outcome_rows[:count]
        game.deals.draw(self.rng[0], deals, rows)
        piece_reach = np.zeros((count, len(self._roots), 2))
        piece_value = np.zeros((count, len(self._roots)))
        reach_pieces(nodes, self._trunk, place, self._piece_of, table, deals, self._sigma, self._reach, piece_reach)

        def walk(index: int) -> int:
            return int(
                walk_pieces(
                    nodes,
                    table,
                    deals,
                    rows,
                    outcomes,
                    last_street,
                    options,
                    self._reached[index],
                    self.rng[2 * index + 1],
                    self._roots,
                    self._shares[index],
                    piece_reach,
                    piece_value,
                )
            )

        self.nodes += sum(side_by_side(pool, walk, range(self.config.threads)))
        self.nodes += int(
            update_trunk(
                nodes,
                self._trunk,
                place,
                self._piece_of,
                table,
                deals,
                rows,
                outcomes,
                options,
                self._sigma,
                self._reach,
                self._value,
                piece_value,
            )
        )


def make_chance(game: AbstractGame, config: SolverConfig) -> Mccfr:
    """Chance sampling, in pieces if the config says so."""
    return ChanceInPieces(game, config) if config.pieces else Mccfr(game, config)
