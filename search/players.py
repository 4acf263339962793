"""The player of any name, searching ones included. The solver is loaded only if a name asks for a search."""

from foldwise.agent import player as tables
from foldwise.agent.mappings.translation import DEFAULT_TRANSLATION
from foldwise.agent.player import Player
from foldwise.agent.player_spec import PlayerKind, PlayerSpec, as_player
from foldwise.game.errors import DefinitionError


def is_searching(player: PlayerSpec | str) -> bool:
    """Whether a player's name asks for a search."""
    from foldwise.search.language import is_search

    spec = as_player(player)
    return spec.kind == PlayerKind.STRATEGY and is_search(spec.postprocess)


def make_player(player: PlayerSpec | str, seed: int) -> Player:
    """The player of a spec, or of a name such as `strategy:runs/small|search(fast)`."""
    spec = as_player(player)
    if not is_searching(spec):
        return tables.make_player(spec, seed)
    from foldwise.agent.strategy_player import OpenStrategy
    from foldwise.search.language import parse_steps
    from foldwise.search.player import SearchPlayer

    steps = parse_steps(spec.postprocess)
    assert steps.search is not None
    table = OpenStrategy(spec.folder).player(steps.pipeline, seed, spec.translation or DEFAULT_TRANSLATION)
    return SearchPlayer(table, steps.pipeline, steps.search)


def check_player(player: PlayerSpec | str, over_tcp: bool) -> None:
    """Raise `DefinitionError` for a player that cannot play; external programs play over tcp only."""
    spec = as_player(player)
    if not (over_tcp and spec.kind == PlayerKind.PROGRAM):
        make_player(spec, 0)


def check_plays_tables(player: PlayerSpec | str, what: str) -> None:
    """Raise `DefinitionError` for a searching player where only a strategy's tables will do."""
    if is_searching(player):
        raise DefinitionError(
            f"{what}: player {str(as_player(player))!r} searches; it is for strategies without search"
        )
