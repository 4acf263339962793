"""Drills: random decisions from hands that a strategy plays against itself, on a chosen street, in a chosen situation."""

import random
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from foldwise.agent.strategy_player import StrategyPlayer
from foldwise.game.betting import BettingState
from foldwise.game.errors import DefinitionError
from foldwise.game.hands.dealing import Deal
from foldwise.game.text.match_state import MatchState, read_action
from foldwise.matches.table.hand import Hand

Street = Literal["any", "preflop", "flop", "turn", "river"]
Situation = Literal["any", "first", "checked", "bet", "raise", "big-pot"]
BIG_POT_BB = 20  # big blinds in the pot, bets included
_STREETS: dict[Street, int] = {"preflop": 0, "flop": 1, "turn": 2, "river": 3}
_MOST_HANDS = 3000  # dealt while looking for a decision
_SYSTEM = secrets.SystemRandom()


def _is_any(betting: BettingState) -> bool:
    return True


def _is_first(betting: BettingState) -> bool:
    return not betting.actions[betting.round]


def _is_checked(betting: BettingState) -> bool:
    return bool(betting.actions[betting.round]) and betting.num_raises == 0


def _is_bet(betting: BettingState) -> bool:
    return betting.num_raises == 1


def _is_raise(betting: BettingState) -> bool:
    return betting.num_raises > 1


def _is_big_pot(betting: BettingState) -> bool:
    return sum(betting.spent) >= BIG_POT_BB * betting.definition.big_blind


SITUATIONS: dict[Situation, Callable[[BettingState], bool]] = {
    "any": _is_any,
    "first": _is_first,
    "checked": _is_checked,  # before the flop: called
    "bet": _is_bet,  # before the flop: a raise, since the blinds are no bet
    "raise": _is_raise,
    "big-pot": _is_big_pot,
}
_BY_BETTING: tuple[Situation, ...] = ("first", "checked", "bet", "raise")


def situation_of(betting: BettingState) -> Situation:
    """Which situation of the street's betting this is; every decision is in one of them."""
    return next(name for name in _BY_BETTING if SITUATIONS[name](betting))


@dataclass(frozen=True)
class DrillSpot:
    """A decision, and the actions offered at it."""

    state: MatchState
    actions: tuple[str, ...]


def find_spot(
    player: StrategyPlayer, street: Street, situation: Situation, chance: random.Random = _SYSTEM
) -> DrillSpot | None:
    """A random decision of a kind, at which the strategy has a choice; None where too many hands came without one."""
    definition = player.definition
    wanted = _STREETS.get(street)
    if wanted is not None and wanted >= definition.num_rounds:
        raise DefinitionError(f"this strategy's game has no {street}: choose an earlier street")
    # Each street in its turn: a street drawn anew for each hand would hardly ever be the river, which few hands reach.
    streets = chance.sample(range(definition.num_rounds), definition.num_rounds) if wanted is None else [wanted]
    num_hole = definition.num_hole_cards
    for target in streets:
        for number in range(_MOST_HANDS // len(streets)):
            cards = chance.sample(definition.deck, definition.cards_per_hand)
            hole_cards = tuple(cards[:num_hole]), tuple(cards[num_hole : 2 * num_hole])
            hand = Hand(definition, Deal(hole_cards, tuple(cards[2 * num_hole :])), number)
            spots = _spots(player, hand, target, SITUATIONS[situation], chance)
            if spots:
                return chance.choice(spots)
    return None


def _spots(
    player: StrategyPlayer, hand: Hand, street: int, fits: Callable[[BettingState], bool], chance: random.Random
) -> list[DrillSpot]:
    """The decisions of a kind in a hand that the strategy plays against itself."""
    spots: list[DrillSpot] = []
    while not hand.betting.finished and hand.betting.round <= street:
        state = hand.state(hand.betting.player_to_act)
        decision, _ = player.explain(state)
        actions = tuple(dict.fromkeys(decision.actions))
        if state.betting.round == street and len(actions) > 1 and fits(state.betting):
            if state.betting.can_fold() and "f" not in actions:
                actions = ("f", *actions)
            betting = state.betting.copy()
            kept = MatchState(state.position, state.hand_number, betting, list(state.hole_cards), state.board)
            spots.append(DrillSpot(kept, actions))
        text = chance.choices(decision.actions, decision.probabilities)[0]
        action, _ = read_action(text, 0, player.definition)
        assert action is not None
        hand.apply(action)
    return spots
