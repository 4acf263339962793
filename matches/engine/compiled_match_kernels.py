# mypy: allow-untyped-defs, allow-untyped-calls
"""Whole two-player matches between strategies and built-in bots, log text included.

`seats` is a `Seats`, `scratch` an `EngineScratch` of `matches.engine.compiled_match`. A hand's line is written while it
is played: the betting as it comes, then cards, values and names.
"""

import numpy as np

from foldwise.agent.bots_kernels import choose
from foldwise.agent.following.decision_kernels import decide, follow_opponent
from foldwise.agent.following.tracker_kernels import call_child, enter_street
from foldwise.game.betting import FOLD, RAISE
from foldwise.game.betting_kernels import (
    FINISHED,
    FOLDED,
    HAND_ACTIONS,
    LARGEST,
    MAX_SPENT,
    PLAYER,
    SMALLEST,
    SPENT,
    STREET,
    STREET_RAISES,
    apply,
    start_hand,
    to_call,
)
from foldwise.game.compiled import kernel
from foldwise.game.hands.evaluator_kernels import rank_of_hand

STRATEGY = -1  # in place of a bot's code
# No line is longer: four rounds of 64 raises with ten digits, cards, numbers and two names of at most 200 bytes.
MAX_LINE_BYTES = 4096
_COLON, _SLASH, _BAR, _MINUS, _ZERO, _NEWLINE = 58, 47, 124, 45, 48, 10
_RANKS = np.frombuffer(b"23456789TJQKA", dtype=np.uint8)
_SUITS = np.frombuffer(b"cdhs", dtype=np.uint8)
_LETTERS = np.frombuffer(b"fcr", dtype=np.uint8)
_STATE = np.frombuffer(b"STATE:", dtype=np.uint8)


@kernel
def put_bytes(out, at, text):
    for i in range(text.size):
        out[at + i] = text[i]
    return at + text.size


@kernel
def put_number(out, at, number):
    """Write an integer in decimal; returns the place after it."""
    if number < 0:
        out[at] = _MINUS
        at += 1
        number = -number
    divisor = 1
    while number // divisor >= 10:
        divisor *= 10
    while divisor > 0:
        out[at] = _ZERO + number // divisor % 10
        at += 1
        divisor //= 10
    return at


@kernel
def put_cards(out, at, cards, start, end):
    for i in range(start, end):
        out[at] = _RANKS[cards[i] >> 2]
        out[at + 1] = _SUITS[cards[i] & 3]
        at += 2
    return at


@kernel
def bot_choice(rules, tables, code, seed, hand, cards, number, scratch):
    """(kind, raise_to) of a built-in bot who is to act."""
    player = hand[PLAYER]
    num_hole = rules.num_hole
    num_board = rules.board_sizes[hand[STREET]]
    for i in range(num_hole):
        scratch.cards[i] = cards[player * num_hole + i]
    for i in range(num_board):
        scratch.cards[num_hole + i] = cards[2 * num_hole + i]
    pot = hand[SPENT] + hand[SPENT + 1]
    return choose(
        code,
        seed,
        number,
        hand[HAND_ACTIONS],
        (to_call(rules, hand), pot, hand[MAX_SPENT], hand[SMALLEST], hand[LARGEST], 1),
        hand[STREET_RAISES],
        tables,
        rules.deck,
        scratch.cards,
        num_hole,
        num_board,
        rules.board_sizes[rules.board_sizes.size - 1],
        scratch.bot,
    )


@kernel
def watch(strategy, hand, node, own, child, kind, raise_to, number, scratch):
    """A strategy's node after an action of its own, which was `child`, or of the opponent's; `hand` is before it."""
    if not own:
        return follow_opponent(strategy, hand, node, kind, raise_to, number, scratch)
    return child if kind == RAISE else call_child(strategy.tree, node)


@kernel
def play_hand(rules, tables, seats, buckets, cards, number, first_seat, scratch, out, at):
    """Play one hand into `scratch.hand` and write its betting; returns the place after the text.

    first_seat: seat of position 0; cards: hole cards by position, then the board; buckets: [2, streets] by seat.
    """
    hand = scratch.hand
    start_hand(rules, hand)
    node_0 = node_1 = np.int64(0)
    acted_0 = acted_1 = False
    while hand[FINISHED] == 0:
        street = hand[STREET]
        seat = (hand[PLAYER] + first_seat) % 2
        child = np.int64(0)
        if seats.codes[seat] != STRATEGY:
            kind, raise_to = bot_choice(
                rules, tables, seats.codes[seat], seats.seeds[seat], hand, cards, number, scratch
            )
        elif seat == 0:
            child, kind, raise_to = decide(
                seats.first, rules, hand, node_0, buckets[0, street], not acted_0, number, scratch.decision
            )
            acted_0 = True
        else:
            child, kind, raise_to = decide(
                seats.second, rules, hand, node_1, buckets[1, street], not acted_1, number, scratch.decision
            )
            acted_1 = True
        if rules.limit and kind == RAISE:
            raise_to = hand[LARGEST]
        out[at] = _LETTERS[kind]
        at += 1
        if kind == RAISE and not rules.limit:
            at = put_number(out, at, raise_to)
        if kind != FOLD:
            if seats.codes[0] == STRATEGY:
                node_0 = watch(seats.first, hand, node_0, seat == 0, child, kind, raise_to, number, scratch.decision)
            if seats.codes[1] == STRATEGY:
                node_1 = watch(seats.second, hand, node_1, seat == 1, child, kind, raise_to, number, scratch.decision)
        apply(rules, hand, kind, raise_to)
        if hand[FINISHED] == 0:
            if seats.codes[0] == STRATEGY:
                node_0 = enter_street(seats.first.tree, node_0, hand[STREET])
            if seats.codes[1] == STRATEGY:
                node_1 = enter_street(seats.second.tree, node_1, hand[STREET])
        elif hand[FOLDED] < 0:
            hand[STREET] = rules.board_sizes.size - 1  # the rest of the board is dealt
        for _ in range(street, hand[STREET]):
            out[at] = _SLASH
            at += 1
    return at


@kernel
def settle(rules, tables, hand, cards, hand_cards, values):
    """Profit of each position of a finished hand."""
    num_hole = rules.num_hole
    values[0] = values[1] = 0
    folded = hand[FOLDED]
    if folded >= 0:
        winner = 1 - folded
        amount = hand[SPENT + folded]
    else:
        board_size = rules.board_sizes[rules.board_sizes.size - 1]
        for i in range(board_size):
            hand_cards[num_hole + i] = cards[2 * num_hole + i]
        difference = np.int64(0)
        for p in range(2):
            for i in range(num_hole):
                hand_cards[i] = cards[p * num_hole + i]
            rank = np.int64(rank_of_hand(tables, hand_cards, num_hole + board_size))
            difference = rank if p == 0 else difference - rank
        if difference == 0:
            return
        winner = 0 if difference > 0 else 1
        amount = min(hand[SPENT], hand[SPENT + 1])
    values[winner] = amount
    values[1 - winner] = -amount


@kernel
def play_block(rules, tables, seats, buckets, cards, first_number, names, scratch, values, keep_text, out):
    """Play hands until `cards` or the room in `out` is used up: (hands played, bytes written).

    buckets: int64[2, H, streets] by seat; cards: uint8[H, N]; names: two uint8 arrays by seat; values: int64[H, 2] what
    each seat wins, overwritten; out: uint8[...] the hands' lines, or the last one's without `keep_text`.
    """
    at = 0
    num_hole = rules.num_hole
    hand, profit = scratch.hand, scratch.profit
    for h in range(cards.shape[0]):
        if not keep_text:
            at = 0
        if out.size - at < MAX_LINE_BYTES:
            return h, at
        number = first_number + h
        first_seat = number % 2
        row = cards[h]
        at = put_bytes(out, at, _STATE)
        at = put_number(out, at, number)
        out[at] = _COLON
        at = play_hand(rules, tables, seats, buckets[:, h], row, number, first_seat, scratch, out, at + 1)
        out[at] = _COLON
        at = put_cards(out, at + 1, row, 0, num_hole)
        out[at] = _BAR
        at = put_cards(out, at + 1, row, num_hole, 2 * num_hole)
        start = 0
        for r in range(hand[STREET] + 1):
            if r > 0:
                out[at] = _SLASH
                at += 1
            end = rules.board_sizes[r]
            at = put_cards(out, at, row, 2 * num_hole + start, 2 * num_hole + end)
            start = end
        settle(rules, tables, hand, row, scratch.cards, profit)
        for p in range(2):
            values[h, (p + first_seat) % 2] = profit[p]
            out[at] = _COLON if p == 0 else _BAR
            at = put_number(out, at + 1, profit[p])
        for p in range(2):
            out[at] = _COLON if p == 0 else _BAR
            at = put_bytes(out, at + 1, names[(p + first_seat) % 2])
        out[at] = _NEWLINE
        at += 1
    return cards.shape[0], at
