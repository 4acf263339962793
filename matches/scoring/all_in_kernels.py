# mypy: allow-untyped-defs, allow-untyped-calls
"""Expected values of all-in hands: the average over every completion of the board."""

import numpy as np

from foldwise.game.compiled import kernel
from foldwise.game.hands.evaluator_kernels import FLUSH_BITS, SUIT_START, rank_of_hand, word_rank


@kernel
def add_showdown(spent, folded, levels, ranks, values):
    """Add each position's profit at a showdown; levels: the distinct amounts put in, in order, above zero.

    The pot is cut at each level; a slice goes to the best hands among those who paid into it and have not folded.
    """
    below = 0
    for i in range(levels.size):
        level = levels[i]
        height = level - below
        below = level
        best = -1
        num_paid = 0
        num_won = 0
        for p in range(spent.size):
            if spent[p] >= level:
                num_paid += 1
                if not folded[p]:
                    if ranks[p] > best:
                        best = ranks[p]
                        num_won = 1
                    elif ranks[p] == best:
                        num_won += 1
        share = height * (num_paid - num_won) / num_won
        for p in range(spent.size):
            if spent[p] >= level:
                values[p] += share if not folded[p] and ranks[p] == best else -height


@kernel
def next_combination(chosen, size, limit):
    """The next combination of `size` numbers below `limit`, in order; False after the last.

    The last number that can still move on does, those after it follow.
    """
    i = size - 1
    while i >= 0 and chosen[i] == limit - size + i:
        i -= 1
    if i < 0:
        return False
    chosen[i] += 1
    for j in range(i + 1, size):
        chosen[j] = chosen[j - 1] + 1
    return True


@kernel
def sum_run_outs(tables, hole_cards, board, num_board, deck, spent, folded, levels, values):
    """Add the profits over all completions of the board; how many there are.

    hole_cards: [players, hole]; board: [full board], the first `num_board` known; deck: the cards that may come.
    """
    num_players, num_hole = hole_cards.shape
    to_come = board.size - num_board
    chosen = np.arange(to_come)
    hand = np.zeros(num_hole + board.size, np.int64)
    ranks = np.zeros(num_players, np.int64)
    count = 0
    while True:
        for i in range(to_come):
            board[num_board + i] = deck[chosen[i]]
        for i in range(board.size):
            hand[num_hole + i] = board[i]
        for p in range(num_players):
            if not folded[p]:
                for i in range(num_hole):
                    hand[i] = hole_cards[p, i]
                ranks[p] = rank_of_hand(tables, hand, hand.size)
        add_showdown(spent, folded, levels, ranks, values)
        count += 1
        if not next_combination(chosen, to_come, deck.size):
            return count


@kernel
def count_run_outs(tables, hands, num_known, deck, counts):
    """Completions that the first of two hands wins, the second wins, and that neither does.

    hands: [2, cards], the last `cards - num_known` to come, the same for both. All but the last card are chosen in
    order and summed; the last one runs through the rest of the deck, so that a board costs one addition a hand.
    """
    num_cards = hands.shape[1]
    outer = num_cards - num_known - 1
    chosen = np.arange(outer)
    while True:
        word_0, word_1 = SUIT_START, SUIT_START
        for i in range(outer):
            hands[0, num_known + i] = deck[chosen[i]]
            hands[1, num_known + i] = deck[chosen[i]]
        for i in range(num_cards - 1):
            word_0 += tables.words[hands[0, i]]
            word_1 += tables.words[hands[1, i]]
        first = chosen[outer - 1] + 1 if outer > 0 else 0
        for i in range(first, deck.size):
            word = tables.words[deck[i]]
            full_0, full_1 = word_0 + word, word_1 + word
            if full_0 & FLUSH_BITS == 0:
                rank_0 = word_rank(tables, full_0)
            else:
                hands[0, num_cards - 1] = deck[i]
                rank_0 = rank_of_hand(tables, hands[0], num_cards)
            if full_1 & FLUSH_BITS == 0:
                rank_1 = word_rank(tables, full_1)
            else:
                hands[1, num_cards - 1] = deck[i]
                rank_1 = rank_of_hand(tables, hands[1], num_cards)
            counts[0] += rank_0 > rank_1
            counts[1] += rank_0 < rank_1
            counts[2] += rank_0 == rank_1
        if outer == 0 or not next_combination(chosen, outer, deck.size - 1):
            return
