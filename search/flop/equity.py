"""What an all-in called on the flop is worth: exact over all 990 turns and rivers, for every pair of hands."""

from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from foldwise.game.arrays import Single
from foldwise.game.hands.evaluator import rank_pairs
from foldwise.game.hands.hole_cards import PAIR_CARDS
from foldwise.game.hands.showdown_kernels import ShowdownBoard
from foldwise.search.flop.equity_kernels import count_wins
from foldwise.solver.subgame.workspace import Workspace

_RUNOUTS_LEFT = 990  # turns and rivers once both hands and the flop are known


def flop_gains(board: tuple[int, ...], hands: ShowdownBoard, workspace: Workspace, threads: int) -> Single:
    """[m, m]: what the second hand wins from the first per chip at stake; 0 where they share a card.

    `hands` are those of the flop `board`, whose order is kept.
    """
    left = [card for card in range(52) if card not in board]
    ranks = np.array([rank_pairs((*board, *cards))[hands.pairs] for cards in combinations(left, 2)], dtype=np.uint16)
    num_hands = hands.pairs.size

    def count(share: tuple[int, int]) -> NDArray[np.int16]:
        out = np.zeros((num_hands, num_hands), np.int16)
        count_wins(ranks, *share, out)
        return out

    cuts = np.linspace(0, len(ranks), threads + 1).astype(int).tolist()
    above = np.sum(workspace.share(count, list(pairwise(cuts))), axis=0)
    cards = PAIR_CARDS[hands.pairs]
    clash = (cards[:, None, :, None] == cards[None, :, None, :]).any(axis=(2, 3))
    gains: Single = (above - above.T).astype(np.float32) / np.float32(_RUNOUTS_LEFT)
    gains[clash] = 0.0
    return gains
