"""Players that answer for all hands at once: a strategy folder, with or without search."""

from foldwise.agent.mappings.translation import Translation
from foldwise.agent.strategy_player import OpenStrategy
from foldwise.game.trees.tree import BetMenu
from foldwise.search.language import PlayerSteps
from foldwise.search.player import SearchPlayer
from foldwise.search.ranges import TableRanges


def make_agent(
    opened: OpenStrategy, steps: PlayerSteps, seed: int, translation: Translation, menu: BetMenu | None = None
) -> SearchPlayer | TableRanges:
    """A searching player for measurements: warmed up, without a time limit, with the bet sizes of `menu` if given."""
    table = opened.player(steps.pipeline, seed, translation)
    if steps.search is None:
        return TableRanges(table)
    player = SearchPlayer(table, steps.pipeline, steps.search, menu=menu)
    player.measure()
    player.warm_up()
    return player
