"""The games a dealer can deal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from foldwise.game.definition import GameDefinition
from foldwise.game.errors import DefinitionError
from foldwise.game.library import PokerGame, find_game

if TYPE_CHECKING:
    from foldwise.agent.player_spec import PlayerSpec


def table_definition(game: str) -> GameDefinition:
    """The rules of a game a dealer can deal: a built-in name or the path of a `.game` file."""
    found = find_game(game)
    if not isinstance(found, PokerGame) or found.run_out_cards:
        raise DefinitionError(
            f"game {game!r} has no ACPC table form: expected kuhn, leduc, limit, hunl, two-limit-1, two-limit-4, "
            "two-nl-K or the path of a .game file"
        )
    return found.definition


def players_game(game: str | None, players: "Sequence[PlayerSpec]") -> tuple[str, GameDefinition]:
    """The game these players play: the one named, else the first strategy's, else hunl.

    `DefinitionError` names a strategy that was solved for another game.
    """
    from foldwise.agent.player_spec import PlayerKind
    from foldwise.agent.strategy_player import OpenStrategy

    opened = [(spec, OpenStrategy(spec.folder)) for spec in players if spec.kind == PlayerKind.STRATEGY]
    if game is None and opened:
        game, definition = opened[0][1].strategy.manifest.game, opened[0][1].definition
        if not game.endswith(".game"):  # a file may be gone, and a strategy keeps its rules
            table_definition(game)
    else:
        game = game or "hunl"
        definition = table_definition(game)
    for spec, strategy in opened:
        if strategy.definition != definition:
            raise DefinitionError(
                f"player {spec.short()!r} was solved for {strategy.strategy.manifest.game}, and the game to play is "
                f"{game}: give strategies of one game, or another --game"
            )
    return game, definition
