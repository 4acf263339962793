"""Players: what answers a state, and how one is made from its name."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from foldwise.agent.bots import Bot
from foldwise.agent.player_spec import PlayerKind, PlayerSpec, as_player
from foldwise.agent.strategy_player import Decision, make_strategy_player
from foldwise.game.betting import CALL_ACTION, FOLD_ACTION, Action
from foldwise.game.errors import DefinitionError, IllegalActionError
from foldwise.game.python_file import PYTHON, load_name, own_code_error
from foldwise.game.text.match_state import MatchState


class Player(Protocol):
    """State in, action out.

    A choice may depend on the state and on the player's seed, nothing else: random numbers are drawn by counter from
    (seed, hand number, actions so far), so that a match gives the same results over sockets, in memory and resumed.
    Do not keep the state: it changes after `choose` returns.
    """

    def choose(self, state: MatchState) -> Action: ...


def make_python_player(player: PlayerSpec, seed: int) -> Player:
    """`python:FILE.py:CLASS`, a user's own player: CLASS is called with the seed."""
    spec, expected = f"{PYTHON}{player.subject}", "a class that takes a seed"
    make = load_name("player", spec, expected)
    try:
        made: Player = make(seed)
    except Exception as error:  # the user's code may raise anything; report it in one line
        raise own_code_error("player", spec, error, expected) from error
    if not callable(getattr(made, "choose", None)):
        raise DefinitionError(f"player {spec!r}: it has no choose(state): see docs/api/player.md")
    return made


@runtime_checkable
class Watcher(Protocol):
    """A player that wants to see every state of its seat, including the ends of hands, not only those it answers."""

    def observe(self, state: MatchState) -> None: ...


@runtime_checkable
class WarmsUp(Protocol):
    """A player whose first answer would be slow without preparation."""

    def warm_up(self) -> None: ...


@runtime_checkable
class HeedsClock(Protocol):
    """A player that thinks, and has a quick answer when its time is limited."""

    def limit_time(self, seconds: float | None) -> None: ...


@runtime_checkable
class Explainer(Protocol):
    """A player that can explain a choice."""

    def explain(self, state: MatchState) -> tuple[Decision, Action]: ...


_MAKERS: dict[PlayerKind, Callable[[PlayerSpec, int], Player]] = {
    PlayerKind.BOT: lambda spec, seed: Bot(spec.subject, seed),
    PlayerKind.STRATEGY: make_strategy_player,
    PlayerKind.PYTHON: make_python_player,
}


def make_player(player: PlayerSpec | str, seed: int) -> Player:
    """The player of a spec, or of a name such as `bot:strength`."""
    spec = as_player(player)
    if spec.kind == PlayerKind.PROGRAM:
        raise DefinitionError(
            f"player {str(spec)!r} is an external program: it plays in 'foldwise match' over tcp only"
        )
    return _MAKERS[spec.kind](spec, seed)


def check_player(player: PlayerSpec | str, over_tcp: bool) -> None:
    """Raise `DefinitionError` for a player that cannot play; external programs play over tcp only."""
    spec = as_player(player)
    if not (over_tcp and spec.kind == PlayerKind.PROGRAM):
        make_player(spec, 0)


def warm_up(player: Player) -> None:
    """Load what a player's first answer needs; call it before the first hand of a match in real time."""
    if isinstance(player, WarmsUp):
        player.warm_up()


def limit_time(player: Player, seconds: float | None) -> None:
    """Tell a player that heeds the clock how long an answer may take; None for no limit."""
    if isinstance(player, HeedsClock):
        player.limit_time(seconds)


def safe_action(state: MatchState) -> Action:
    """Check if it is free, else fold: the answer when there is no other."""
    return FOLD_ACTION if state.betting.can_fold() else CALL_ACTION


@dataclass(frozen=True)
class Faults:
    """Answers given in place of players that failed: how many, and the first in words."""

    count: int = 0
    first: str = ""

    def __add__(self, other: "Faults") -> "Faults":
        return Faults(self.count + other.count, self.first or other.first)


def guarded_choice(player: Player, state: MatchState) -> tuple[Action, Exception | None]:
    """The player's choice if it makes a legal one, else the safe action and what went wrong."""
    try:
        action = player.choose(state)
        if not state.betting.is_legal(action):
            raise IllegalActionError(f"{action} is not legal here")
    except Exception as error:  # noqa: BLE001  # a player may raise anything; the table must get an answer
        return safe_action(state), error
    return action, None
