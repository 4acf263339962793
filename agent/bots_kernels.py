# mypy: allow-untyped-defs, allow-untyped-calls
"""Decisions of the built-in bots, one at a time. Random numbers depend on seed, hand and decision alone."""

import numpy as np

from foldwise.game.betting import CALL, FOLD, RAISE
from foldwise.game.compiled import kernel
from foldwise.game.hands.evaluator_kernels import FLUSH_BITS, SUIT_START, rank_of_hand, word_rank
from foldwise.game.primitives.rng_kernels import counter_bits, next_below, split_mix

CALL_BOT, FOLD_BOT, RAISE_BOT, RANDOM_BOT, STRENGTH_BOT = range(5)
SAMPLES = 200  # run-outs of bot:strength: a standard error of 0.035
_TO_UNIT = 1.0 / 9007199254740992.0  # 2^-53


@kernel
def unit_draw(bits, index):
    """Number `index` of the uniform floats in [0, 1) that belong to one decision."""
    return np.float64(split_mix(bits, index + 1) >> np.uint64(11)) * _TO_UNIT


@kernel
def win_chance(tables, deck, cards, num_hole, num_board, full_board, num_opponents, bits, scratch):
    """Chance to win against random hands, ties shared, by sampling; cards = hole then board, scratch.deck [52]."""
    num_left = 0
    for i in range(deck.size):
        known = False
        for j in range(num_hole + num_board):
            known = known or cards[j] == deck[i]
        if not known:
            scratch.deck[num_left] = deck[i]
            num_left += 1
    for i in range(4):
        scratch.rng[i] = split_mix(bits, i + 1)
    to_come = full_board - num_board
    num_drawn = to_come + num_opponents * num_hole
    num_cards = num_hole + full_board
    words = tables.words
    board_word = np.int64(SUIT_START)
    for i in range(num_board):
        board_word += words[cards[num_hole + i]]
    won = 0.0
    for _ in range(SAMPLES):
        for i in range(num_drawn):
            j = i + next_below(scratch.rng, num_left - i)
            scratch.deck[i], scratch.deck[j] = scratch.deck[j], scratch.deck[i]
        board = board_word
        for i in range(to_come):
            board += words[scratch.deck[i]]
        # A hand is the sum of its cards' words; only a flush is examined card by card.
        for i in range(num_board):
            scratch.hand[num_hole + i] = cards[num_hole + i]
        for i in range(to_come):
            scratch.hand[num_hole + num_board + i] = scratch.deck[i]
        word = board
        for i in range(num_hole):
            word += words[cards[i]]
            scratch.hand[i] = cards[i]
        rank = word_rank(tables, word) if word & FLUSH_BITS == 0 else rank_of_hand(tables, scratch.hand, num_cards)
        share = 1
        for opponent in range(num_opponents):
            word = board
            for i in range(num_hole):
                scratch.hand[i] = scratch.deck[to_come + opponent * num_hole + i]
                word += words[scratch.hand[i]]
            other = word_rank(tables, word) if word & FLUSH_BITS == 0 else rank_of_hand(tables, scratch.hand, num_cards)
            if other > rank:
                share = 0
                break
            if other == rank:
                share += 1
        if share > 0:
            won += 1.0 / share
    return won / SAMPLES


@kernel
def choose(bot, seed, hand, decision, spot, raises, tables, deck, cards, num_hole, num_board, full_board, scratch):
    """(kind, raise_to) of a bot. spot = to call, pot, largest amount put in, smallest and largest raise-to (0: none),
    opponents left; raises = in this round so far; cards = hole then board.
    """
    to_call, pot, max_spent, smallest, largest, num_opponents = spot
    if bot == CALL_BOT:
        return CALL, 0
    if bot == FOLD_BOT:
        return (FOLD if to_call > 0 else CALL), 0
    if bot == RAISE_BOT:
        return (RAISE, smallest) if largest > 0 else (CALL, 0)
    bits = counter_bits(np.uint64(seed), np.uint64(hand), np.uint64(decision))
    chance = unit_draw(bits, 0)
    if bot == RANDOM_BOT:
        if to_call > 0 and chance < 0.1:
            return FOLD, 0
        if largest > 0 and chance >= 0.6:
            return RAISE, smallest + np.int64(unit_draw(bits, 1) * (largest - smallest + 1))
        return CALL, 0
    win = win_chance(tables, deck, cards, num_hole, num_board, full_board, num_opponents, bits, scratch)
    # Against several opponents the same hand wins less often: thresholds are for one.
    strength = win ** (1.0 / num_opponents)
    bet = max_spent + np.int64(0.75 * (pot + to_call))
    raise_to = min(max(bet, smallest), largest)
    if to_call == 0:
        wants_bet = strength > 0.6 or chance < 0.08
        return (RAISE, raise_to) if wants_bet and largest > 0 else (CALL, 0)
    # Each raise in the round suggests a better hand than a random one.
    if largest > 0 and strength > 0.7 + 0.07 * raises:
        return RAISE, raise_to
    needed = to_call / (pot + to_call) + 0.05 * (raises - 1)
    return (CALL if win >= needed else FOLD), 0
