"""A strategy in one file: what rounding keeps, errors for damaged files, and names in place of folders."""

import hashlib
import json
import lzma
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldwise.abstraction.named_strategy import default_file, find_strategy
from foldwise.abstraction.packed_strategy import pack, read_packed, row_levels
from foldwise.abstraction.strategy import Strategy
from foldwise.agent.player_spec import parse_player
from foldwise.cli.main import main
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.game.trees.tree import NODE_DTYPE, Tree
from foldwise.game.trees.tree_kernels import DECISION

MOST_DEFAULT_BYTES = 10_000_000


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("solved") / "leduc"
    assert main(["solve", "leduc", "-o", str(folder), "--iterations", "50", "--json"]) == 0
    return folder


@pytest.fixture
def packed(solved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A packed Leduc, and a cache of its own to unpack it into; compiled code stays where it is."""
    path = tmp_path / "toy.packed"
    pack(Strategy(solved), path, 255, "a test")
    monkeypatch.setattr("foldwise.game.compiled.cache_folder", lambda: tmp_path / "cache")
    return path


def one_decision(num_actions: int) -> Tree:
    nodes = np.zeros(1, NODE_DTYPE)
    nodes["kind"], nodes["num_children"] = DECISION, num_actions
    return Tree(nodes, np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros((1, 2), np.int32))


@given(
    shares=st.lists(
        st.lists(st.integers(0, 65535), min_size=4, max_size=4) | st.just([0] * 4), min_size=1, max_size=20
    ),
    bits=st.integers(1, 8),
)
def test_rows_keep_zeros_order_and_the_most_probable(shares, bits):
    levels = 2**bits - 1
    rows = np.array(shares, np.uint16)
    made = row_levels(one_decision(4), rows.ravel(), levels).reshape(rows.shape).astype(np.float64)
    for before, after in zip(rows.astype(np.float64), made):
        if not before.any():
            assert not after.any()
            continue
        assert after.max() == levels
        assert not after[before == 0].any()
        assert np.array_equal(before == before.max(), after == after.max())  # what purification plays
        assert (np.diff(after[np.argsort(before)]) >= 0).all()
        # Beside the top each is within a level of its share, half of one where no tie had to be kept apart.
        assert np.abs(after / levels - before / before.max()).max() <= 1.0 / levels
        probabilities, expected = after / after.sum(), before / before.sum()
        assert probabilities.sum() == pytest.approx(1.0)
        if bits > 1:  # with one bit only the most probable action is left
            assert np.abs(probabilities - expected).max() <= 2.0 / levels


def test_eight_bits_are_within_a_step_of_what_was_solved(solved, packed):
    before, after = Strategy(solved), Strategy(find_strategy(packed))
    for node in np.flatnonzero(before.tree.nodes["kind"] == DECISION):
        for bucket in range(3):
            expected, reached = before.row(int(node), bucket)
            found, found_reached = after.row(int(node), bucket)
            assert reached == found_reached
            assert found.sum() == pytest.approx(1.0)
            assert np.abs(found - expected).max() <= 1.0 / 255
            assert np.argmax(found) == np.argmax(expected)


def test_the_folder_is_whole_and_says_how_it_was_made(solved, packed, capsys):
    folder = find_strategy(packed)
    assert folder.name == "toy"
    before, after = Strategy(solved).manifest, Strategy(folder).manifest
    for key in ("config", "nodes", "seconds", "seed", "abstraction", "infosets", "reached", "history"):
        assert getattr(after, key) == getattr(before, key), key
    assert read_packed(packed).manifest.packed_by == "a test"
    assert main(["verify", str(packed), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "strategy"


def test_a_packed_strategy_is_named_in_a_folders_place(packed, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["match", "toy.packed|purify", "other=toy.packed", "--game", "leduc", "--hands", "20", "--json"]
    assert main(words) == 0
    players = json.loads(capsys.readouterr().out)["players"]
    assert players[0].endswith("toy|purify") and players[1].startswith("other=strategy:")
    assert parse_player("strategy:toy.packed").folder == find_strategy(packed)


def test_what_was_unpacked_is_used_again_and_made_anew_when_damaged(packed, caplog):
    folder = find_strategy(packed)
    manifest = (folder / "manifest.json").stat().st_mtime_ns
    assert find_strategy(packed) == folder and (folder / "manifest.json").stat().st_mtime_ns == manifest
    rows = next(folder.glob("probabilities*.npy"))
    whole = rows.read_bytes()
    rows.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert find_strategy(packed) == folder
    assert "damaged" in caplog.text and "unpacking it again" in caplog.text
    assert next(folder.glob("probabilities*.npy")).read_bytes() == whole
    assert [path.name for path in folder.parent.iterdir()] == ["toy"]


def test_any_flipped_byte_is_noticed_and_the_file_named(packed):
    whole = packed.read_bytes()
    places = np.linspace(len(b"foldwise packed strategy 1 "), len(whole) - 1, 50).astype(int)
    for place in places.tolist():
        packed.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(FormatError, match=r"toy\.packed' is damaged"):
            find_strategy(packed)
    packed.write_bytes(whole[:-20])
    with pytest.raises(FormatError, match=r"toy\.packed' is damaged"):
        find_strategy(packed)


def with_manifest(path: Path, rows: bytes | None = None, **fields: object) -> None:
    """The file with another manifest or other rows, and a checksum that fits."""
    _, manifest, data = path.read_bytes().split(b"\n", 2)
    body = json.dumps({**json.loads(manifest), **fields}).encode() + b"\n" + (data if rows is None else rows)
    path.write_bytes(b"foldwise packed strategy 1 " + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def test_rows_of_another_game_are_refused(packed, capsys):
    with_manifest(packed, tree="0" * 32)
    assert main(["inspect", str(packed), "--betting", "", "--hand", "Ks"]) == 2
    assert "was solved with tree 0000" in capsys.readouterr().err
    with_manifest(packed, tree=1)
    with pytest.raises(FormatError, match="tree"):
        find_strategy(packed)


@pytest.mark.parametrize("count", [0, 10, 10_000_000])
def test_rows_of_another_length_are_refused(packed, count):
    """Ten million zeros pack into a few bytes: no more is unpacked than the manifest promises."""
    with_manifest(packed, lzma.compress(bytes(count)))
    with pytest.raises(FormatError, match="other than the"):
        find_strategy(packed)


def test_a_cache_that_cannot_be_written_is_named(packed, tmp_path):
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(DefinitionError, match="set FOLDWISE_CACHE"):
        find_strategy(packed)


@pytest.mark.parametrize(
    "words",
    [
        "duel",
        "duel default",
        "play default 127.0.0.1 9",
        "play human 127.0.0.1 9 --reveal default",
        "match default bot:strength",
        "match bot:call named=default|purify",
        "tournament default bot:call",
        "compare default --opponents bot:call",
        "compare {solved} --opponents default",
        "serve",
        "serve --strategies default",
        "lbr default",
        "inspect default --hand AsAh",
        "exploitability default",
        "export default -o rows.csv",
        "pack default -o again.packed",
        "plot default",
        "startme default",
        "score --fit --strategy default",
        "spot --strategy default --board AsKd2c9s",
        "review {solved} --strategy default",
        "verify default",
    ],
)
def test_default_is_a_name_wherever_a_strategy_can_be_named(words, solved, tmp_path, monkeypatch, capsys):
    """Each command asks for the file that comes with foldwise; if it is missing, it says so in one line."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("foldwise.abstraction.named_strategy.default_file", lambda: tmp_path / "gone.packed")
    assert main(words.format(solved=solved).split()) == 2
    captured = capsys.readouterr()
    assert (
        captured.err
        == f"foldwise: '{tmp_path}/gone.packed' is missing: install foldwise again, or make it with 'foldwise pack'\n"
    )
    assert not captured.out and not list(tmp_path.iterdir())


def test_a_folder_called_default_comes_before_the_name(solved, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "default").symlink_to(solved)
    assert find_strategy("default") == Path("default")
    assert find_strategy("nothing-of-that-name") == Path("nothing-of-that-name")


def test_the_default_is_small_enough_and_says_how_it_was_made():
    file = default_file()
    assert file.stat().st_size <= MOST_DEFAULT_BYTES
    packed = read_packed(file)
    solved = packed.manifest.solved
    assert (solved.game, solved.name) == ("hunl", "hunl-hour")
    assert solved.nodes > 1e8 and solved.seconds > 60 and "commit" in packed.manifest.packed_by
    assert list(packed.trained()) == [1, 2, 3]  # nothing is trained at first use
    rows = packed.rows()
    assert len(rows) == packed.manifest.entries
    assert solved.reached > solved.infosets // 2
