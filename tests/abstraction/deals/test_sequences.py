"""The joint distribution of bucket sequences against pairwise counting, and full-width passes on it against the walk."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from foldwise.abstraction.abstract_game import AbstractGame, make_abstract_game
from foldwise.abstraction.cards.boards import boards
from foldwise.abstraction.cards.card_abstraction import CardAbstraction, StreetAbstraction
from foldwise.abstraction.deals import sequence_counting, sequence_matrices
from foldwise.abstraction.deals.joint_deals import SHOWDOWN_OUTCOMES
from foldwise.abstraction.deals.sequence_counting import (
    count_sequences,
    is_nested,
    load_sequence_matrices,
    sampled_rows,
    sequence_tables,
)
from foldwise.abstraction.deals.sequence_kernels import SequenceTables
from foldwise.abstraction.deals.sequence_matrices import NUM_BOARDS, SequenceMatrices
from foldwise.game.hands.evaluator import rank_hand
from foldwise.game.hands.hand_index import hand_index
from foldwise.game.hands.hole_cards import PAIR_CARDS, pair_number
from foldwise.game.library import find_game
from foldwise.game.trees.tree import CALL_CODE, FOLD_CODE
from foldwise.game.trees.tree_kernels import DECISION
from foldwise.solver.checkpoint import load_checkpoint, save_checkpoint
from foldwise.solver.config import SolverConfig
from foldwise.solver.full_width import sparse_product
from foldwise.solver.full_width.batch_cfr import BatchCfr
from foldwise.solver.full_width.row_sum_kernels import WIDTH
from foldwise.solver.full_width.sparse_kernels import DEPTH
from foldwise.solver.full_width.vector_cfr import VectorCfr
from foldwise.solver.regret_kernels import normalise_sums
from foldwise.solver.response.best_response import ExactResponse, _BatchResponder, _WalkResponder
from foldwise.solver.samplers import FULL_WIDTH
from foldwise.solver.sampling.chance_pieces import ChanceInPieces
from tests.oracles.naive_solver import History, Table, matched, naive_game, read_table, small_game

pytestmark = pytest.mark.jit

PARTS, CELLS = 3, 5  # buckets within each bucket, cells of the turn
SIZES = tuple(PARTS**street for street in range(1, 5))
# Suit-distinct boards: one like any other, one with three of a suit and a pair, one of four of a kind (all hands tie
# but for kickers).
ROWS = np.array([70_001, 3_333, 134_450])


def scrambled(numbers: npt.ArrayLike, modulus: int) -> npt.NDArray[np.int64]:
    """A number below `modulus` that depends on the class of a hand, and on nothing else."""
    mixed = np.asarray(numbers, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return ((mixed >> np.uint64(40)) % np.uint64(modulus)).astype(np.int64)


def nested(parents: int, columns: int) -> npt.NDArray[np.int32]:
    """Buckets by parent and column: parent * PARTS + a part of its own."""
    part = scrambled(np.arange(parents * columns), PARTS).reshape(parents, columns)
    return (np.arange(parents)[:, None] * PARTS + part).astype(np.int32)


TURN_BUCKETS, RIVER_BUCKETS = nested(SIZES[1], CELLS), nested(SIZES[2], 1981)


def flop_bucket(classes: npt.ArrayLike, preflop: npt.ArrayLike) -> npt.NDArray[np.int64]:
    return np.asarray(preflop) * PARTS + scrambled(classes, PARTS)


def preflop_buckets() -> npt.NDArray[np.int64]:
    return scrambled(hand_index((2,)).index_hands(PAIR_CARDS), PARTS)


@cache
def made_up_cards() -> CardAbstraction:
    """Nested buckets by the class of a hand alone; the river's by its strength, which counting finds by itself."""
    before, flop, turn = hand_index((2,)), hand_index((2, 3)), hand_index((2, 4))
    preflop_table = scrambled(np.arange(before.size), PARTS)
    hole_cards = np.ascontiguousarray(flop.unindex_hands(np.arange(flop.size))[:, :2])
    flop_table = flop_bucket(np.arange(flop.size), preflop_table[before.index_hands(hole_cards)])
    streets = [
        StreetAbstraction("table", SIZES[0], (2,), table=preflop_table.astype(np.uint16)),
        StreetAbstraction("table", SIZES[1], (2, 3), table=flop_table.astype(np.uint16)),
        StreetAbstraction(
            "cells",
            SIZES[2],
            (2, 4),
            "bucket",
            table=scrambled(np.arange(turn.size), CELLS).astype(np.uint16),
            cells=TURN_BUCKETS,
        ),
        StreetAbstraction("cells", SIZES[3], (2, 5), "bucket", cells=RIVER_BUCKETS),
    ]
    methods = ["percentile", *["percentile-nested"] * 3]
    return CardAbstraction(streets, {"streets": [{"method": method} for method in methods]}, fingerprint="made up")


@cache
def made_up_tables() -> SequenceTables:
    return sequence_tables(made_up_cards())


def count_pairwise(row: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Pairs and balance of one board by looking at all pairs of hands, in each of the 20 orders."""
    board, weight = boards(5).cards[row].tolist(), boards(5).orbits[row]
    hands = [hand for hand in PAIR_CARDS.tolist() if not set(hand) & set(board)]
    ranks = np.array([rank_hand(hand + board) for hand in hands])
    cards = np.array(hands)
    apart = (cards[:, None, :, None] != cards[None, :, None, :]).all(axis=(2, 3))
    sign = np.sign(ranks[:, None] - ranks[None, :]) * apart
    strength = 2 * (sign > 0).sum(axis=1) + ((sign == 0) & apart).sum(axis=1)
    before = preflop_buckets()[[pair_number(*hand) for hand in hands]]
    pairs, balance = np.zeros((SIZES[3], SIZES[3])), np.zeros((SIZES[3], SIZES[3]))
    for flop in combinations(board, 3):
        for turn in set(board) - set(flop):
            on_flop = np.array([hand + list(flop) for hand in hands], np.uint8)
            on_turn = np.array([[*hand, *flop, turn] for hand in hands], np.uint8)
            bucket = flop_bucket(hand_index((2, 3)).index_hands(on_flop), before)
            bucket = TURN_BUCKETS[bucket, scrambled(hand_index((2, 4)).index_hands(on_turn), CELLS)]
            sequence = RIVER_BUCKETS[bucket, strength]
            one = np.zeros((len(hands), SIZES[3]))
            one[np.arange(len(hands)), sequence] = 1.0
            pairs += weight * one.T @ apart @ one
            balance += weight * one.T @ sign @ one
    return pairs, balance


@cache
def counted() -> SequenceMatrices:
    return SequenceMatrices(count_sequences(made_up_tables(), ROWS, SIZES[3]), SIZES, len(ROWS))


def test_counting_equals_looking_at_all_pairs():
    pairs, balance = (sum(parts) for parts in zip(*(count_pairwise(row) for row in ROWS)))
    packed = counted().packed
    assert np.array_equal(np.triu(packed), np.triu(pairs))
    assert np.array_equal(np.tril(packed, -1), np.tril(balance, -1))
    assert counted().total == boards(5).orbits[ROWS].sum() * 20 * 1081 * 990


def test_matrices_are_counted_once(tmp_path, monkeypatch, caplog):
    """Then read from the cache, and counted again where that is damaged."""
    asked: list[int] = []

    def count(tables, rows, num_sequences, report=None):
        asked.append(len(rows))
        return count_sequences(tables, rows, num_sequences, report)

    monkeypatch.setattr(sequence_counting, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(sequence_counting, "count_sequences", count)
    monkeypatch.setattr(sequence_counting, "sequence_tables", lambda cards, report: made_up_tables())
    assert is_nested(made_up_cards())
    first = load_sequence_matrices(made_up_cards(), 2)
    again = load_sequence_matrices(made_up_cards(), 2)
    assert asked == [2] and first.boards_counted == again.boards_counted == 2 and first.street_buckets == SIZES
    assert np.array_equal(first.packed, again.packed) and first.packed.sum() > 0
    (file,) = tmp_path.rglob("packed*.npy")
    content = bytearray(file.read_bytes())
    content[-9] ^= 1
    file.write_bytes(content)
    assert np.array_equal(load_sequence_matrices(made_up_cards(), 2).packed, first.packed)
    assert asked == [2, 2] and "it is made again" in caplog.text


def test_matrices_of_all_streets_follow_from_the_last():
    matrices = counted()
    last, balance = matrices.fold_matrices[3], matrices.settle_matrices[3][0]
    assert np.array_equal(last, last.T) and np.array_equal(balance, -balance.T)
    assert (np.abs(balance) <= last).all() and np.abs(balance).sum() > 0.1
    for street in range(4):
        fold = matrices.fold_matrices[street]
        assert fold.shape == (SIZES[street], SIZES[street])
        assert fold.sum() == pytest.approx(1.0, abs=1e-12)
        if street > 0:
            parent = matrices.parents[street - 1][0]
            sums = np.zeros((SIZES[street - 1], SIZES[street - 1]))
            np.add.at(sums, (parent[:, None], parent[None, :]), fold)
            assert matrices.fold_matrices[street - 1] == pytest.approx(sums, abs=1e-14)


def test_marginals_are_the_probabilities_of_buckets():
    """The hands left by a board are equally likely for either player."""
    expected = np.zeros(PARTS)
    for row in ROWS:
        board = set(boards(5).cards[row].tolist())
        live = [number for number, hand in enumerate(PAIR_CARDS.tolist()) if not set(hand) & board]
        expected += boards(5).orbits[row] * np.bincount(preflop_buckets()[live], minlength=PARTS)
    assert counted().fold_matrices[0].sum(axis=1) == pytest.approx(expected / expected.sum(), abs=1e-12)


def test_a_sample_says_so_and_is_the_same_every_time():
    assert counted().boards_counted == len(ROWS)
    assert SequenceMatrices(counted().packed, SIZES, NUM_BOARDS).boards_counted is None
    rows = sampled_rows(1000)
    assert np.array_equal(rows, sampled_rows(1000)) and len(np.unique(rows)) == 1000
    assert np.array_equal(sampled_rows(NUM_BOARDS), np.arange(NUM_BOARDS)) and rows.std() > 0.2 * NUM_BOARDS


@dataclass(frozen=True)
class MatrixSource:
    """Deals known as matrices alone."""

    matrices: SequenceMatrices

    joint = None
    outcomes = SHOWDOWN_OUTCOMES  # unused: nothing is drawn
    fingerprint = "made up for a test"

    @property
    def num_buckets(self) -> npt.NDArray[np.int32]:
        return self.matrices.num_buckets


@cache
def limit_game() -> AbstractGame:
    game = find_game("limit")
    return make_abstract_game("limit-3", game.build_tree(), MatrixSource(counted()), game.unit_chips)


def run(solver: VectorCfr | BatchCfr, iterations: int) -> npt.NDArray[np.float64]:
    solver.advance(0)
    solver.advance(iterations)
    return solver.table


@pytest.mark.parametrize("most_entries_share", [0.0, 1.0], ids=["dense", "sparse"])
@pytest.mark.parametrize("sampler", FULL_WIDTH)
def test_passes_with_products_equal_the_walk(
    sampler: str, most_entries_share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On limit hold'em with 81 sequences: the same table, regrets and sums, and the same count of nodes."""
    monkeypatch.setattr(sparse_product, "_MOST_ENTRIES_SHARE", most_entries_share)
    config = SolverConfig(sampler=sampler, threads=2)
    walk, passes = VectorCfr(limit_game(), config), BatchCfr(limit_game(), config, np.float64)
    # Regrets that differ by rounding decide ties at random later on, so only a few iterations are compared.
    np.testing.assert_allclose(run(passes, 3), run(walk, 3), rtol=1e-9, atol=1e-9)
    assert passes.nodes == walk.nodes > 0


@pytest.mark.parametrize("most_entries_share, threads", [(0.3, 2), (1.0, 1), (1.0, 2)])
@pytest.mark.parametrize("is_transposed", [False, True])
@pytest.mark.parametrize("depth, width", [(1, 3), (81, 81), (DEPTH, WIDTH), (2 * DEPTH + 7, WIDTH + 1), (700, 900)])
def test_products_by_entries_equal_blas(
    depth: int,
    width: int,
    is_transposed: bool,
    most_entries_share: float,
    threads: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rows with nothing, with one entry, with some and with all; either way for each, or all by entries."""
    monkeypatch.setattr(sparse_product, "_MOST_ENTRIES_SHARE", most_entries_share)
    rng = np.random.default_rng(depth + width)
    reach = rng.random((40, depth))
    reach *= rng.random((40, depth)) < rng.choice([0.0, 1.5 / depth, 0.1, 1.0], size=(40, 1))
    matrix = rng.normal(size=(width, depth)).T if is_transposed else rng.normal(size=(depth, width))
    rows = rng.integers(0, 40, size=100)
    out = np.full((100, width), np.nan)
    with ThreadPoolExecutor(threads) as pool:
        sparse_product.multiply(reach, rows, matrix, out, pool, threads)
    np.testing.assert_allclose(out, reach[rows] @ matrix, rtol=1e-12, atol=1e-12)


def average_policy(game: AbstractGame, table: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    policy = np.empty(game.num_entries)
    normalise_sums(game.tree.nodes, game.deals.num_buckets, table, policy)
    return policy


def test_best_responses_by_passes_equal_those_by_walks():
    game = limit_game()
    policy = average_policy(game, run(VectorCfr(game, SolverConfig(sampler="cfr+")), 2))
    passes, walk = _BatchResponder(game).respond_both(policy), _WalkResponder(game).respond_both(policy)
    assert np.array(passes) == pytest.approx(np.array(walk), rel=1e-10)


def test_best_responses_in_single_precision(monkeypatch):
    """As games beyond 1,296 sequences are evaluated: the same to a hundredth of a millibet."""
    game = limit_game()
    policy = average_policy(game, run(VectorCfr(game, SolverConfig(sampler="cfr+")), 20))
    monkeypatch.setattr(sequence_matrices, "_MOST_DOUBLE_SEQUENCES", 0)
    single_matrices = SequenceMatrices(counted().packed, SIZES, len(ROWS))
    single_game = make_abstract_game("limit-3", game.tree, MatrixSource(single_matrices), game.unit_chips)
    assert single_matrices.fold_matrices[-1].dtype == single_matrices.settle_matrices[-1][0].dtype == np.float32
    single, double = (
        ExactResponse(own).exploitability(policy.astype(np.float32)) for own in (single_game, limit_game())
    )
    assert single.exploitability_mbb != double.exploitability_mbb
    assert single.exploitability_mbb == pytest.approx(double.exploitability_mbb, abs=0.01)


@pytest.mark.parametrize("sampler", ["cfr+", "dcfr+"])
def test_single_precision_solves_as_well_as_double(sampler):
    """After forty iterations the exploitability they reach differs by less than a thousandth of it."""
    game = limit_game()
    response = ExactResponse(game)
    reached = []
    for dtype in (np.float32, np.float64):
        table = run(BatchCfr(game, SolverConfig(sampler=sampler, threads=2), dtype), 40)
        assert table.dtype == dtype
        reached.append(response.exploitability(average_policy(game, table)))
    single, double = (answer.exploitability_mbb for answer in reached)
    assert single == pytest.approx(double, rel=1e-3)
    uniform = response.exploitability(average_policy(game, np.zeros(2 * game.num_entries))).exploitability_mbb
    assert 0.0 < double < uniform / 10.0
    assert reached[0].boards_counted == len(ROWS)


def test_resumed_passes_equal_unbroken_ones(tmp_path):
    """The table goes through a checkpoint in its own precision."""
    whole, broken, resumed = (BatchCfr(limit_game(), SolverConfig(sampler="dcfr+", threads=2)) for _ in range(3))
    whole.advance(4)
    broken.advance(2)
    save_checkpoint(tmp_path, broken, {}, "made up", 1.0, [])
    load_checkpoint(tmp_path, resumed, {}, "made up")
    resumed.advance(2)
    assert resumed.table.dtype == np.float32 and resumed.iteration == whole.iteration == 4
    assert np.array_equal(resumed.table, whole.table)


def constant_policy(game: AbstractGame, code: int, otherwise: int) -> npt.NDArray[np.float64]:
    """Always the action of `code`, or the other one where it is not legal."""
    policy = np.zeros(game.num_entries)
    nodes = game.tree.nodes
    for at in np.flatnonzero(nodes["kind"] == DECISION).tolist():
        node = nodes[at]
        count = int(node["num_children"])
        codes = game.tree.action[node["first_child"] : node["first_child"] + count].tolist()
        chosen = codes.index(code) if code in codes else codes.index(otherwise)
        rows = int(game.deals.num_buckets[node["street"], node["player"]])
        policy[node["base"] + chosen + count * np.arange(rows)] = 1.0
    return policy


def test_always_fold_loses_the_blinds():
    """750 mb/h, half a small bet and a whole one in turn: Zinkevich et al. (NIPS 2007), section 5."""
    answer = ExactResponse(limit_game()).exploitability(constant_policy(limit_game(), FOLD_CODE, CALL_CODE))
    assert answer.exploitability_mbb == pytest.approx(750.0, abs=1e-9)
    assert answer.best_response_mbb == pytest.approx((500.0, 1000.0), abs=1e-9)


def test_best_response_to_always_call_bets_whenever_it_is_ahead():
    """Against a caller each street is a decision of its own: one bet more, of 1, 1, 2, 2 small bets, where it pays."""
    game = limit_game()
    answer = ExactResponse(game).exploitability(constant_policy(game, CALL_CODE, CALL_CODE))
    ahead = [np.maximum(matrices[0].sum(axis=1), 0.0).sum() for matrices in counted().settle_matrices]
    expected = 1000.0 * sum(size * share for size, share in zip((1, 1, 2, 2), ahead))
    assert answer.best_response_mbb == pytest.approx((expected, expected), rel=1e-9)
    assert answer.value_mbb == pytest.approx(0.0, abs=1e-9)


def test_chance_sampling_in_pieces_equals_one_walk():
    """Meeting after every deal, two threads update what one does."""
    game = small_game("leduc")
    tables = []
    for threads in (1, 2):
        solver = ChanceInPieces(game, SolverConfig(sampler="chance", threads=threads, pieces=True, seed=5), 1)
        solver.advance(0)
        solver.advance(300)
        tables.append(solver.table)
        assert solver.nodes > 0
    np.testing.assert_allclose(tables[1], tables[0], rtol=1e-9, atol=1e-12)


def is_piece(history: History) -> bool:
    return history.street > 0


def reach_of_pieces(history: History, regrets: Table, reach: tuple[float, float], out: dict[int, tuple[float, float]]):
    """Both players' reach of every piece below, by its node."""
    if is_piece(history):
        out[history.infoset[0]] = reach
    elif history.player >= 0:
        for p, child in zip(matched(regrets[history.infoset]), history.children):
            below = (reach[0] * p, reach[1]) if history.player == 0 else (reach[0], reach[1] * p)
            reach_of_pieces(child, regrets, below, out)


def update_plainly(
    history: History, regrets: Table, sums: Table, reach: tuple[float, float], known: dict[int, float]
) -> float:
    """Chance sampling of one deal (Zinkevich et al. 2007, A.4) down to nodes whose value is known; returns player 0's."""
    if history.infoset[0] in known:
        return known[history.infoset[0]]
    if history.player < 0:
        return history.payoff
    player, infoset = history.player, history.infoset
    row = matched(regrets[infoset])
    values = []
    for p, child in zip(row, history.children):
        below = (reach[0] * p, reach[1]) if player == 0 else (reach[0], reach[1] * p)
        values.append(update_plainly(child, regrets, sums, below, known))
    mean = sum(p * v for p, v in zip(row, values))
    for a, value in enumerate(values):
        regrets[infoset][a] += reach[1 - player] * (value - mean) * (1 if player == 0 else -1)
        sums[infoset][a] += reach[player] * row[a]
    return mean


def test_pieces_that_meet_rarely_see_old_reaches_of_the_first_street_and_nothing_else_old():
    """Blocks of 32 deals by two threads, against a plain reading: reaches of a block's beginning, values of the deal."""
    game, block, count = small_game("leduc"), 32, 96
    config = SolverConfig(sampler="chance", threads=2, pieces=True, seed=5)
    solver, twin = ChanceInPieces(game, config, block), ChanceInPieces(game, config, block)
    solver.advance(count)
    naive, joint = naive_game(game), game.deals.joint
    roots = {(joint.buckets[c].tobytes(), int(joint.outcome_row[c])): root for c, (_, root) in enumerate(naive.deals)}
    regrets, sums = ({infoset: [0.0] * n for infoset, (_, n) in naive.infosets.items()} for _ in range(2))
    for _ in range(count // block):
        buckets, rows = np.zeros((block, 2, 2), np.int32), np.zeros(block, np.int32)
        game.deals.draw(twin.rng[0], buckets, rows)
        dealt = [roots[deal.tobytes(), int(row)] for deal, row in zip(buckets, rows)]
        reaches: list[dict[int, tuple[float, float]]] = [{} for _ in dealt]
        for root, reach in zip(dealt, reaches):
            reach_of_pieces(root, regrets, (1.0, 1.0), reach)
        values = [
            {at: update_plainly(piece, regrets, sums, reach[at], {}) for at, piece in pieces(root).items()}
            for root, reach in zip(dealt, reaches)
        ]
        for root, known in zip(dealt, values):
            update_plainly(root, regrets, sums, (1.0, 1.0), known)
    found_regrets, found_sums = read_table(game, naive, solver.table)
    for infoset in naive.infosets:
        assert found_regrets[infoset] == pytest.approx(regrets[infoset], abs=1e-9)
        assert found_sums[infoset] == pytest.approx(sums[infoset], abs=1e-9)


def pieces(history: History) -> dict[int, History]:
    """What follows each way through the first street, by its node."""
    if is_piece(history):
        return {history.infoset[0]: history}
    return {at: piece for child in history.children for at, piece in pieces(child).items()}


def test_pieces_are_for_chance_sampling():
    with pytest.raises(ValueError, match="only 'chance' divides"):
        SolverConfig(sampler="external", pieces=True)
    with pytest.raises(ValueError, match="cannot agree on pruning"):
        SolverConfig(sampler="chance", pieces=True, prune_below_chips=-10.0)
