"""From a config to its card abstraction and its abstract game, reusing what is already built."""

import contextlib
import hashlib
import logging
from collections.abc import Mapping

from foldwise.abstraction.abstract_game import AbstractGame, DealSource, JointSource, make_abstract_game
from foldwise.abstraction.card_lookup import enumerated_views, open_card_lookup
from foldwise.abstraction.cards.card_abstraction import CardAbstraction, Trained
from foldwise.abstraction.cards.card_building import build_cards
from foldwise.abstraction.cards.card_config import CardConfig
from foldwise.abstraction.cards.hand_strength import HandStrength
from foldwise.abstraction.config import AbstractionConfig
from foldwise.abstraction.deals.holdem_deals import BOARD_SIZES, CardSource, one_round_joint, two_round_joint
from foldwise.abstraction.deals.joint_deals import enumerate_bluff, enumerate_poker
from foldwise.abstraction.deals.sequence_counting import MOST_EXACT_SEQUENCES, is_nested
from foldwise.abstraction.deals.sequence_matrices import NUM_BOARDS
from foldwise.abstraction.storage.array_folder import MANIFEST
from foldwise.abstraction.storage.folder_lock import taking_turns
from foldwise.abstraction.strategy import Strategy
from foldwise.abstraction.threads import Report
from foldwise.game.compiled import cache_folder
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.game.library import BluffGame, PokerGame
from foldwise.game.sources import source_hash
from foldwise.game.trees.tree import Tree, build_tree

log = logging.getLogger(__name__)

_HOLDEM_BOARDS = ((0,), (0, 3), (0, 3, 1), (0, 3, 1, 1))


def is_holdem(game: PokerGame) -> bool:
    """Whether the card tables fit: two hole cards, the full deck, flop, turn and river as far as the game goes."""
    definition = game.definition
    return (
        definition.num_players == 2
        and len(definition.deck) == 52
        and definition.num_hole_cards == 2
        and definition.num_board_cards in _HOLDEM_BOARDS
    )


def load_cards(
    config: CardConfig, report: Report | None = None, trained: Mapping[int, Trained] | None = None
) -> CardAbstraction:
    """The card abstraction of a config: from the cache, or built and cached, by one process at a time.

    A damaged one is built again. One with given centres is kept by itself, since training might find others here.
    """
    digest = hashlib.sha256(f"{source_hash(build_cards.__module__)} {config.model_dump_json()}".encode())
    for street, given in sorted((trained or {}).items()):
        digest.update(f"{street} {given.centres.shape} {given.note}".encode())
        digest.update(given.centres.tobytes() + given.groups.tobytes())
    folder = cache_folder() / "cards" / digest.hexdigest()[:16]
    if (folder / MANIFEST).exists():
        with contextlib.suppress(FormatError):  # damaged, or being rebuilt: checked again once we hold the lock
            return CardAbstraction.load(folder)
    with taking_turns(folder):
        if (folder / MANIFEST).exists():
            try:
                return CardAbstraction.load(folder)
            except FormatError as error:
                log.warning("%s; building it again", error)
        cards = build_cards(config, HandStrength(report=report), report, trained)
        try:
            cards.save(folder)
            return CardAbstraction.load(folder, check=False)
        except OSError as error:
            log.warning("the card abstraction is not kept: %s", error)
            return cards


def config_tree(config: AbstractionConfig) -> Tree:
    """The public tree of a config: the game's betting, or the bet sizes given."""
    game = config.find_game()
    if isinstance(game, BluffGame):
        return game.build_tree()
    return build_tree(game.definition, config.bets.menu() if config.bets is not None else game.menu)


def config_cards(config: AbstractionConfig) -> CardConfig | None:
    """The card abstraction a config asks for; None for a toy game whose deals are all kept apart."""
    game = config.find_game()
    if isinstance(game, BluffGame) or not is_holdem(game):
        return None
    if config.cards is None:
        raise DefinitionError(f"config {config.name!r}: {config.game!r} needs a [cards] section, see configs/")
    return config.cards


def build_abstract_game(
    config: AbstractionConfig, report: Report | None = None, cards: CardAbstraction | None = None
) -> AbstractGame:
    """The abstract game of a config; `cards`, where they are already there, are the ones it asks for."""
    game = config.find_game()
    deals: DealSource
    if isinstance(game, BluffGame):
        deals = JointSource(enumerate_bluff(game.bluff, game.bluff.round_values))
    elif (wanted := config_cards(config)) is None:
        deals = JointSource(enumerate_poker(enumerated_views(config)))
    else:
        cards = cards or load_cards(wanted, report)
        deals = _holdem_deals(game, cards, config.joint_boards, report)
    return make_abstract_game(config.name, config_tree(config), deals, game.unit_chips, cards)


def _holdem_deals(
    game: PokerGame, cards: CardAbstraction, joint_boards: int | None, report: Report | None
) -> DealSource:
    if game.num_streets == 1 and game.run_out_cards == 5:
        return JointSource(one_round_joint(cards, report))
    if game.num_streets == 2:
        joint = two_round_joint(cards, report)
        if joint is not None:
            return JointSource(joint)
    board_cards = BOARD_SIZES[game.num_streets - 1] + game.run_out_cards
    if not is_nested(cards):
        if joint_boards is not None:
            raise DefinitionError(
                "joint_boards with buckets that forget: expected percentile-nested buckets after the first street"
            )
        joint_boards = 0
    elif joint_boards is None:
        joint_boards = NUM_BOARDS if cards.num_buckets[-1] <= MOST_EXACT_SEQUENCES else 0
    return CardSource(cards, game.num_streets, board_cards, joint_boards, report)


def load_abstract_game(strategy: Strategy) -> AbstractGame:
    """The abstract game a strategy was solved in, with the cards it keeps; refuses one that has changed since."""
    lookup = None if strategy.manifest.cards is None else open_card_lookup(strategy)
    cards = lookup if isinstance(lookup, CardAbstraction) else None
    game = build_abstract_game(strategy.abstraction_config(), cards=cards)
    if game.fingerprint != strategy.manifest.abstraction:
        raise FormatError(
            f"strategy {str(strategy.folder)!r} was solved in abstraction {strategy.manifest.abstraction}, its config now "
            f"makes {game.fingerprint}: solve it again"
        )
    return game
