"""A turn or river from a strategy's own play: the ranges of both players, as its rows give them."""

from pathlib import Path

from foldwise.abstraction.bet_sizes import parse_sizes
from foldwise.agent.reading.typed_state import read_betting
from foldwise.agent.strategy_player import OpenStrategy
from foldwise.game.cards import parse_cards
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.game.trees.tree import BetMenu
from foldwise.postprocess.pipeline import Pipeline
from foldwise.search.ranges import TableRanges
from foldwise.solver.subgame.spot import Spot


def strategy_spot(folder: Path, betting: str, board: str, turn: str | None, river: str | None) -> Spot:
    """The spot after the betting given: ranges and bet sizes from the strategy, unless a text gives a street's bet sizes."""
    opened = OpenStrategy(folder)
    definition = opened.definition
    state, cards = read_betting(definition, betting), parse_cards(board)
    if state.finished or definition.board_sizes[state.round] not in (4, 5):
        raise FormatError(f"betting {betting!r}: expected one after which a player is to act on the turn or the river")
    if len(cards) != definition.board_sizes[state.round]:
        raise FormatError(
            f"board {board!r} after the betting {betting!r}: expected {definition.board_sizes[state.round]} cards"
        )
    ranges = TableRanges(opened.player(Pipeline(), seed=0)).follow(state, cards, state.player_to_act, 0).ranges
    for player, weights in enumerate(ranges):
        if not weights.any():
            raise FormatError(f"betting {betting!r}: the strategy plays it with no hand of player {player + 1}")
    return Spot(state, cards, ranges, _menu(opened, turn, river))


def _menu(opened: OpenStrategy, turn: str | None, river: str | None) -> BetMenu:
    bets = opened.strategy.abstraction_config().bets
    if bets is None:
        raise DefinitionError(f"strategy of {opened.strategy.manifest.game!r}: a game without bet sizes has no spots")
    menu = bets.menu()
    given = {-2: turn, -1: river}
    sizes = [list(streets) for streets in menu.sizes]
    for street, text in given.items():
        if text is not None:
            for streets in sizes:
                streets[street] = parse_sizes(text)
    return BetMenu(sizes=tuple(map(tuple, sizes)), all_in_share=menu.all_in_share)
