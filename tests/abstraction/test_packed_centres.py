"""The centres in a packed strategy: the same buckets with and without them, no training with them, damage named.

A game that ends on the flop, and made-up points in place of its histograms, which would need all strengths.
"""

import hashlib
import json
import lzma
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foldwise.abstraction.build import load_abstract_game
from foldwise.abstraction.cards import clustering
from foldwise.abstraction.cards.boards import boards
from foldwise.abstraction.cards.card_abstraction import CardAbstraction
from foldwise.abstraction.cards.card_building import Builder, build_cards
from foldwise.abstraction.cards.card_config import CardConfig
from foldwise.abstraction.cards.hand_strength import HandStrength
from foldwise.abstraction.cards.kmeans import KMeans
from foldwise.abstraction.named_strategy import find_strategy
from foldwise.abstraction.packed_strategy import pack, read_packed
from foldwise.abstraction.strategy import Strategy
from foldwise.abstraction.threads import run_blocks
from foldwise.cli.main import main
from foldwise.game.errors import FormatError
from foldwise.game.hands.hand_index import hand_index
from foldwise.game.hands.hole_cards import PAIR_CARDS

GAME = """GAMEDEF
limit
numPlayers = 2
numRounds = 2
blind = 10 5
raiseSize = 10 10
firstPlayer = 2 1
maxRaises = 1 1
numSuits = 4
numRanks = 13
numHoleCards = 2
numBoardCards = 0 3
END GAMEDEF
"""
BUCKETS = 40  # with 169 hands before the flop too many sequences for a matrix: deals are drawn
CONFIG = f"""game = "flop.game"
[cards]
streets = [
    {{ method = "lossless" }},
    {{ method = "kmeans-emd", buckets = {BUCKETS}, bins = 3, sample = 2000, restarts = 1, max_passes = 3 }},
]
[solver]
sampler = "external"
iterations = 2000
"""
MAGIC = b"foldwise packed strategy 1 "


def made_up_points(strength: HandStrength, bins: int) -> Any:
    return np.random.default_rng(5).integers(0, 16_000, (hand_index((2, 3)).size, bins - 1)).astype(np.int16)


def make_cards_up(patch: pytest.MonkeyPatch, cache: Path) -> None:
    patch.setattr(clustering, "flop_histograms", made_up_points)
    patch.setattr(HandStrength, "masses", lambda self, street: np.ones(hand_index((2, 3)).size, np.int64))
    use_cache(patch, cache)


def use_cache(patch: pytest.MonkeyPatch, folder: Path) -> None:
    for module in ("game.compiled", "abstraction.build"):
        patch.setattr(f"foldwise.{module}.cache_folder", lambda: folder)


def never(*_: Any, **__: Any) -> Any:
    raise AssertionError("trained")


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("flop")
    (folder / "flop.game").write_text(GAME)
    (folder / "flop.toml").write_text(CONFIG)
    with pytest.MonkeyPatch.context() as patch:
        make_cards_up(patch, folder / "cache")
        assert main(["solve", str(folder / "flop.toml"), "-o", str(folder / "solved"), "--json"]) == 0
    return folder


@pytest.fixture
def solved(once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A solved strategy of the test's own, and the cache it was solved with."""
    make_cards_up(monkeypatch, once / "cache")
    return Path(shutil.copytree(once / "solved", tmp_path / "solved"))


def packed(folder: Path, name: str) -> Path:
    path = folder.parent / name
    pack(Strategy(folder), path, 255, "a test")
    return path


def without_centres(folder: Path) -> None:
    """The folder as it was before centres were kept in it."""
    cards = CardAbstraction.load(folder / "cards")
    manifest = json.loads((folder / "cards" / "manifest.json").read_text())
    del manifest["arrays"]["flop-trained"], manifest["checksum"]
    (folder / "cards" / "manifest.json").write_text(json.dumps(manifest))
    again = CardAbstraction.load(folder / "cards")
    assert (again.fingerprint, again.trained) == (cards.fingerprint, {}) and cards.trained


def rewritten(path: Path, change: Any) -> None:
    """The file with its manifest and data changed, and a checksum that fits."""
    _, manifest, data = path.read_bytes().split(b"\n", 2)
    fields, rows = change(json.loads(manifest), bytearray(lzma.decompress(data)))
    body = json.dumps(fields).encode() + b"\n" + lzma.compress(bytes(rows))
    path.write_bytes(MAGIC + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def test_the_same_fingerprint_with_centres_and_without(solved, tmp_path, monkeypatch):
    file = packed(solved, "with.packed")
    described = read_packed(file).manifest.centres
    assert [(one.street, one.shape) for one in described] == [(1, (BUCKETS, 2))]
    bare = tmp_path / "bare.packed"
    bare.write_bytes(file.read_bytes())
    rewritten(bare, lambda fields, rows: ({**fields, "centres": []}, rows[: fields["entries"]]))
    before = CardAbstraction.load(solved / "cards")
    use_cache(monkeypatch, tmp_path / "second")
    trained_again = CardAbstraction.load(find_strategy(bare) / "cards")
    use_cache(monkeypatch, tmp_path / "third")
    monkeypatch.setattr(KMeans, "run", never)
    labelled = Strategy(find_strategy(file))
    cards = CardAbstraction.load(labelled.folder / "cards")
    assert cards.fingerprint == trained_again.fingerprint == before.fingerprint == labelled.manifest.cards
    assert np.array_equal(cards.streets[1].table, before.streets[1].table)
    assert len(np.unique(cards.streets[1].table)) == BUCKETS
    # What needs the game again takes the cards of the folder; packed once more, the centres are still there.
    use_cache(monkeypatch, tmp_path / "fourth")
    assert load_abstract_game(labelled).fingerprint == labelled.manifest.abstraction
    assert read_packed(packed(labelled.folder, "again.packed")).manifest.centres == described


def test_a_file_from_before_there_were_centres_unpacks(solved, tmp_path, monkeypatch):
    file = packed(solved, "old.packed")

    def older(fields: dict[str, Any], rows: bytearray) -> Any:
        del fields["centres"]
        return fields, rows[: fields["entries"]]

    rewritten(file, older)
    use_cache(monkeypatch, tmp_path / "second")
    assert Strategy(find_strategy(file)).manifest.cards == Strategy(solved).manifest.cards


def test_a_folder_from_before_there_were_centres_is_packed_with_them(solved, tmp_path, monkeypatch, caplog):
    expected = read_packed(packed(solved, "with.packed")).manifest.centres
    without_centres(solved)
    assert read_packed(packed(solved, "again.packed")).manifest.centres == expected
    # Where training finds others, none may travel.
    use_cache(monkeypatch, tmp_path / "second")
    monkeypatch.setattr(clustering, "flop_histograms", lambda *given: made_up_points(*given)[::-1].copy())
    assert read_packed(packed(solved, "other.packed")).manifest.centres == []
    assert "training gives other ones here" in caplog.text


def flipped(fields: dict[str, Any], rows: bytearray) -> Any:
    rows[fields["entries"] + 3] ^= 1
    return fields, rows


def changed(**values: Any) -> Any:
    return lambda fields, rows: ({**fields, "centres": [{**fields["centres"][0], **values}]}, rows)


@pytest.mark.parametrize(
    "change, message",
    [
        (flipped, "is damaged: the centres of the flop are not those packed"),
        (changed(sha256="0" * 64), "is damaged: the centres of the flop are not those packed"),
        (changed(shape=[BUCKETS * 2, 1]), "80 centres of 1 numbers on the flop, where its config makes 40 of 2"),
        (changed(street=0), "40 centres of 2 numbers on the preflop, where its config makes 0 of 0"),
        (changed(street=3), "where its config makes 0 of 0"),
        (changed(shape=[BUCKETS, 3]), "holds other than"),
        (changed(shape=[BUCKETS, 0]), "shape"),
    ],
)
def test_damaged_centres_are_named(change, message, solved, capsys):
    file = packed(solved, "toy.packed")
    rewritten(file, change)
    with pytest.raises(FormatError, match=message):
        find_strategy(file)
    assert main(["inspect", str(file), "--hand", "AsAh"]) == 2
    error = capsys.readouterr().err
    assert "toy.packed" in error and error.count("\n") == 1


def test_flop_turn_and_river_are_labelled_from_what_training_kept(monkeypatch):
    """Every street's table again, with training switched off; the river on a few boards, of given opponent groups."""
    rng = np.random.default_rng(3)
    points = {street: rng.integers(0, 16_000, (4000, 4)).astype(np.int16) for street in (1, 2)}
    rivers = rng.choice(len(boards(5).cards), 6, replace=False).tolist()

    def some_blocks(work: Any, total: int, stage: str = "", *rest: Any, **options: Any) -> None:
        for row in rivers if stage == "river OCHS" else ():
            work(row, row + 1)
        if stage != "river OCHS":
            run_blocks(work, total, stage, *rest, **options)

    groups = hand_index((2,)).index_hands(PAIR_CARDS) % clustering.NUM_OPPONENT_GROUPS
    monkeypatch.setattr(clustering, "flop_histograms", lambda *_: points[1])
    monkeypatch.setattr(clustering, "turn_histograms", lambda *_: points[2])
    monkeypatch.setattr(clustering, "run_blocks", some_blocks)
    monkeypatch.setattr(clustering, "opponent_groups", lambda _: groups.astype(np.int64))
    monkeypatch.setattr(HandStrength, "masses", lambda self, street: np.ones(4000, np.int64))
    streets: list[dict[str, Any]] = [
        {"method": "lossless"},
        {"method": "kmeans-emd", "buckets": 30, "bins": 5, "sample": 1000},
        {"method": "kmeans-emd", "buckets": 20, "bins": 5},  # trained on all points
        {"method": "kmeans-ochs", "buckets": 10, "sample": 400},
    ]
    config = CardConfig.model_validate({"streets": streets})
    first = build_cards(config, HandStrength())
    monkeypatch.setattr(KMeans, "run", never)
    monkeypatch.setattr(clustering, "opponent_groups", never)
    monkeypatch.setattr(HandStrength, "masses", never)
    second = Builder(config, HandStrength(), first.trained)
    for street, cards in enumerate(config.streets):
        second.add(street, cards)
    places = np.concatenate([classes_on(row) for row in rivers])
    for before, after, chosen in zip(first.streets, second.streets, (..., ..., ..., places)):
        assert np.array_equal(before.table[chosen], after.table[chosen])
        assert (before.note, before.num_buckets) == (after.note, after.num_buckets)
    assert [len(np.unique(street.table[:4000])) for street in first.streets[1:3]] == [30, 20]
    assert len(np.unique(first.streets[3].table[places])) > 5


def classes_on(row: int) -> Any:
    board = boards(5).cards[row].tolist()
    hands = [[*pair, *board] for pair in PAIR_CARDS.tolist() if not {*pair} & {*board}]
    return hand_index((2, 5)).index_hands(np.array(hands, np.uint8))
