"""Head and children together make full-width CFR's updates in the mean: by enumeration of every draw on a tiny game."""

import dataclasses
from itertools import permutations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from foldwise.abstraction.abstract_game import AbstractGame, JointSource, make_abstract_game
from foldwise.abstraction.deals.joint_deals import SHOWDOWN_OUTCOMES, JointDeals
from foldwise.game.definition import parse_definition
from foldwise.game.trees.tree import EVERY_SIZE, BetMenu, build_tree
from foldwise.game.trees.tree_kernels import DECISION
from foldwise.solver.distributed import child as child_module
from foldwise.solver.distributed import child_kernels, top_kernels
from foldwise.solver.distributed.batch import Batch, ChildAnswer, external_options
from foldwise.solver.distributed.child import ClusterChild
from foldwise.solver.distributed.head import weighted_values
from foldwise.solver.distributed.pieces import make_piece
from foldwise.solver.sampling import sampling_kernels
from foldwise.solver.sampling.frames import make_frames
from tests.oracles.naive_solver import Script, full_width_update, matched, naive_game, read_table, runs
from tests.support.clustered_cards import clustered_config

Table = np.ndarray


TINY = """GAMEDEF
limit
numPlayers = 2
numRounds = 2
blind = 1 1
raiseSize = 2 4
firstPlayer = 1 1
maxRaises = 1 1
numSuits = 2
numRanks = 2
numHoleCards = 1
numBoardCards = 0 1
END GAMEDEF
"""


def tiny_game() -> AbstractGame:
    """A deck of two ranks and two suits, one hole card, one board card; the board's rank is the public cluster."""
    definition = parse_definition(TINY, source="tiny")
    weight: dict[tuple[Any, ...], int] = {}
    for first, second, board in permutations(range(4), 3):
        one, two, public = first // 2, second // 2, board // 2
        row = 1 + (one == public) - (two == public)
        key = (one, 2 * public + one, two, 2 * public + two, row)
        weight[key] = weight.get(key, 0) + 1
    keys = sorted(weight)
    joint = JointDeals(
        buckets=np.array([[[k[0], k[1]], [k[2], k[3]]] for k in keys], dtype=np.int32),
        outcome_row=np.array([k[4] for k in keys], dtype=np.int32),
        probability=np.array([weight[k] / 24 for k in keys]),
        outcomes=SHOWDOWN_OUTCOMES,
    )
    tree = build_tree(definition, BetMenu.same_everywhere([EVERY_SIZE], 2))
    return make_abstract_game("tiny", tree, JointSource(joint), 1)


class TinyDeals:
    """Boards of one rank; `hands` holds one card a player, twice. Draws are choices of a script."""

    outcomes = SHOWDOWN_OUTCOMES
    mean_flops = 1.0  # two cards, of which a half is left on average
    share = 0.5

    def __init__(self, rank: int):
        self._rank = rank

    def _left(self, hand: Any) -> list[int]:
        return [card for card in (2 * self._rank, 2 * self._rank + 1) if card not in hand]

    def count(self, hands: Any) -> Any:
        return np.array([len(self._left(hand)) for hand in hands.tolist()])

    def draw(self, rng: Any, hands: Any, counts: Any, buckets: Any, outcome_rows: Any) -> None:
        for walk, hand in enumerate(hands.tolist()):
            if counts[walk]:
                rng.choose([1.0])  # suits are alike: one choice stands for all cards left
                ranks = hand[0] // 2, hand[2] // 2
                buckets[walk, :, 1] = ranks  # of the piece: one cluster, a bucket a rank
                outcome_rows[walk] = 1 + (ranks[0] == self._rank) - (ranks[1] == self._rank)


def as_objects(nodes: Any) -> list[SimpleNamespace]:
    """Nodes as interpreted kernels read them: numpy's records have an attribute `base` of their own."""
    return [SimpleNamespace(**dict(zip(nodes.dtype.names, node))) for node in nodes.tolist()]


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels' own source, run by Python, with the uniform draws replaced by choices of a script."""
    for module in (sampling_kernels, top_kernels, child_kernels):
        for name, value in vars(module).copy().items():
            if hasattr(value, "py_func"):
                monkeypatch.setattr(module, name, value.py_func)
        if hasattr(module, "next_uniform"):
            monkeypatch.setattr(module, "next_uniform", lambda script: script.uniform())
    monkeypatch.setattr(child_module, "run_continuations", child_kernels.run_continuations)


class ThreadsApart:
    """In place of a pool: every thread's walk reads the table as the batch found it; all changes are then added up."""

    def __init__(self, child: ClusterChild):
        self._child, self._start = child, child.table.copy()
        self._changes = np.zeros_like(child.table)

    def __call__(self, max_workers: int) -> "ThreadsApart":
        assert max_workers == len(self._child._workers)
        return self

    def __enter__(self) -> "ThreadsApart":
        return self

    def __exit__(self, *error: object) -> None:
        self._child.table[:] = self._start + self._changes

    def submit(self, work: Any, *arguments: Any) -> SimpleNamespace:
        self._child.table[:] = self._start
        result = work(*arguments)
        self._changes += self._child.table - self._start
        return SimpleNamespace(result=lambda: result)


@dataclasses.dataclass
class TinyRun:
    """Mean changes of the head's and the children's tables, spread over the whole game's rows."""

    game: AbstractGame
    table: Table
    weigh_by_flops: bool
    top_change: Table
    child_change: list[Table]

    @classmethod
    def of(cls, game: AbstractGame, table: Table, traverser: int, weigh_by_flops: bool, threads: int = 1) -> "TinyRun":
        config = clustered_config(distributed={"weigh_by_flops": weigh_by_flops}, threads=threads)
        rest = make_piece(game, [0, 2], (0, 1))
        whole_top = dataclasses.replace(make_piece(game, [2, 0], (0,)), nodes=game.tree.nodes)
        whole_rest = dataclasses.replace(rest, nodes=game.tree.nodes)
        top = make_piece(game, [2, 0], (0,))
        top_table = np.zeros(2 * top.num_entries)
        whole_top.copy_to(top, 2, table, top_table)
        pieces = [make_piece(game, [0, 2], (cluster,)) for cluster in range(2)]
        children = []
        starts = []
        for cluster, piece in enumerate(pieces):
            own = np.zeros(2 * piece.num_entries)
            whole_rest.copy_to(piece, 2, table, own)
            starts.append(own)
            interpreted_piece = dataclasses.replace(piece, nodes=as_objects(piece.nodes))
            children.append(ClusterChild(game, interpreted_piece, TinyDeals(cluster), config, cluster))
        top_change = np.zeros_like(top_table)
        changes = [np.zeros_like(own) for own in starts]
        options, frames, nodes = external_options(config.solver, 1.0), make_frames(game), as_objects(top.nodes)
        for cards in ((0, 1), (0, 2), (2, 0), (2, 3)):
            chance = 1 / 6 if cards[0] // 2 == cards[1] // 2 else 1 / 3
            buckets = np.array([[cards[0] // 2], [cards[1] // 2]])

            def walk(script: Script, values: Table, target: Table, buckets: Any = buckets) -> Any:
                reached = np.zeros(20, dtype=np.int32)
                _, count = top_kernels.walk_top(
                    nodes,
                    top_table,
                    target,
                    buckets,
                    traverser,
                    1,
                    False,
                    options,
                    frames,
                    script,
                    values,
                    reached,
                    0,
                )
                return reached[:count]

            seen: list[Any] = []
            for script in runs(lambda script, seen=seen: seen.append(walk(script, np.zeros(20), top_table.copy()))):
                reached = seen[-1]
                weight = chance * script.probability
                # A walk of the other traverser without continuations stands before or behind.
                first = np.array([0, *([len(reached), len(reached)] if traverser == 0 else [0, len(reached)])])
                hand = [cards[0], cards[0], cards[1], cards[1]]
                batch = Batch(np.array([hand, hand], dtype=np.uint8), first, reached, np.zeros(2, dtype=bool), 1.0)
                answers = []
                for child, start, change in zip(children, starts, changes):
                    mean = np.zeros(len(reached))
                    found: list[ChildAnswer] = []

                    def answer(
                        script: Script, child: Any = child, start: Any = start, found: Any = found, batch: Any = batch
                    ) -> None:
                        child.table[:] = start
                        for worker in child._workers:
                            worker.deal_rng = worker.walk_rng = script
                        with pytest.MonkeyPatch.context() as patch:
                            patch.setattr(child_module, "ThreadPoolExecutor", ThreadsApart(child))
                            found.append(child.walk(batch))

                    for choices in runs(answer):
                        mean += choices.probability * found[-1].values
                        change += weight * choices.probability * (child.table - start)
                    answers.append(ChildAnswer(mean, found[-1].flops, 0, 0.0))
                # The second pass is linear in the children's values, which are drawn apart: means give the mean.
                after = top_table.copy()
                again = walk(Script([chosen for chosen, _ in script.choices]), weighted_values(batch, answers), after)
                assert np.array_equal(again, reached)
                top_change += weight * (after - top_table)
        spread = np.zeros_like(table)
        top.copy_to(whole_top, 2, top_change, spread)
        spread_children = []
        for piece, change in zip(pieces, changes):
            spread_children.append(np.zeros_like(table))
            piece.copy_to(whole_rest, 2, change, spread_children[-1])
        return cls(game, table, weigh_by_flops, spread, spread_children)


def random_tiny_table(game: AbstractGame, seed: int) -> Table:
    rng = np.random.default_rng(seed)
    table = rng.normal(size=2 * game.num_entries)
    for at in np.flatnonzero(game.tree.nodes["kind"] == DECISION):  # sums are none of the walks' business
        node = game.tree.nodes[at]
        for bucket in range(game.deals.num_buckets[node["street"], node["player"]]):
            row = 2 * (int(node["base"]) + bucket * int(node["num_children"]))
            table[row + int(node["num_children"]) : row + 2 * int(node["num_children"])] = 0.0
    return table


def wanted_change(game: AbstractGame, table: Table, traverser: int) -> Table:
    """The full-width update by textbook recursion: regrets of the traverser, sums of the other."""
    naive = naive_game(game)
    regrets, _ = read_table(game, naive, table)
    sigma = {infoset: matched(row) for infoset, row in regrets.items()}
    out = np.zeros_like(table)
    for player in range(2):
        wanted_regrets, wanted_sums = full_width_update(naive, sigma, player)
        for (at, bucket), row in (wanted_regrets if player == traverser else wanted_sums).items():
            node = game.tree.nodes[at]
            start = 2 * (int(node["base"]) + bucket * int(node["num_children"]))
            start += 0 if player == traverser else int(node["num_children"])
            if int(node["player"]) == player:
                out[start : start + len(row)] = row
    return out


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("traverser", [0, 1])
def test_expected_updates_are_the_full_width_ones(traverser: int) -> None:
    """Every hand, every draw of head and children: the head's mean update is CFR's, a child's is CFR's times F / mean F_n.

    Here F = 2 boards are left to both children and mean F_n = 1. Without the factor the children are biased: no
    constant turns their updates into CFR's.
    """
    game = tiny_game()
    table = random_tiny_table(game, 1)
    wanted = wanted_change(game, table, traverser)
    with_factor = TinyRun.of(game, table, traverser, weigh_by_flops=True)
    without = TinyRun.of(game, table, traverser, weigh_by_flops=False)
    assert np.abs(with_factor.top_change).max() > 0.1
    total = with_factor.top_change + sum(with_factor.child_change) / 2.0
    assert total == pytest.approx(wanted, abs=1e-12)
    assert without.top_change == pytest.approx(with_factor.top_change, abs=1e-12)
    for right, wrong in zip(with_factor.child_change, without.child_change):
        scale = (right @ wrong) / (wrong @ wrong)
        assert np.abs(right - scale * wrong).max() > 0.05


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("traverser", [0, 1])
def test_two_threads_a_child_are_two_draws_of_one(traverser: int) -> None:
    """Values are the threads' mean, so the head learns as from one; what children learn is the sum, twice CFR's."""
    game = tiny_game()
    table = random_tiny_table(game, 1)
    found = TinyRun.of(game, table, traverser, weigh_by_flops=True, threads=2)
    total = found.top_change + sum(found.child_change) / 4.0
    assert total == pytest.approx(wanted_change(game, table, traverser), abs=1e-12)
    config = clustered_config(threads=2)
    piece = make_piece(game, [0, 2], (0,))
    child = ClusterChild(game, piece, TinyDeals(0), config, 0)
    assert child.scale == 2 / TinyDeals.share  # what its regrets are divided by
