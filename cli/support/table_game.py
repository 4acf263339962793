"""The games a dealer can deal."""

from foldwise.game.definition import GameDefinition
from foldwise.game.errors import DefinitionError
from foldwise.game.library import PokerGame, find_game


def table_definition(game: str) -> GameDefinition:
    """The rules of a game a dealer can deal: a built-in name or the path of a `.game` file."""
    found = find_game(game)
    if not isinstance(found, PokerGame) or found.run_out_cards:
        raise DefinitionError(
            f"game {game!r} has no ACPC table form: expected kuhn, leduc, limit, hunl, two-limit-1, two-limit-4, "
            "two-nl-K or the path of a .game file"
        )
    return found.definition
