"""Best responses with real cards: against dense matrices over every board of a class, and above what policies win."""

import time
from dataclasses import replace
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foldwise.abstraction.bet_sizes import make_menu
from foldwise.abstraction.cards.boards import boards
from foldwise.abstraction.cards.card_abstraction import CardAbstraction, StreetAbstraction
from foldwise.agent.following.tracker import make_seat
from foldwise.agent.strategy_player import StrategyPlayer
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.game.hands.dealing import Shoe
from foldwise.game.hands.evaluator import rank_pairs
from foldwise.game.hands.hand_index import hand_index
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS
from foldwise.game.trees.tree import Tree, build_tree
from foldwise.game.trees.tree_kernels import CHANCE, DECISION, FOLDED
from foldwise.matches.scoring.local_best_response import LbrSettings, LocalBestResponse
from foldwise.postprocess.language import parse_pipeline
from foldwise.solver.response import real_response
from foldwise.solver.response.real_response import NUM_FLOPS, RealResponse, ResponseProgress
from tests.support.made_strategies import short_hunl

NUM_BUCKETS = 3


def made_cards(num_streets: int = 3) -> CardAbstraction:
    """Few buckets that depend on a hand's class alone, for the flop and the turn; nothing to do with strength."""
    streets = [StreetAbstraction("lossless", 169, (2,))]
    for shape in ((2, 3), (2, 4))[: num_streets - 1]:
        table = (np.arange(hand_index(shape).size) // 7 % NUM_BUCKETS).astype(np.uint16)
        streets.append(StreetAbstraction("table", NUM_BUCKETS, shape, table=table))
    return CardAbstraction(streets, {"made": "for tests"})


def ends_early(num_streets: int) -> GameDefinition:
    """No-limit hold'em that ends with the flop or the turn."""
    whole = short_hunl(1000)
    return replace(
        whole,
        num_rounds=num_streets,
        first_players=whole.first_players[:num_streets],
        max_raises=whole.max_raises[:num_streets],
        num_board_cards=whole.num_board_cards[:num_streets],
    )


def made_game(seed: int, num_streets: int = 3) -> tuple[Tree, np.ndarray]:
    """A tree with rows, an all-in before the flop among them, and a random policy in which some actions never happen."""
    texts = ["f c a | f c", "f c 1p | f c", "f c 2p | f c"][:num_streets]
    tree = build_tree(ends_early(num_streets), make_menu(texts, texts, 1.0))
    nodes = tree.nodes.copy()
    buckets = (169, NUM_BUCKETS, NUM_BUCKETS)
    rng = np.random.default_rng(seed)
    policy: list[float] = []
    for node in np.flatnonzero(nodes["kind"] == DECISION):
        nodes["base"][node] = len(policy)
        count = int(nodes["num_children"][node])
        for _ in range(buckets[nodes["street"][node]]):
            row = rng.exponential(size=count) * (rng.random(count) < 0.8)
            row[rng.integers(count)] += 0.1
            policy += (row / row.sum()).tolist()
    return tree._replace(nodes=nodes), np.array(policy)


class DenseResponse:
    """The same by matrices of hands against hands, over every single board; for some hands of the responder's."""

    def __init__(self, tree: Tree, cards: CardAbstraction, policy: np.ndarray, player: int, own: np.ndarray):
        self.tree, self.cards, self.policy, self.player, self.own = tree, cards, policy, player, own
        self.best = True
        self.disjoint = (
            (PAIR_CARDS[own][:, None, :, None] != PAIR_CARDS[None, :, None, :]).all(axis=(2, 3)).astype(float)
        )
        self.kept: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray, np.ndarray]] = {}

    def board(self, board: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Which hands are possible, their buckets, and on a full board who beats whom."""
        if board not in self.kept:
            free = ~np.isin(PAIR_CARDS, board).any(axis=1)
            hands = np.concatenate([PAIR_CARDS[free], np.tile(np.array(board, np.uint8), (free.sum(), 1))], axis=1)
            buckets = np.zeros(NUM_PAIRS, np.int64)
            buckets[free] = self.cards.bucket_hands(max(len(board) - 2, 0), hands)
            ranks = rank_pairs(board).astype(np.int64) if len(board) == 4 else np.zeros(NUM_PAIRS, np.int64)
            beats = np.sign(ranks[self.own, None] - ranks[None, :]) * self.disjoint
            self.kept[board] = free, buckets, beats
        return self.kept[board]

    def value(self, node: int, board: tuple[int, ...], reach: np.ndarray, flops: list[tuple[int, ...]]) -> np.ndarray:
        record = self.tree.nodes[node]
        kind, first = int(record["kind"]), int(record["first_child"])
        free, buckets, beats = self.board(board)
        reach = reach * free
        if kind == DECISION:
            count = int(record["num_children"])
            rows = self.policy[int(record["base"]) + buckets[:, None] * count + np.arange(count)]
            own = int(record["player"]) == self.player
            values = [self.value(first + a, board, reach if own else reach * rows[:, a], flops) for a in range(count)]
            if not own:
                return np.sum(values, axis=0)
            if self.best:
                return np.max(values, axis=0)
            return np.sum([value * rows[self.own, a] for a, value in enumerate(values)], axis=0)
        if kind == FOLDED:
            sign = 1.0 if int(record["player"]) != self.player else -1.0
            return sign * float(record["value"]) * (self.disjoint @ reach) * free[self.own]
        if len(board) == 4:
            return float(record["value"]) * (beats @ reach) * free[self.own]
        child = first if kind == CHANCE else node  # a showdown waits for the rest of the board
        if not board:
            scale = comb(52, 3) / comb(48, 3) / len(flops)
            return scale * np.sum([self.value(child, flop, reach, flops) for flop in flops], axis=0)
        left = [card for card in range(52) if card not in board]
        return np.sum([self.value(child, (*board, card), reach, flops) for card in left], axis=0) / 45


def class_of_flop(row: int) -> list[tuple[int, ...]]:
    found = boards(3)
    return [flop for number, flop in enumerate(combinations_by_number(3)) if found.places[number] >> 5 == row]


def combinations_by_number(size: int) -> list[tuple[int, ...]]:
    """All sets in the order of their combination numbers."""
    return sorted(combinations(range(52), size), key=lambda cards: cards[::-1])


@pytest.mark.parametrize("player", [0, 1])
def test_values_agree_with_dense_matrices_over_all_boards_of_a_class(player: int) -> None:
    """Three of a kind on the flop: four boards in the class, and six relabellings that keep each of them."""
    tree, policy = made_game(seed=player)
    cards = made_cards()
    response = RealResponse(tree, cards, policy, 3)
    row = int(np.flatnonzero(boards(3).orbits == 4)[0])
    flops = class_of_flop(row)
    assert len(flops) == 4
    own = np.random.default_rng(0).choice(NUM_PAIRS, 20, replace=False)
    dense = DenseResponse(tree, cards, policy, player, own)
    for dense.best in (True, False):
        values = response.flop_values(row, player, dense.best)[None]
        found = response.hand_values(values, np.array([row]), player, dense.best)[own]
        expected = dense.value(0, (), np.ones(NUM_PAIRS), flops) / comb(50, 2)
        assert np.abs(expected).max() > 10.0
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_best_response_wins_no_less_than_the_policy_itself() -> None:
    tree, policy = made_game(seed=5)
    response = RealResponse(tree, made_cards(), policy, 3)
    rows = np.array([3, 700])
    for player in range(2):
        results = []
        for best in (True, False):
            values = np.array([response.flop_values(int(row), player, best) for row in rows])
            results.append(response.hand_values(values, rows, player, best).mean())
        assert results[0] > results[1] + 1.0


def test_a_run_that_is_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    tree, policy = made_game(seed=6)
    response = RealResponse(tree, made_cards(), policy, 3)
    heard: list[ResponseProgress] = []
    response.run("policy a", 1, heard.append, tmp_path / "run", flops=2)
    assert [progress.done for progress in heard] == [1, 2, 3, 4]
    assert heard[-1].total == 2 * NUM_FLOPS
    heard.clear()
    response.run("policy a", 2, heard.append, tmp_path / "run", resume=True, flops=3)
    assert [progress.done for progress in heard] == [5, 6]
    with pytest.raises(DefinitionError, match="--resume"):
        response.run("policy a", 1, heard.append, tmp_path / "run", flops=3)
    with pytest.raises(FormatError, match="policy b"):
        response.run("policy b", 1, heard.append, tmp_path / "run", resume=True, flops=3)


def test_seconds_are_saved_on_the_way_and_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved: list[float] = []
    save = RealResponse._save

    def note_seconds(self: RealResponse, *rest: Any) -> None:
        saved.append(rest[-1])
        save(self, *rest)

    monkeypatch.setattr(RealResponse, "_save", note_seconds)
    monkeypatch.setattr(real_response, "_SAVE_SECONDS", -1.0)  # after every flop
    tree, policy = made_game(seed=6)
    response = RealResponse(tree, made_cards(), policy, 3)
    elapsed = 0.0
    for flops, resume in ((1, False), (2, True)):
        num_before, begun = len(saved), time.monotonic()
        response.run("policy a", 1, lambda _: None, tmp_path / "run", resume=resume, flops=flops)
        elapsed += time.monotonic() - begun
        assert len(saved) >= num_before + 2  # on the way, for each player's flop, and where a player is done
        assert saved[num_before] > 0.0 and saved == sorted(saved) and saved[-1] <= elapsed


def test_local_best_response_with_the_same_actions_stays_below() -> None:
    """All flops of a game that ends there, so that the response is exact: above what is sampled, less its noise."""
    tree, policy = made_game(seed=8, num_streets=2)
    definition, cards = ends_early(2), made_cards(2)
    response = RealResponse(tree, cards, policy, 2)
    player = StrategyPlayer(make_seat(tree, policy, definition, parse_pipeline("none"), 1), definition, cards)
    local = LocalBestResponse(player, LbrSettings("tree", 0, samples=100))
    values = local.values(Shoe(definition, 4).cards(1500), threads=2)
    everything = np.arange(NUM_FLOPS)
    for position in range(2):
        own, best = (
            response.hand_values(
                np.array([response.flop_values(flop, position, choosing) for flop in everything]),
                everything,
                position,
                choosing,
            ).mean()
            for choosing in (False, True)
        )
        mean = values[:, position].mean()
        error = values[:, position].std() / np.sqrt(len(values))
        assert own + 4 * error < mean < best + 4 * error  # random play loses much more than the noise


def test_cards_that_tell_suits_apart_are_refused() -> None:
    tree, policy = made_game(seed=7)
    cards = made_cards()
    streets = [StreetAbstraction("raw", 1326, (2,)), *cards.streets[1:]]
    with pytest.raises(DefinitionError, match="raw"):
        RealResponse(tree, CardAbstraction(streets, {}), policy, 3)


def test_a_tree_too_large_for_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rows of all 1,326 hands a node, in double precision."""
    tree, policy = made_game(seed=7)
    needed = 2 * 1326 * 8 * len(tree.nodes)
    monkeypatch.setattr("foldwise.solver.response.real_response._MOST_BYTES", needed)
    RealResponse(tree, made_cards(), policy, 3)
    monkeypatch.setattr("foldwise.solver.response.real_response._MOST_BYTES", needed - 1)
    with pytest.raises(DefinitionError, match=f"{len(tree.nodes):,} nodes needs .* use lbr"):
        RealResponse(tree, made_cards(), policy, 3)


def test_from_one_flop_on_best_responses_win_and_the_policy_itself_nothing() -> None:
    """Rows against rows are worth nothing to both together; who may also choose before the flop wins more."""
    tree, policy = made_game(seed=5)
    response = RealResponse(tree, made_cards(), policy, 3)
    flop = 1000
    assert response.flop_exploitability(flop, best=False) == pytest.approx(0.0, abs=1e-9)
    whole = [
        response.hand_values(response.flop_values(flop, player)[None], np.array([flop]), player).mean()
        for player in range(2)
    ]
    assert 1.0 < response.flop_exploitability(flop) < sum(whole) / 2
