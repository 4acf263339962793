"""Blocks of duplicate pairs: a description in, what the first player wins in each pair out.

A block names its players so that they are the same on every machine: bots by name, strategies by the fingerprint of
their files. Hands are functions of seed and number, so blocks of any size give, put together, the whole match.
"""

import hashlib
import json
import logging
import threading
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.strategy import MANIFEST, Strategy
from foldwise.agent.mappings.translation import DEFAULT_TRANSLATION, parse_translation
from foldwise.agent.player import Player, make_player
from foldwise.agent.player_spec import PlayerKind, PlayerSpec
from foldwise.agent.strategy_player import OpenStrategy
from foldwise.game.arrays import Float
from foldwise.game.definition import GameDefinition, parse_definition
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.game.hands.dealing import Shoe
from foldwise.matches.engine.compiled_match import CompiledTable
from foldwise.matches.network.messages import Block, PlayerName
from foldwise.matches.plan import Order, player_seeds, seated
from foldwise.matches.statistics import pair_values
from foldwise.matches.table.hand import check_playable
from foldwise.postprocess.language import parse_pipeline
from foldwise.postprocess.pipeline import Pipeline

_DEAL_HANDS = 100_000
_MAX_TABLES = 16
_MAX_STRATEGIES = 8
_log = logging.getLogger(__name__)


class UnknownStrategyError(DefinitionError):
    """A strategy this machine does not have."""

    def __init__(self, fingerprint: str):
        super().__init__(f"strategy {fingerprint} is not here: copy its folder into this worker's --strategies folder")
        self.fingerprint = fingerprint


def fingerprint_of(strategy: Strategy) -> str:
    """What identifies how a strategy plays: game, config, and the checksums of its arrays and cards."""
    manifest = strategy.manifest
    parts = {
        "definition": manifest.definition,
        "config": manifest.config,
        "abstraction": manifest.abstraction,
        "cards": manifest.cards,
        "arrays": {name: entry.model_dump(mode="json", exclude={"file"}) for name, entry in manifest.arrays.items()},
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def player_name(spec: PlayerSpec) -> PlayerName:
    """The name of a bot or a strategy that means the same on every machine."""
    if spec.kind == PlayerKind.BOT:
        make_player(spec, 0)
        return PlayerName(bot=spec.subject)
    if spec.kind == PlayerKind.STRATEGY:
        return PlayerName(
            strategy=fingerprint_of(Strategy(spec.folder)),
            pipeline=str(network_pipeline(spec.postprocess or "none")),
            translation=str(spec.translation or DEFAULT_TRANSLATION),
        )
    raise DefinitionError(f"player {str(spec)!r} cannot play on other machines: expected bot:NAME or strategy:DIR")


def network_pipeline(text: str) -> Pipeline:
    """Post-processing requested by another machine; rules from files are refused: a message must not run code."""
    pipeline = parse_pipeline(text)
    if pipeline.files:
        raise DefinitionError(f"post-processing {text!r} cannot be played by workers: play it here, with --local")
    return pipeline


class StrategyShelf:
    """The strategies in some folders by fingerprint. Opened and verified when first played."""

    def __init__(self, *folders: Path | None):
        self._roots = [folder for folder in folders if folder is not None]
        self._paths: dict[str, Path] = {}
        self._read: dict[Path, tuple[float, str]] = {}
        self._opened: OrderedDict[str, OpenStrategy] = OrderedDict()
        self._lock = threading.Lock()

    def scan(self) -> list[str]:
        """Read the folder again; the fingerprints of all strategies there."""
        paths = {}
        for path in self._folders():
            try:
                changed = (path / MANIFEST).stat().st_mtime
                known = self._read.get(path)
                if known is None or known[0] != changed:
                    known = (changed, fingerprint_of(Strategy(path)))
                    self._read[path] = known
                paths[known[1]] = path
            except (FormatError, DefinitionError, OSError) as error:
                _log.debug("%s is no strategy: %s", path, error)
        self._paths = paths
        return sorted(paths)

    def _folders(self) -> Iterator[Path]:
        for root in self._roots:
            for pattern in (MANIFEST, f"*/{MANIFEST}", f"*/*/{MANIFEST}"):
                for path in sorted(root.glob(pattern)):
                    yield path.parent

    def open(self, fingerprint: str) -> OpenStrategy:
        with self._lock:
            opened = self._opened.get(fingerprint)
            if opened is None:
                if fingerprint not in self._paths:
                    self.scan()
                if fingerprint not in self._paths:
                    raise UnknownStrategyError(fingerprint)
                opened = OpenStrategy(self._paths[fingerprint])
                if fingerprint_of(opened.strategy) != fingerprint:
                    raise UnknownStrategyError(fingerprint)
                self._opened[fingerprint] = opened
                if len(self._opened) > _MAX_STRATEGIES:
                    self._opened.popitem(last=False)
            self._opened.move_to_end(fingerprint)
            return opened

    def player(self, name: PlayerName, seed: int) -> Player:
        if name.strategy is not None:
            pipeline, translation = network_pipeline(name.pipeline), parse_translation(name.translation)
            return self.open(name.strategy).player(pipeline, seed, translation)
        return make_player(PlayerSpec(PlayerKind.BOT, name.bot or ""), seed)


class _Cards:
    """The cards of one seed, from its first hand up to the last one requested."""

    def __init__(self, definition: GameDefinition, seed: int):
        self._shoe = Shoe(definition, seed)
        self._chunks: list[npt.NDArray[np.uint8]] = []
        self._lock = threading.Lock()

    def hands(self, first: int, count: int) -> npt.NDArray[np.uint8]:
        end = first + count
        with self._lock:
            while len(self._chunks) * _DEAL_HANDS < end:
                self._chunks.append(self._shoe.cards(_DEAL_HANDS))
            chunks = self._chunks[first // _DEAL_HANDS : (end - 1) // _DEAL_HANDS + 1]
        start = first % _DEAL_HANDS
        return np.concatenate(chunks)[start : start + count]


class BlockPlayer:
    """Plays blocks, from any number of threads; keeps what blocks of one comparison share."""

    def __init__(self, shelf: StrategyShelf):
        self._shelf = shelf
        self._tables: OrderedDict[object, tuple[CompiledTable, CompiledTable]] = OrderedDict()
        self._cards: tuple[object, _Cards] | None = None
        self._lock = threading.Lock()

    def play(self, block: Block) -> Float:
        """What the first player wins per hand in each pair, in chips, as in `Table.pairs`."""
        with self._lock:
            tables, cards = self._prepare(block)
        hands = cards.hands(block.first, block.count)
        first, second = (table.play(hands, block.first) for table in tables)
        return np.asarray(pair_values(first, second).mean(axis=1))

    def _prepare(self, block: Block) -> tuple[tuple[CompiledTable, CompiledTable], _Cards]:
        match = (block.definition, block.seed)
        key = (*match, block.players)
        tables = self._tables.get(key)
        if tables is None:
            tables = self._tables[key] = self._make_tables(block)
            if len(self._tables) > _MAX_TABLES:
                self._tables.popitem(last=False)
        self._tables.move_to_end(key)
        if self._cards is None or self._cards[0] != match:
            self._cards = (match, _Cards(tables[0].definition, block.seed))
        return tables, self._cards[1]

    def _make_tables(self, block: Block) -> tuple[CompiledTable, CompiledTable]:
        definition = parse_definition(block.definition, source="block")
        if definition.num_players != 2:
            raise DefinitionError(f"a block of a game for {definition.num_players} players: expected two")
        check_playable(definition)
        return self._seat(block, "AB", definition), self._seat(block, "BA", definition)

    def _seat(self, block: Block, order: Order, definition: GameDefinition) -> CompiledTable:
        """One half of the match."""
        names, seeds = seated(block.players, order), player_seeds(block.seed, 0, order)
        players = tuple(self._shelf.player(name, seed) for name, seed in zip(names, seeds))
        return CompiledTable(players, definition)
