"""How the dealer treats a player's line: it is used, repaired, replaced by a call, or ignored.

Right state with a bad action: call. Wrong or unreadable state: warn and keep waiting. The texts of the warnings are the
reference dealer's, because scripts look for them.
"""

from typing import NamedTuple

from foldwise.game.betting import CALL, CALL_ACTION, RAISE, Action, BettingState
from foldwise.game.text.match_state import read_action, read_match_state
from foldwise.matches.table.hand import Hand

BAD_STATE = "WARNING: bad state format in response"
UNREQUESTED = "WARNING: ignoring un-requested response"
BAD_ACTION = "WARNING: bad action format in response, changed to call"
INVALID_ACTION = "WARNING: invalid action, changed to call"
LONG_ROUND = "WARNING: #actions in round is too close to MAX_NUM_ACTIONS, forcing call/fold"


class CheckedReply(NamedTuple):
    """The action played, or None to keep waiting; and the warnings the line earned, in order."""

    action: Action | None
    warnings: tuple[str, ...] = ()


def is_comment(line: bytes) -> bool:
    return line[:1] in (b"#", b";")


def read_answer(line: bytes, hand: Hand, requested: str) -> CheckedReply:
    """Read one line (no comment) as the answer of the player to act, who was sent the state `requested`."""
    text = line.partition(b"\0")[0].decode("latin-1")
    definition = hand.betting.definition
    # The plain echo needs no reading. With board cards in the first round even a true echo may read as another
    # state (the board is taken for hidden hole cards), so there the long way decides, as it does in the reference.
    end = len(requested)
    if not (text.startswith(requested) and text[end : end + 1] == ":") or definition.num_board_cards[0]:
        result = read_match_state(text, definition)
        if result is None:
            return CheckedReply(None, (BAD_STATE,))
        state, end = result
        if not hand.state(hand.betting.player_to_act).same_request(state):
            return CheckedReply(None, (UNREQUESTED,))
    if text[end : end + 1] != ":":
        return CheckedReply(CALL_ACTION, (BAD_ACTION,))
    action, end = read_action(text, end + 1, definition)
    if end < 0:
        return CheckedReply(CALL_ACTION, (BAD_ACTION,))
    return check_action(action, hand.betting)


def check_action(action: Action | None, betting: BettingState) -> CheckedReply:
    """A legal action unchanged; a raise of the wrong size moved to the nearest legal one; anything else a call."""
    if action is None:
        return CheckedReply(CALL_ACTION, (INVALID_ACTION,))
    if action.kind == CALL or (action.kind != RAISE and betting.can_fold()):
        return CheckedReply(action)
    if action.kind != RAISE:
        return CheckedReply(CALL_ACTION, (INVALID_ACTION,))
    bounds = betting.raise_range()
    if bounds is None:
        return CheckedReply(
            CALL_ACTION, (LONG_ROUND, INVALID_ACTION) if _refused_by_length(betting) else (INVALID_ACTION,)
        )
    if betting.definition.limit:
        return CheckedReply(action)
    smallest, largest = bounds
    if action.raise_to < smallest:
        warning = f"WARNING: raise of {action.raise_to} increased to {smallest}"
        return CheckedReply(Action(RAISE, smallest), (warning,))
    if action.raise_to > largest:
        warning = f"WARNING: raise of {action.raise_to} decreased to {largest}"
        return CheckedReply(Action(RAISE, largest), (warning,))
    return CheckedReply(action)


def _refused_by_length(betting: BettingState) -> bool:
    """Whether no raise is possible only because the round holds too many actions."""
    return betting.at_action_limit() and betting.num_raises < betting.definition.max_raises[betting.round]
