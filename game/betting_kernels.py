# mypy: allow-untyped-defs, allow-untyped-calls
"""The betting of one two-player hand as a row of integers: the rules of `game.betting` for compiled walks.

A hand is an int64[NUM_FIELDS] array that the caller owns; `start_hand` fills it, `apply` plays one legal action.
"""

from foldwise.game.betting import CALL, FOLD, MAX_ACTIONS_PER_ROUND
from foldwise.game.compiled import kernel

# Fields of a hand. SMALLEST and LARGEST bound the raise-to of the player to act; both are 0 where no raise is possible.
SPENT, MAX_SPENT, MIN_RAISE_TO, STREET, PLAYER, STREET_ACTIONS, STREET_RAISES = 0, 2, 3, 4, 5, 6, 7
NUM_CALLED, FINISHED, FOLDED, HAND_ACTIONS, SMALLEST, LARGEST, NUM_FIELDS = 8, 9, 10, 11, 12, 13, 14


@kernel
def start_hand(rules, hand):
    """The blinds are in, nobody has acted."""
    big_blind = max(rules.blinds[0], rules.blinds[1])
    hand[SPENT], hand[SPENT + 1] = rules.blinds[0], rules.blinds[1]
    hand[MAX_SPENT] = big_blind
    hand[MIN_RAISE_TO] = 2 * big_blind if big_blind > 0 else 1
    hand[STREET] = 0
    hand[FINISHED] = 0
    hand[FOLDED] = -1
    hand[HAND_ACTIONS] = 0
    _start_street(rules, hand)


@kernel
def _start_street(rules, hand):
    hand[STREET_ACTIONS] = 0
    hand[STREET_RAISES] = 0
    hand[NUM_CALLED] = 0
    hand[PLAYER] = rules.first_players[hand[STREET]]
    set_turn(rules, hand)


@kernel
def set_turn(rules, hand):
    """Pass over a player without chips, and find the bounds of a raise."""
    if hand[SPENT + hand[PLAYER]] >= rules.stacks[hand[PLAYER]]:
        hand[PLAYER] = 1 - hand[PLAYER]
    hand[SMALLEST], hand[LARGEST] = 0, 0
    street = hand[STREET]
    stack = rules.stacks[hand[PLAYER]]
    if (
        hand[STREET_RAISES] >= rules.max_raises[street]
        or hand[STREET_ACTIONS] + 2 > MAX_ACTIONS_PER_ROUND
        or _num_active(rules, hand) < 2
    ):
        return
    if rules.limit:
        hand[SMALLEST] = hand[LARGEST] = min(hand[MAX_SPENT] + rules.raise_sizes[street], stack)
    elif hand[MIN_RAISE_TO] <= stack:
        hand[SMALLEST], hand[LARGEST] = hand[MIN_RAISE_TO], stack
    elif hand[MAX_SPENT] < stack:
        hand[SMALLEST], hand[LARGEST] = stack, stack


@kernel
def _num_active(rules, hand):
    return int(hand[SPENT] < rules.stacks[0]) + int(hand[SPENT + 1] < rules.stacks[1])


@kernel
def to_call(rules, hand):
    """Chips a call costs the player to act."""
    player = hand[PLAYER]
    return min(hand[MAX_SPENT], rules.stacks[player]) - hand[SPENT + player]


@kernel
def apply(rules, hand, kind, raise_to):
    """Play a legal action of the player to act; `raise_to` counts in no-limit raises only."""
    player = hand[PLAYER]
    stack = rules.stacks[player]
    hand[STREET_ACTIONS] += 1
    hand[HAND_ACTIONS] += 1
    if kind == FOLD:
        hand[FOLDED] = player
        hand[FINISHED] = 1
        return
    if kind == CALL:
        hand[SPENT + player] = min(hand[MAX_SPENT], stack)
    else:
        if rules.limit:
            raise_to = hand[LARGEST]
        else:
            hand[MIN_RAISE_TO] = max(hand[MIN_RAISE_TO], 2 * raise_to - hand[MAX_SPENT])
        hand[MAX_SPENT] = raise_to
        hand[SPENT + player] = raise_to
        hand[STREET_RAISES] += 1
        hand[NUM_CALLED] = 0
    hand[NUM_CALLED] += int(hand[SPENT + player] < stack)
    num_active = _num_active(rules, hand)
    if hand[NUM_CALLED] < num_active:
        hand[PLAYER] = 1 - player
        set_turn(rules, hand)
    elif num_active < 2 or hand[STREET] == rules.first_players.size - 1:
        hand[FINISHED] = 1
    else:
        hand[STREET] += 1
        hand[MIN_RAISE_TO] = hand[MAX_SPENT] + max(1, rules.blinds[0], rules.blinds[1])
        _start_street(rules, hand)
