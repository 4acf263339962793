"""Actions as people at a table say them: `raises to 1,950` counts the chips of this street, where `r2250` counts the hand."""

from collections.abc import Sequence

from foldwise.game.betting import CALL, FOLD, RAISE, Action, BettingState
from foldwise.game.text.match_state import read_action

YOU = "you"  # the name that takes verbs without an s


def street_start(betting: BettingState, player: int) -> int:
    """Chips a player had put in before this street; blinds belong to the first."""
    if betting.round == 0:
        return 0
    replay = BettingState(betting.definition)
    for actions in betting.actions[: betting.round]:
        for _, action in actions:
            replay.apply(action)
    return replay.spent[player]


def action_words(betting: BettingState, action: Action, name: str = YOU) -> str:
    """What the player to act does: `raise to 1,950` of you, `raises to 1,950` of anybody else."""
    player = betting.player_to_act
    stack = betting.definition.stacks[player]
    s = "" if name == YOU else "s"
    if action.kind == FOLD:
        return f"fold{s}"
    all_in = ", all-in" if name == YOU else " and is all-in"
    to_call = min(betting.max_spent, stack) - betting.spent[player]
    if action.kind == CALL:
        if not to_call:
            return f"check{s}"
        return f"call{s} {to_call:,}{all_in if betting.max_spent >= stack else ''}"
    before = street_start(betting, player)
    verb = f"raise{s} to" if betting.max_spent > before else f"bet{s}"
    return f"{verb} {action.raise_to - before:,}{all_in if action.raise_to >= stack else ''}"


def label_of(betting: BettingState, text: str) -> str:
    """The words of an action as a dealer writes it, such as `r2250`; other text is returned unchanged."""
    action, end = read_action(text, 0, betting.definition)
    if action is None or end != len(text):
        return text
    bounds = betting.raise_range()
    if action.kind == RAISE and betting.definition.limit and bounds is not None:
        action = Action(RAISE, bounds[0])  # the rules fix the size
    return action_words(betting, action)


def spoken_actions(betting: BettingState, names: Sequence[str]) -> list[str]:
    """The betting so far as sentences, one per action; `names` by position."""
    replay = BettingState(betting.definition)
    sentences = []
    for actions in betting.actions:
        for player, action in actions:
            sentences.append(f"{names[player]} {action_words(replay, action, names[player])}")
            replay.apply(action)
    return sentences
