"""A strategy in one small file: at most eight bits per probability, compressed, unpacked into a folder to be played.

The file holds only what cannot be made again. Its first line says what it is and has the SHA-256 of all that follows;
the second is a JSON manifest (`PackedManifest`: how the strategy was solved, and hashes of tree and cards); the rest is
the rows and the centres of its k-means buckets, compressed by xz. Unpacking builds the tree from the bet sizes and the
buckets from the card config and the centres, and refuses either if it is not the one the strategy was solved with.
Percentile buckets, and labels from given centres, come from exact integers: the same everywhere.

A row is whole levels: its most probable action has the highest, the others their share of it, rounded. So zeros stay
zeros, the order and the most probable action stay as they were, and a row never reached is zeros and costs next to nothing.
"""

import hashlib
import logging
import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from foldwise.abstraction.abstract_game import AbstractGame, hash_arrays
from foldwise.abstraction.build import build_abstract_game, config_cards, load_cards
from foldwise.abstraction.cards.card_abstraction import CardAbstraction, Trained
from foldwise.abstraction.cards.card_config import keeps_centres
from foldwise.abstraction.named_strategy import MAGIC
from foldwise.abstraction.packed_centres import PackedCentres, check_centres, pack_centres, unpack_centres
from foldwise.abstraction.storage.whole_file import bytes_written_whole
from foldwise.abstraction.strategy import CARDS, Strategy, StrategyManifest, commit_strategy, solved_config
from foldwise.abstraction.threads import Report
from foldwise.game.errors import FormatError
from foldwise.game.trees.tree import Tree
from foldwise.game.trees.tree_kernels import DECISION

log = logging.getLogger(__name__)

MOST_LEVELS: Final = 255  # above zero: eight bits
_REMEDY: Final = "get the file again, or make it with 'foldwise pack'"
_UNPACK_MEMORY: Final = 1 << 28  # bytes for the decompressor; xz's own highest setting needs a quarter

Levels = npt.NDArray[np.uint8]


class PackedManifest(BaseModel):
    """The second line of a packed strategy."""

    model_config = ConfigDict(extra="forbid")

    format_version: int = 1
    levels: Annotated[int, Field(ge=1, le=MOST_LEVELS)]  # of a row's most probable action
    entries: Annotated[int, Field(ge=1)]  # infoset-actions
    tree: str  # hash of the tree's nodes
    cards: str | None  # hash of the arrays of the card abstraction; None where all deals are told apart
    packed_by: str  # version and commit
    centres: list[PackedCentres] = []  # of the streets whose buckets are only labelled when it is unpacked
    solved: StrategyManifest  # the folder's own manifest: config, seed, nodes, seconds


@dataclass(frozen=True)
class PackedStrategy:
    """A packed strategy as it was read: checked, its rows still compressed."""

    path: Path
    manifest: PackedManifest
    data: bytes

    def rows(self) -> Levels:
        """[entries] the levels of every row."""
        return np.frombuffer(self._unpacked, np.uint8, self.manifest.entries)

    def trained(self) -> dict[int, Trained]:
        """The centres of each street that has some."""
        centres = self._unpacked[self.manifest.entries :]
        return unpack_centres(self.manifest.centres, centres, str(self.path), _REMEDY)

    @cached_property
    def _unpacked(self) -> bytes:
        size = self.manifest.entries + sum(one.bytes for one in self.manifest.centres)
        unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_UNPACK_MEMORY)
        try:
            unpacked = unpacker.decompress(self.data, size + 1)
        except lzma.LZMAError as error:
            raise FormatError(f"{str(self.path)!r} is damaged ({error}): {_REMEDY}") from None
        if len(unpacked) != size or not unpacker.eof:
            raise FormatError(
                f"{str(self.path)!r} holds other than the {self.manifest.entries} entries it promises: {_REMEDY}"
            )
        return unpacked


def row_levels(tree: Tree, stored: npt.NDArray[Any], levels: int) -> Levels:
    """Every row of a strategy in whole levels."""
    out = np.zeros(len(stored), np.uint8)
    for first, last, num_actions in _decision_rows(tree, len(stored)):
        rows = stored[first:last].reshape(-1, num_actions).astype(np.float64)
        top = rows.max(axis=1, keepdims=True)
        shares = np.divide(rows, top, out=np.zeros_like(rows), where=top > 0.0)
        whole = np.floor(levels * shares + 0.5)
        # An action next to the top level must not reach it: purification would find a tie where there was none.
        whole = np.where(rows < top, np.minimum(whole, levels - 1), whole)
        out[first:last] = whole.ravel()
    return out


def _decision_rows(tree: Tree, num_entries: int) -> Iterator[tuple[int, int, int]]:
    """First and last entry of each decision, and its actions. Rows stand one after the other in the order of the nodes."""
    nodes = tree.nodes[tree.nodes["kind"] == DECISION]
    ends = np.append(nodes["base"][1:], num_entries)
    yield from zip(nodes["base"].tolist(), ends.tolist(), nodes["num_children"].tolist())


def pack(strategy: Strategy, path: Path, levels: int, packed_by: str, report: Report | None = None) -> PackedManifest:
    """Write a strategy folder, checked first, into one file."""
    strategy.verify()
    cards = None if strategy.manifest.cards is None else CardAbstraction.load(strategy.folder / CARDS)
    rows = row_levels(strategy.tree, strategy.stored, levels)
    described, centres = pack_centres({} if cards is None else _trained(strategy, cards, report))
    manifest = PackedManifest(
        levels=levels,
        entries=len(rows),
        tree=hash_arrays(strategy.tree.nodes),
        cards=_cards_hash(cards),
        packed_by=packed_by,
        solved=strategy.manifest,
        centres=described,
    )
    body = manifest.model_dump_json().encode() + b"\n" + lzma.compress(rows.tobytes() + centres, preset=9)
    with bytes_written_whole(path) as file:
        file.write(MAGIC + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
    return manifest


def _trained(strategy: Strategy, cards: CardAbstraction, report: Report | None) -> dict[int, Trained]:
    """The centres of the strategy's buckets: kept with them or, in a folder from before they were, trained again."""
    config = config_cards(strategy.abstraction_config())
    if cards.trained or config is None or not keeps_centres(config):
        return cards.trained
    again = load_cards(config, report)
    if _cards_hash(again) == _cards_hash(cards):
        return again.trained
    log.warning(
        "%s has no centres of its buckets, and training gives other ones here: unpacking will train", strategy.folder
    )
    return {}


def read_packed(path: Path) -> PackedStrategy:
    """Read a packed strategy and verify its checksum."""
    head, _, body = path.read_bytes().partition(b"\n")
    if head != MAGIC + hashlib.sha256(body).hexdigest().encode():
        raise FormatError(f"{str(path)!r} is damaged: its checksum is not the one it begins with; {_REMEDY}")
    text, _, data = body.partition(b"\n")
    try:
        return PackedStrategy(path, PackedManifest.model_validate_json(text), data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise FormatError(f"{str(path)!r}: {place}: {first['msg']}: {_REMEDY}") from None


def unpack(packed: PackedStrategy, folder: Path, report: Report | None = None) -> None:
    """Write the strategy's folder, with the tree and the buckets built again."""
    solved = packed.manifest.solved
    config = solved_config(solved, str(packed.path))
    rows, trained = packed.rows(), packed.trained()
    wanted = config_cards(config)
    check_centres(trained, wanted, str(packed.path), _REMEDY)
    cards = load_cards(wanted, report, trained) if wanted is not None else None
    game = build_abstract_game(config, report, cards)
    _check_game(packed, game)
    reached = sum(
        int(np.count_nonzero(rows[first:last].reshape(-1, num_actions).any(axis=1)))
        for first, last, num_actions in _decision_rows(game.tree, len(rows))
    )
    fields = solved.model_dump(exclude={"abstraction", "cards", "infosets", "reached", "arrays"})
    folder.mkdir(parents=True, exist_ok=True)
    commit_strategy(folder, game, rows, reached, {**fields, "abstraction": game.fingerprint})


def _check_game(packed: PackedStrategy, game: AbstractGame) -> None:
    """Refuse rows of another tree or of other buckets."""
    manifest = packed.manifest
    for what, made, expected in (
        ("tree", hash_arrays(game.tree.nodes), manifest.tree),
        ("card abstraction", _cards_hash(game.cards), manifest.cards),
        ("size", str(game.num_entries), str(manifest.entries)),
    ):
        if made != expected:
            raise FormatError(
                f"{str(packed.path)!r} was solved with {what} {expected}, its config now makes {made}: "
                "solve and pack it again"
            )


def _cards_hash(cards: CardAbstraction | None) -> str | None:
    """A hash of the buckets themselves, not of the config that made them: a new config key does not change it."""
    return None if cards is None else hash_arrays(*(array for _, array in sorted(cards.arrays().items())))
