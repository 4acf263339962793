"""Players: what answers a state, and how a player is named on the command line."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Protocol, runtime_checkable

from foldwise.agent.bots import Bot
from foldwise.agent.strategy_player import StrategyPlayer, make_strategy_player
from foldwise.game.betting import CALL_ACTION, FOLD_ACTION, Action
from foldwise.game.errors import DefinitionError, IllegalActionError
from foldwise.game.match_state import MatchState

PLAYER_FORMS = "bot:NAME, strategy:DIR, python:FILE.py:CLASS or cmd:PROGRAM"


class Player(Protocol):
    """State in, action out.

    A choice may depend on the state and on the player's seed, nothing else: random numbers are drawn by counter from
    (seed, hand number, actions so far), so that a match gives the same results over sockets, in memory and resumed.
    The state is only lent: it changes after `choose` returns.
    """

    def choose(self, state: MatchState) -> Action: ...


def make_python_player(text: str, seed: int) -> Player:
    """`FILE.py:CLASS`, a player of the user's own: CLASS is called with the seed."""
    file, _, name = text.rpartition(":")
    path = Path(file)
    if not file or path.suffix != ".py" or not path.is_file():
        raise DefinitionError(f"player 'python:{text}': expected python:FILE.py:CLASS with a file that is there")
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        player: Player = getattr(module, name)(seed)
    except Exception as error:  # the user's own code may raise anything; the command says it in one line
        raise DefinitionError(
            f"player 'python:{text}': {error!r}: expected a class that is made from a seed"
        ) from error
    if not callable(getattr(player, "choose", None)):
        raise DefinitionError(f"player 'python:{text}': it has no choose(state): see docs/api/player.md")
    return player


@runtime_checkable
class Watcher(Protocol):
    """A player that wants to see every state of its seat, the ends of hands too, and not only those it answers."""

    def observe(self, state: MatchState) -> None: ...


# What makes a player of a name's part after the colon, and a seed.
_MAKERS: dict[str, Callable[[str, int], Player]] = {
    "bot": Bot,
    "strategy": make_strategy_player,
    "python": make_python_player,
}


def make_player(spec: str, seed: int) -> Player:
    """The player of a name such as `bot:strength`."""
    kind, colon, name = spec.partition(":")
    if colon and kind in _MAKERS:
        return _MAKERS[kind](name, seed)
    if colon and kind == "cmd":
        raise DefinitionError(f"player {spec!r} is a program of its own: it plays in 'foldwise match' over tcp only")
    raise DefinitionError(f"player {spec!r}: expected {PLAYER_FORMS}")


def check_player(spec: str, over_tcp: bool) -> None:
    """Raise `DefinitionError` for a player that cannot play; programs of their own play over tcp only."""
    if not (over_tcp and spec.startswith("cmd:")):
        make_player(spec, 0)


def warm_up(player: Player) -> None:
    """Load what a player's first answer needs; whoever plays in real time does so before the first hand."""
    if isinstance(player, StrategyPlayer):
        player.warm_up()


def safe_action(state: MatchState) -> Action:
    """Check where it is free, else fold: the answer when there is no other."""
    return FOLD_ACTION if state.betting.can_fold() else CALL_ACTION


@dataclass(frozen=True)
class Faults:
    """Answers that had to be given in players' places: how many, and the first in words."""

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
