"""From a config to the abstract game."""

from abstraction.abstract_game import AbstractGame, DealSource, JointSource, make_abstract_game
from abstraction.card_lookup import enumerated_views
from abstraction.config import AbstractionConfig, check_config
from abstraction.joint_deals import enumerate_bluff, enumerate_poker
from abstraction.strategy import Strategy
from game.errors import FormatError
from game.library import BluffGame, find_game
from game.tree import build_tree


def load_abstract_game(strategy: Strategy) -> AbstractGame:
    """The abstract game a strategy was solved in; refuses one that has changed since."""
    config = check_config(
        {key: value for key, value in strategy.manifest.config.items() if key in AbstractionConfig.model_fields},
        AbstractionConfig,
        str(strategy.folder),
    )
    game = build_abstract_game(config)
    if game.fingerprint != strategy.manifest.abstraction:
        raise FormatError(
            f"strategy {str(strategy.folder)!r} was solved in abstraction {strategy.manifest.abstraction}, its config now "
            f"makes {game.fingerprint}: solve it again"
        )
    return game


def build_abstract_game(config: AbstractionConfig) -> AbstractGame:
    """The abstract game of a config; card tables come from the cache, or are built into it."""
    game = find_game(config.game)
    deals: DealSource
    if isinstance(game, BluffGame):
        tree = game.build_tree()
        deals = JointSource(enumerate_bluff(game.bluff, game.bluff.round_values))
    else:
        tree = build_tree(game.definition, config.bets.menu() if config.bets is not None else game.menu)
        deals = JointSource(enumerate_poker(enumerated_views(config)))
    return make_abstract_game(config.name, tree, deals, game.unit_chips)
