"""A power cut at any moment leaves what `docs/promises.md` says: checkpoints, strategies, cards, blocks, cells, plans."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.abstraction.build import build_abstract_game
from foldwise.abstraction.cards.card_abstraction import CardAbstraction, StreetAbstraction
from foldwise.abstraction.config import check_config
from foldwise.abstraction.storage.array_folder import load_arrays, save_arrays
from foldwise.abstraction.storage.whole_file import make_folder, write_whole
from foldwise.abstraction.strategy import Strategy
from foldwise.agent.player_spec import parse_player
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.game.library import find_definition
from foldwise.matches.duplicate.cells import CellStore
from foldwise.matches.network.block_player import player_name
from foldwise.matches.network.block_store import BlockStore, Job, open_job
from foldwise.matches.network.messages import pack_values
from foldwise.matches.plan import MatchPlan, create_folder, load_plan
from foldwise.solver.config import RunConfig
from foldwise.solver.run import SolverRun
from tests.support.power_cut import Recorder, lay_out, recorded

OUTPUT = Path("runs") / "one"  # two new folders, whose own names must be on the disk too
LEDUC = find_definition("leduc").to_text()


@pytest.fixture
def check_cuts(tmp_path: Path) -> Callable[..., int]:
    """Runs something, and looks at what every power cut in its course may have left; how many there were."""

    def check(run: Callable[[Path, Recorder], None], look: Callable[[Path, Any], None]) -> int:
        with recorded(tmp_path / "disk") as recorder:
            run(tmp_path / "disk" / OUTPUT, recorder)
        cuts = [(cut, promised) for disk, promised in recorder.moments for cut in disk.cuts()]
        for cut, promised in cuts:
            place = lay_out(*cut, tmp_path / "cut")
            look(place / OUTPUT, promised)
            shutil.rmtree(place)
        return len(cuts)

    return check


def text_of(path: Path) -> str | None:
    return path.read_text() if path.exists() else None


def kuhn_config() -> RunConfig:
    return check_config(
        {"name": "kuhn", "game": "kuhn", "solver": {"sampler": "cfr", "iterations": 9}}, RunConfig, "test"
    )


@pytest.fixture(scope="module")
def kuhn() -> AbstractGame:
    return build_abstract_game(kuhn_config())


def test_a_rename_without_fsync_is_found_out(check_cuts: Callable[..., int]) -> None:
    """The recorder itself: the name may lead to nothing, an empty file or half of one."""

    def run(folder: Path, recorder: Recorder) -> None:
        make_folder(folder)
        (folder / "new").write_text("whole!")
        (folder / "new").replace(folder / "name")
        recorder.promise("whole!")

    found = set()
    check_cuts(run, lambda folder, promised: found.add(text_of(folder / "name")) if promised else None)
    assert found == {None, "", "who", "whole!"}


def test_a_file_is_the_old_or_the_new_one(check_cuts: Callable[..., int]) -> None:
    texts = ["the first, which is long", "the second", "the third"]

    def run(folder: Path, recorder: Recorder) -> None:
        make_folder(folder)
        for text in texts:
            write_whole(folder / "file", text)
            recorder.promise(text)

    def look(folder: Path, promised: str | None) -> None:
        assert text_of(folder / "file") in (texts[texts.index(promised) :] if promised else [None, *texts])

    assert check_cuts(run, look) > 30


def test_a_checkpoint_is_whole_and_no_older_than_promised(check_cuts: Callable[..., int], kuhn: AbstractGame) -> None:
    config = kuhn_config()
    tables = {}

    def run(folder: Path, recorder: Recorder) -> None:
        solving = SolverRun(kuhn, config, folder, False)
        for _ in range(2):
            solving.solver.advance(1)
            tables[solving.solver.iteration] = solving.solver.table.copy()
            solving.checkpoint()
            recorder.promise(solving.solver.iteration)

    def look(folder: Path, promised: int | None) -> None:
        try:
            resumed = SolverRun(kuhn, config, folder, True).solver
        except FormatError:
            assert promised is None
            return
        assert resumed.iteration >= (promised or 0)
        assert np.array_equal(resumed.table, tables[resumed.iteration])

    assert check_cuts(run, look) > 30


def test_a_strategy_is_whole_and_no_older_than_promised(check_cuts: Callable[..., int], kuhn: AbstractGame) -> None:
    def run(folder: Path, recorder: Recorder) -> None:
        solving = SolverRun(kuhn, kuhn_config(), folder, False)
        for _ in range(2):
            solving.solver.advance(1)
            recorder.promise(solving.save().iterations)

    def look(folder: Path, promised: int | None) -> None:
        try:
            strategy = Strategy(folder)
        except FormatError:
            assert promised is None
            return
        strategy.verify()
        assert strategy.manifest.iterations >= (promised or 0)

    assert check_cuts(run, look) > 100


def test_cards_are_the_old_or_the_new_ones(check_cuts: Callable[..., int]) -> None:
    def run(folder: Path, recorder: Recorder) -> None:
        for version in ("a", "b"):
            arrays = {name: np.full(5, ord(version)) for name in ("flop", "turn")}
            save_arrays(folder, "cards", 1, version, {}, arrays)
            recorder.promise(version)

    def look(folder: Path, promised: str | None) -> None:
        try:
            manifest, arrays = load_arrays(folder, "cards", 1)
        except FormatError:
            assert promised is None
            return
        assert manifest.fingerprint >= (promised or "")
        assert all((array == ord(manifest.fingerprint)).all() for array in arrays.values())

    assert check_cuts(run, look) > 50


def test_a_strategy_never_lies_beside_other_cards(
    check_cuts: Callable[..., int], kuhn: AbstractGame, tmp_path: Path
) -> None:
    """Cards are copied from the cache; a strategy over other cards is written over the first, which may go before."""
    games = []
    for name, street in (("a", StreetAbstraction("lossless", 169, (2,))), ("b", StreetAbstraction("raw", 1326, (2,)))):
        CardAbstraction([street], {}).save(tmp_path / name)
        games.append(replace(kuhn, cards=CardAbstraction.load(tmp_path / name)))

    def run(folder: Path, recorder: Recorder) -> None:
        for game in games:
            SolverRun(game, kuhn_config(), folder, False).save()
            recorder.promise(game.cards.fingerprint)

    def look(folder: Path, promised: str | None) -> None:
        try:
            strategy = Strategy(folder)
        except FormatError:
            assert promised != games[1].cards.fingerprint
            return
        assert CardAbstraction.load(folder / "cards").fingerprint == strategy.manifest.cards
        strategy.verify()

    assert check_cuts(run, look) > 10


def test_blocks_that_count_are_on_the_disk(check_cuts: Callable[..., int]) -> None:
    """Including a block that was discarded and played again with another result."""
    players = [player_name(parse_player(f"bot:{name}")) for name in ("call", "random")]
    job = Job(job="job", definition=LEDUC, seed=0, hands=30, block_pairs=10, first=players[:1], second=players[1:])
    steps = [{0: 1.0}, {0: 1.0, 2: -1.0}, {2: -1.0}, {0: 2.0, 2: -1.0}]

    def values_of(store: BlockStore) -> dict[int, float]:
        return {block: float(store.values[0, 0, 10 * block]) for block in range(3) if store.is_done(block)}

    def run(folder: Path, recorder: Recorder) -> None:
        make_folder(folder)
        store = BlockStore(open_job(job, folder, False), folder)
        for before, after in zip([{}, *steps], steps):
            for block in before.keys() - after.keys():
                store.discard(block)
            for block in after.keys() - before.keys():
                store.add(block, pack_values(np.full(10, after[block])), "north")
            recorder.promise(after)
        store.close()

    def look(folder: Path, promised: dict[int, float] | None) -> None:
        try:
            store = BlockStore(open_job(job, folder, True), folder)
        except DefinitionError:
            assert promised is None
            return
        assert values_of(store) in (steps[steps.index(promised) :] if promised else [{}, *steps])
        for block in store.missing():  # the torn line is gone: what follows it can be read
            store.add(block, pack_values(np.zeros(10)), "south")
        store.close()
        again = BlockStore(job, folder)
        assert not again.missing()
        again.close()

    assert check_cuts(run, look) > 20


def test_cells_that_were_played_are_on_the_disk(check_cuts: Callable[..., int]) -> None:
    players = [parse_player(f"bot:{name}") for name in ("call", "random", "raise")]
    cells = [(players[0], players[1]), (players[0], players[2])]

    def run(folder: Path, recorder: Recorder) -> None:
        store = CellStore(folder, 8, game="leduc")
        for number, cell in enumerate(cells):
            store.pairs(*cell, lambda number=number: np.full(8, float(number)))
            recorder.promise(number + 1)

    def look(folder: Path, promised: int | None) -> None:
        store = CellStore(folder, 8, game="leduc")
        for number, cell in enumerate(cells):
            again = store.pairs(*cell, lambda: np.full(8, -1.0))  # raises what is damaged
            assert (again == number).all() or (number >= (promised or 0) and (again == -1.0).all())

    assert check_cuts(run, look) > 20


def test_the_plan_of_a_match_is_there_before_its_first_hand(check_cuts: Callable[..., int]) -> None:
    plan = MatchPlan(
        players=("bot:call", "bot:random"), game="leduc", definition=LEDUC, hands=10, seed=1, repeat=1, over="memory"
    )

    def run(folder: Path, recorder: Recorder) -> None:
        create_folder(folder, plan)
        recorder.promise(plan)

    def look(folder: Path, promised: MatchPlan | None) -> None:
        try:
            assert load_plan(folder) == plan
        except DefinitionError:
            assert promised is None

    assert check_cuts(run, look) > 5
