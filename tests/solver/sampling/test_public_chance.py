"""Public chance sampling: unbiased by enumeration, exact on boards of hold'em, and driven like the other samplers."""

from math import comb, inf
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
import pytest

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.game.trees.tree_kernels import DECISION
from foldwise.solver.config import RunConfig, SolverConfig
from foldwise.solver.full_width.vector_kernels import VectorFrames, VectorGame, walk_full_width
from foldwise.solver.regret_kernels import normalise_sums
from foldwise.solver.response.best_response import ExactResponse
from foldwise.solver.run import SolverRun
from foldwise.solver.sampling import public_deal_kernels, public_kernels
from foldwise.solver.sampling.public_chance import (
    PublicChance,
    make_ends,
    make_hands,
    make_public_frames,
    split_by_public_chance,
)
from foldwise.solver.sampling.public_deal_kernels import hands_of_part
from foldwise.solver.sampling.public_kernels import Hands, PublicEnds
from tests.oracles.naive_solver import (
    Script,
    full_width_update,
    matched,
    mean_change,
    naive_game,
    random_table,
    read_table,
    small_game,
)
from tests.support.coarse_holdem import Board, coarse_two_limit

Array = npt.NDArray[np.float64]


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels' own source, run by Python, with uniform draws replaced by choices of a script."""
    for module in (public_kernels, public_deal_kernels):
        for name, value in vars(module).copy().items():
            if hasattr(value, "py_func"):
                monkeypatch.setattr(module, name, value.py_func)
    monkeypatch.setattr(public_kernels, "next_uniform", lambda script: script.uniform())


def expected_change(game: AbstractGame, table: Array, sampler: str, traverser: int) -> tuple[Array, int]:
    """The mean change of the table over every part of public chance and every hand drawn; and how many runs."""
    joint = game.deals.joint
    assert joint is not None
    parts = split_by_public_chance(joint)
    nodes = [SimpleNamespace(**dict(zip(game.tree.nodes.dtype.names, node))) for node in game.tree.nodes.tolist()]
    frames = make_public_frames(game, parts.weight.shape[2])
    single = make_hands(1, game.num_streets)

    def walk_on(part: int, after: Array, script: Script) -> None:
        hands = tuple(public_deal_kernels.hands_of_part(parts, part, player) for player in range(2))
        empty = make_ends(5)
        ends = PublicEnds(empty.board, empty.sums, 1.0, parts.fold[part], parts.settle[part])
        if sampler == "pcs":
            public_kernels.walk_public(nodes, after, hands, ends, 0, 2, 1.0, -inf, frames)
        else:
            narrowed = traverser if sampler == "spcs" else 1 - traverser
            one = public_kernels.draw_hand(hands[narrowed], script, single)
            both = (hands[0], one) if narrowed == 1 else (one, hands[1])
            public_kernels.walk_public(nodes, after, both, ends, traverser, traverser + 1, 1.0, -inf, frames)

    return mean_change(table, parts.probability, walk_on)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("name", ["kuhn", "leduc"])
@pytest.mark.parametrize("sampler", ["pcs", "opcs", "spcs"])
def test_expected_updates_are_the_full_width_ones(name: str, sampler: str) -> None:
    """Regrets and sums of the player who learns as in CFR, over all public chance and all draws of a hand."""
    game = small_game(name)
    naive = naive_game(game)
    for traverser in range(2):
        table = random_table(game, traverser)
        regrets, _ = read_table(game, naive, table)
        sigma = {infoset: matched(row) for infoset, row in regrets.items()}
        change, num_runs = expected_change(game, table, sampler, traverser)
        boards = 1 if name == "kuhn" else 3
        assert num_runs == (boards if sampler == "pcs" else 3 * boards)
        changed_regrets, changed_sums = read_table(game, naive, change)
        for player in range(2):
            wanted_regrets, wanted_sums = full_width_update(naive, sigma, player)
            learns = sampler == "pcs" or player == traverser
            for infoset in wanted_regrets:
                zeros = [0.0] * len(sigma[infoset])
                assert changed_regrets[infoset] == pytest.approx(
                    wanted_regrets[infoset] if learns else zeros, abs=1e-12
                )
                assert changed_sums[infoset] == pytest.approx(wanted_sums[infoset] if learns else zeros, abs=1e-12)


def test_parts_are_what_both_players_see() -> None:
    """Leduc: the rank on the board; Kuhn and Bluff: nothing."""
    for name, num_parts, num_hands in (("kuhn", 1, 3), ("leduc", 3, 3), ("bluff-1-1", 1, 6), ("bluff-2-1", 1, 21)):
        joint = small_game(name).deals.joint
        assert joint is not None
        parts = split_by_public_chance(joint)
        assert parts.probability == pytest.approx([1.0 / num_parts] * num_parts)
        assert (parts.num_hands[:, 0] == num_hands).all()
        assert parts.fold.sum(axis=(2, 3)) == pytest.approx(1.0)


def one_hand(hands: Hands, place: int) -> Hands:
    buckets = np.array([[hands.buckets[street, hands.local[street, place]]] for street in range(2)], dtype=np.int32)
    single = make_hands(1, 2)
    single.num_local[:] = 1
    return single._replace(place=place, chance=1.0 / hands.num_hands, buckets=buckets)


@pytest.fixture(scope="module")
def board() -> Board:
    return Board(coarse_two_limit(5, 7), seed=4)


def test_hands_of_a_board_have_their_buckets(board: Board) -> None:
    cards = board.game.cards
    assert cards is not None
    assert (board.hands.num_local == [5, 7]).all()
    for place in range(0, board.hands.num_hands, 53):
        hand = board.ends.board.cards[place].tolist()
        for street, shown in enumerate(([], board.flop)):
            bucket = board.hands.buckets[street, board.hands.local[street, place]]
            assert bucket == cards.bucket(hand, shown)


def full_width_by_hand(board: Board, table: Array) -> Array:
    """The update by the full-width solver over matrices of all pairs of hands, summed over the hands of a bucket."""
    game, hands = board.game, board.hands
    n = hands.num_hands
    masks = (1 << board.ends.board.cards.astype(np.int64)).sum(axis=1)
    fold = ((masks[:, None] & masks[None, :]) == 0) / (n * (49 - 2) * (49 - 3) / 2)
    ranks = board.ends.board.ranks.astype(int)
    settle = fold * np.sign(ranks[:, None] - ranks[None, :])
    assert fold.sum() == pytest.approx(1.0)
    nodes = game.tree.nodes.copy()
    entries = np.where(nodes["kind"] == DECISION, n * nodes["num_children"].astype(np.int64), 0)
    nodes["base"] = np.cumsum(entries) - entries
    vector_game = VectorGame(
        nodes=nodes,
        num_buckets=np.full((2, 2), n, dtype=np.int32),
        by_first=np.concatenate([fold.ravel(), settle.ravel()]),
        by_second=np.concatenate([fold.T.ravel(), settle.T.ravel()]),
        offset=np.array([0, n * n]),
        fold_matrix=np.zeros(2, dtype=np.int32),
        settle_matrix=np.ones(2, dtype=np.int32),
        parents=np.arange(n, dtype=np.int32),
        parent_offset=np.zeros((2, 2), dtype=np.int64),
    )
    rows = []  # of every hand at every decision: entry in the table by hand, entry by bucket, actions
    for at in np.flatnonzero(nodes["kind"] == DECISION):
        width = int(nodes[at]["num_children"])
        street = int(nodes[at]["street"])
        buckets = hands.buckets[street][hands.local[street]]
        for hand in range(n):
            ours = int(game.tree.nodes[at]["base"]) + int(buckets[hand]) * width
            rows.append((2 * (int(nodes[at]["base"]) + hand * width), 2 * ours, 2 * width))
    wide = np.zeros(2 * int(entries.sum()))
    for mine, ours, width in rows:
        wide[mine : mine + width] = table[ours : ours + width]
    before = wide.copy()
    depth, most = game.depth, n * game.max_actions
    frames = VectorFrames(
        np.zeros(depth, dtype=np.int32), np.zeros(depth, dtype=np.int32), np.ones((depth, n)), np.ones((depth, n)),
        np.zeros((depth, n)), np.zeros((depth, most)), np.zeros((depth, most)),
    )  # fmt: skip
    for player in range(2):
        changed = before.copy()
        walk_full_width(vector_game, changed, player, 1.0, 1.0, 1.0, 1.0 / n, -inf, frames)
        wide += changed - before
    change = np.zeros_like(table)
    for mine, ours, width in rows:
        change[ours : ours + width] += wide[mine : mine + width] - before[mine : mine + width]
    return change


def test_a_walk_on_a_board_equals_all_pairs_of_hands(board: Board) -> None:
    """Hands of a bucket update it as one, and none is lost: the change is the sum over 1,176 x 1,081 pairs of hands."""
    table = random_table(board.game, 3)
    change = board.change(table, (board.hands, board.hands), 0, 2)
    assert change == pytest.approx(full_width_by_hand(board, table), abs=1e-12)
    assert np.abs(change).max() > 1e-3


@pytest.mark.parametrize("traverser", [0, 1])
@pytest.mark.parametrize("sampler", ["opcs", "spcs"])
def test_drawing_a_hand_of_a_board_changes_no_mean(board: Board, sampler: str, traverser: int) -> None:
    """Over all 1,176 hands the opponent, or the traverser, may be dealt, the mean update is the one with all hands."""
    table = random_table(board.game, 5)
    hands = board.hands
    whole = board.change(table, (hands, hands), traverser, traverser + 1)
    mean = np.zeros_like(table)
    for place in range(hands.num_hands):
        one = one_hand(hands, place)
        opponent = (one, hands) if traverser == 1 else (hands, one)
        own = (one, hands) if traverser == 0 else (hands, one)
        mean += board.change(table, opponent if sampler == "opcs" else own, traverser, traverser + 1) / hands.num_hands
    assert mean == pytest.approx(whole, abs=1e-12)


@pytest.mark.parametrize("sampler, bound_mbb", [("pcs", 40.0), ("opcs", 90.0), ("spcs", 90.0)])
def test_leduc_is_solved(sampler: str, bound_mbb: float) -> None:
    """5,000 iterations; bounds are about twice what seeds 1 to 3 gave, uniform play loses 2,374."""
    game = small_game("leduc")
    solver = PublicChance(game, SolverConfig.model_validate({"sampler": sampler}))
    solver.advance(5000)
    policy = np.empty(game.num_entries)
    normalise_sums(game.tree.nodes, game.deals.num_buckets, solver.table, policy)
    assert ExactResponse(game).exploitability(policy).exploitability_mbb < bound_mbb


def test_threads_share_the_work_on_boards() -> None:
    game = coarse_two_limit(3, 4)
    solver = PublicChance(game, SolverConfig(sampler="pcs", threads=2))
    solver.advance(5)
    single = PublicChance(game, SolverConfig(sampler="pcs"))
    single.advance(5)
    assert solver.iteration == 5 and 0.5 < solver.nodes / single.nodes < 2.0
    assert not np.array_equal(solver.table, single.table)
    assert np.isfinite(solver.table).all()


def test_regrets_stop_at_the_floor_and_skipped_iterations_leave_the_average_alone() -> None:
    game = small_game("leduc")
    naive = naive_game(game)
    solver = PublicChance(game, SolverConfig(sampler="pcs", regret_floor_chips=-2.0, skip_iterations=500))
    solver.advance(500)
    regrets, sums = read_table(game, naive, solver.table)
    assert min(min(row) for row in regrets.values()) == -2.0
    assert not any(any(row) for row in sums.values())


@pytest.mark.parametrize("sampler", ["pcs", "opcs", "spcs"])
def test_a_resumed_run_equals_an_unbroken_one(tmp_path: Path, sampler: str) -> None:
    def run(folder: str, iterations: int, resume: bool) -> SolverRun:
        config = RunConfig.model_validate(
            {"name": "leduc", "game": "leduc", "solver": {"sampler": sampler, "iterations": iterations}}
        )
        solved = SolverRun(small_game("leduc"), config, tmp_path / folder, resume)
        for _ in solved:
            pass
        solved.checkpoint()
        return solved

    whole = run("whole", 300, False)
    run("parts", 120, False)
    resumed = run("parts", 300, True)
    assert np.array_equal(whole.solver.table, resumed.solver.table)
    assert whole.solver.nodes == resumed.solver.nodes


def test_hands_of_part_reads_its_part() -> None:
    joint = small_game("leduc").deals.joint
    assert joint is not None
    parts = split_by_public_chance(joint)
    hands = hands_of_part(parts, 2, 1)
    assert hands.num_hands == 3 and hands.place == -1
    assert hands.weight == pytest.approx(parts.weight[2, 1])
    assert hands.weight.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("num_board", [3, 5])
def test_pairs_of_hands_weigh_one_in_all(num_board: int) -> None:
    """Regrets of a board are expected chips, and so on the scale of the other samplers."""
    pairs = comb(52 - num_board, 2) * comb(50 - num_board, 2)
    assert make_ends(num_board).pair_weight == pytest.approx(1.0 / pairs, rel=1e-14)
