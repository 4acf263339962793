"""A hand as its player may see it, for the page: cards, chips, choices, and the action so far in words."""

from typing import Any

from foldwise.agent.human import read_turn
from foldwise.game.cards import card_text
from foldwise.game.text.slumbot import slumbot_text
from foldwise.matches.report.replay import replay_steps, street_names
from foldwise.matches.table.hand import Hand
from foldwise.matches.table.log import LoggedHand
from foldwise.web.table.session import Session

YOU = "you"


def table_view(session: Session) -> dict[str, Any]:
    """The hand in play, or the last one; without a hand, the table before the first."""
    totals = session.totals
    big_blind = session.definition.big_blind
    view: dict[str, Any] = {
        "opponent": session.settings.opponent.label(),
        "big_blind": big_blind,
        "limit": session.definition.limit,
        "streets": street_names(session.definition),
        "board_size": session.definition.board_sizes[-1],
        "hands": totals.hands,
        "chips": totals.chips,
        "mean_mbb": 1000 * totals.chips / big_blind / totals.hands if totals.hands else 0.0,
        "hand": None,
    }
    if session.hand is not None:
        view["hand"] = _hand_view(session, session.hand)
    return view


def _hand_view(session: Session, hand: Hand) -> dict[str, Any]:
    you = session.position
    bot = 1 - you
    state = hand.state(you)
    turn = read_turn(state)
    betting = hand.betting
    is_turn = state.is_turn()
    end = session.finished
    view: dict[str, Any] = {
        "number": hand.number,
        "moves": sum(map(len, betting.actions)),
        "betting": betting.betting_text(),
        "slumbot": slumbot_text(betting),
        "button": "you" if _on_button(session, you) else "bot",
        "street": betting.round,
        "cards": [card_text(card) for card in turn.hole_cards],
        "bot_cards": [card_text(card) for card in state.hole_cards[bot]],
        "board": [card_text(card) for card in turn.board],
        "pot": turn.pot,
        "bets": {"you": turn.bets[you], "bot": turn.bets[bot]},
        "stacks": {"you": turn.stacks[you], "bot": turn.stacks[bot]},
        "your_turn": is_turn,
        "story": _story(session, hand),
        "choices": None,
        "end": None,
    }
    if is_turn:
        view["choices"] = {
            "can_fold": turn.can_fold,
            "to_call": turn.to_call,
            "raise": turn.raise_range,
            "facing": turn.to_call > 0 or turn.bets[you] > 0,
        }
    if end is not None:
        view["end"] = {
            "winnings": end.winnings,
            "showdown": betting.is_showdown(),
            "folded": "you" if betting.folded[you] else "bot" if betting.folded[bot] else None,
        }
    return view


def _on_button(session: Session, position: int) -> bool:
    """Heads-up the button posts the smaller blind; where blinds are equal, it acts last after the first street."""
    blinds = session.definition.blinds
    if blinds[0] != blinds[1]:
        return blinds[position] == min(blinds)
    return session.definition.first_players[-1] != position


def _story(session: Session, hand: Hand) -> list[dict[str, Any]]:
    """Every event so far in words, from visible information only."""
    you = session.position
    state = hand.state(you)
    names = [YOU, session.settings.opponent.name]
    logged = LoggedHand(
        number=hand.number,
        betting=hand.betting,
        hole_cards=tuple(state.hole_cards),
        board=state.board,
        values=tuple(hand.values()) if session.finished is not None else (0.0, 0.0),
        names=(names[0], names[1]) if you == 0 else (names[1], names[0]),
    )
    steps = replay_steps(logged)
    if session.finished is None:
        steps = steps[:-1]  # the last step is the end of the hand
    return [{"text": step.text, "by": _by(step.player, you), "street": step.street} for step in steps]


def _by(player: int, you: int) -> str:
    return "dealer" if player < 0 else "you" if player == you else "bot"
