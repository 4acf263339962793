# mypy: allow-untyped-defs, allow-untyped-calls
"""Whole two-player matches between built-in bots, log text included. The betting rules are those of `game.betting`.

A hand's line is written while it is played: the betting as it comes, then cards, values and names.
"""

import numpy as np

from agent.bots_kernels import choose
from game.betting import CALL, FOLD, MAX_ACTIONS_PER_ROUND, RAISE
from game.compiled import kernel
from game.evaluator_kernels import rank_of_hand

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
    """Decimal digits of an integer; the place after them."""
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
def raise_bounds(rules, round_index, num_actions, num_raises, num_active, player, max_spent, min_raise_to):
    """Smallest and largest raise-to, or (0, 0) where no raise is possible."""
    if num_raises >= rules.max_raises[round_index] or num_actions + 2 > MAX_ACTIONS_PER_ROUND or num_active < 2:
        return 0, 0
    stack = rules.stacks[player]
    if rules.limit:
        raise_to = min(max_spent + rules.raise_sizes[round_index], stack)
        return raise_to, raise_to
    if min_raise_to <= stack:
        return min_raise_to, stack
    if max_spent >= stack:
        return 0, 0
    return stack, stack


@kernel
def play_hand(rules, tables, bots, seeds, cards, number, first_seat, scratch, hand_cards, spent, out, at):
    """Play one hand and write its betting; (player who folded or -1, last round, place after the text).

    bots, seeds: by seat; first_seat: seat of position 0; cards: hole cards by position, then the board; spent: [2],
    overwritten with what each position has put in.
    """
    big_blind = max(rules.blinds[0], rules.blinds[1])
    spent[0], spent[1] = rules.blinds[0], rules.blinds[1]
    max_spent = big_blind
    min_raise_to = 2 * big_blind if big_blind > 0 else 1
    num_hole = rules.num_hole
    last_round = rules.board_sizes.size - 1
    full_board = rules.board_sizes[last_round]
    round_index = 0
    decision = 0
    while True:  # rounds
        player = rules.first_players[round_index]
        num_actions = 0
        num_raises = 0
        num_called = 0
        num_board = rules.board_sizes[round_index]
        while True:  # actions
            if spent[player] >= rules.stacks[player]:
                player = 1 - player
            num_active = 0
            for p in range(2):
                num_active += spent[p] < rules.stacks[p]
            smallest, largest = raise_bounds(
                rules, round_index, num_actions, num_raises, num_active, player, max_spent, min_raise_to
            )
            for i in range(num_hole):
                hand_cards[i] = cards[player * num_hole + i]
            for i in range(num_board):
                hand_cards[num_hole + i] = cards[2 * num_hole + i]
            stack = rules.stacks[player]
            seat = (player + first_seat) % 2
            to_call = min(max_spent, stack) - spent[player]
            kind, raise_to = choose(
                bots[seat],
                seeds[seat],
                number,
                decision,
                (to_call, spent[0] + spent[1], max_spent, smallest, largest, 1),
                num_raises,
                tables,
                rules.deck,
                hand_cards,
                num_hole,
                num_board,
                full_board,
                scratch,
            )
            out[at] = _LETTERS[kind]
            at += 1
            decision += 1
            if kind == FOLD:
                return player, round_index, at
            if kind == CALL:
                spent[player] = min(max_spent, stack)
            elif rules.limit:
                max_spent = min(max_spent + rules.raise_sizes[round_index], stack)
                spent[player] = max_spent
            else:
                at = put_number(out, at, raise_to)
                min_raise_to = max(min_raise_to, 2 * raise_to - max_spent)
                max_spent = raise_to
                spent[player] = raise_to
            num_actions += 1
            if kind == RAISE:
                num_raises += 1
                num_called = 0
            num_active = 0
            for p in range(2):
                num_active += spent[p] < rules.stacks[p]
            num_called += spent[player] < stack
            if num_called >= num_active:
                break
            player = 1 - player
        if num_active < 2:
            for _ in range(round_index, last_round):
                out[at] = _SLASH
                at += 1
            return -1, last_round, at
        if round_index == last_round:
            return -1, last_round, at
        out[at] = _SLASH
        at += 1
        round_index += 1
        min_raise_to = max_spent + max(1, big_blind)


@kernel
def play_block(rules, tables, bots, seeds, cards, first_number, names, scratch, totals, out):
    """Play hands until `cards` or the room in `out` is used up: (hands played, bytes written).

    cards: uint8[H, N]; names: two uint8 arrays by seat; totals: int64[2] by seat, added to; out: uint8[...].
    """
    at = 0
    spent = np.zeros(2, np.int64)
    values = np.zeros(2, np.int64)
    ranks = np.zeros(2, np.int64)
    hand_cards = np.zeros(10, np.int64)
    num_hole = rules.num_hole
    for h in range(cards.shape[0]):
        if out.size - at < MAX_LINE_BYTES:
            return h, at
        number = first_number + h
        first_seat = number % 2
        row = cards[h]
        at = put_bytes(out, at, _STATE)
        at = put_number(out, at, number)
        out[at] = _COLON
        folded, last, at = play_hand(
            rules, tables, bots, seeds, row, number, first_seat, scratch, hand_cards, spent, out, at + 1
        )
        out[at] = _COLON
        at = put_cards(out, at + 1, row, 0, num_hole)
        out[at] = _BAR
        at = put_cards(out, at + 1, row, num_hole, 2 * num_hole)
        start = 0
        for r in range(last + 1):
            if r > 0:
                out[at] = _SLASH
                at += 1
            end = rules.board_sizes[r]
            at = put_cards(out, at, row, 2 * num_hole + start, 2 * num_hole + end)
            start = end
        winner = -1
        if folded >= 0:
            winner = 1 - folded
            amount = spent[folded]
        else:
            amount = min(spent[0], spent[1])
            board_size = rules.board_sizes[last]
            for p in range(2):
                for i in range(num_hole):
                    hand_cards[i] = row[p * num_hole + i]
                for i in range(board_size):
                    hand_cards[num_hole + i] = row[2 * num_hole + i]
                ranks[p] = rank_of_hand(tables, hand_cards, num_hole + board_size)
            if ranks[0] != ranks[1]:
                winner = 0 if ranks[0] > ranks[1] else 1
        values[:] = 0
        if winner >= 0:
            values[winner] = amount
            values[1 - winner] = -amount
        for p in range(2):
            totals[(p + first_seat) % 2] += values[p]
            out[at] = _COLON if p == 0 else _BAR
            at = put_number(out, at + 1, values[p])
        for p in range(2):
            out[at] = _COLON if p == 0 else _BAR
            at = put_bytes(out, at + 1, names[(p + first_seat) % 2])
        out[at] = _NEWLINE
        at += 1
    return cards.shape[0], at
