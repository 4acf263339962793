"""Sampling walks: unbiased by enumeration of all their choices, equal to textbook recursion draw by draw, options."""

from math import inf
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.game.primitives.rng import make_state
from foldwise.game.primitives.rng_kernels import next_uniform
from foldwise.game.trees.tree_kernels import CHANCE, DECISION, FOLDED, SHOWDOWN
from foldwise.solver.regret_kernels import draw_action
from foldwise.solver.sampling import chance_kernels, sampling_kernels
from foldwise.solver.sampling.block_kernels import run_average, run_chance, run_external, run_outcome
from foldwise.solver.sampling.chance_kernels import walk_chance, walk_chance_from
from foldwise.solver.sampling.frames import make_frames, make_reached, reached_bytes
from foldwise.solver.sampling.sampling_kernels import (
    WalkOptions,
    walk_average,
    walk_external,
    walk_outcome,
)
from tests.oracles.naive_solver import (
    NaiveSampler,
    Script,
    Table,
    full_width_update,
    matched,
    mean_change,
    naive_game,
    random_table,
    read_table,
    small_game,
)

PLAIN = WalkOptions(epsilon=0.5, tau=1000.0)
SAMPLERS = ("chance", "external", "outcome", "average")
Array = npt.NDArray[np.float64]


def walk(
    sampler: str,
    game: AbstractGame,
    table: npt.NDArray[Any],
    category: int,
    traverser: int,
    options: WalkOptions,
    rng: npt.NDArray[np.uint64] | Script,
) -> int:
    """One walk for one category of the deal; by a script inside `interpreted`."""
    joint = game.deals.joint
    assert joint is not None
    deal, outcomes = joint.buckets[category], joint.outcomes[joint.outcome_row[category]]
    nodes: Any = game.tree.nodes
    if isinstance(rng, Script):  # numpy's records have an attribute `base` of their own
        nodes = [SimpleNamespace(**dict(zip(nodes.dtype.names, node))) for node in nodes.tolist()]
    frames, last_street = make_frames(game), game.num_streets - 1
    if sampler == "chance":
        reached = make_reached(game)
        return int(chance_kernels.walk_chance(nodes, table, deal, outcomes, last_street, options, reached, rng))
    kernel = getattr(sampling_kernels, f"walk_{sampler}")
    if sampler == "outcome":
        return int(kernel(nodes, table, deal, outcomes, traverser, options, frames, rng))
    return int(kernel(nodes, table, deal, outcomes, traverser, last_street, options, frames, rng))


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels' own source, run by Python, with the uniform draws replaced by choices of a script."""
    for module in (sampling_kernels, chance_kernels):
        for name, value in vars(module).copy().items():
            if hasattr(value, "py_func"):
                monkeypatch.setattr(module, name, value.py_func)
    monkeypatch.setattr(sampling_kernels, "next_uniform", lambda script: script.uniform())


def expected_change(
    sampler: str, game: AbstractGame, table: Array, traverser: int, options: WalkOptions
) -> tuple[Array, int]:
    """The mean change of the table over every deal and every choice, by their probabilities; and how many runs."""
    joint = game.deals.joint
    assert joint is not None

    def walk_on(category: int, after: Array, script: Script) -> None:
        walk(sampler, game, after, category, traverser, options, script)

    return mean_change(table, joint.probability, walk_on)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    "sampler, options, least_runs",
    [
        ("chance", PLAIN, 6),
        ("external", PLAIN, 12),
        ("external", PLAIN._replace(sum_weight=3.0), 12),
        ("outcome", PLAIN, 40),
        ("average", PLAIN._replace(epsilon=0.3, tau=0.6, sum_weight=64.0), 40),
        ("outcome", PLAIN._replace(epsilon=1.0), 20),
        ("average", PLAIN._replace(epsilon=0.05, tau=1.0), 40),
        ("average", PLAIN._replace(epsilon=0.3, tau=0.6, beta=0.5, sum_scale=2.0), 40),
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_expected_updates_are_the_full_width_ones(
    sampler: str, options: WalkOptions, least_runs: int, seed: int
) -> None:
    """Regrets of the traverser as in CFR; sums of the opponent by his reach (chance sampling: both players' both)."""
    game = small_game("kuhn")
    naive = naive_game(game)
    table = random_table(game, seed)
    regrets, _ = read_table(game, naive, table)
    sigma = {infoset: matched(row) for infoset, row in regrets.items()}
    for traverser in range(2):
        change, num_runs = expected_change(sampler, game, table, traverser, options)
        assert num_runs >= least_runs
        changed_regrets, changed_sums = read_table(game, naive, change)
        for player in range(2):
            wanted_regrets, wanted_sums = full_width_update(naive, sigma, player)
            for infoset in wanted_regrets:
                zeros = [0.0] * len(sigma[infoset])
                both = sampler == "chance"
                regret = wanted_regrets[infoset] if both or player == traverser else zeros
                total = wanted_sums[infoset] if both or player != traverser else zeros
                total = [options.sum_weight * value for value in total]
                assert changed_regrets[infoset] == pytest.approx(regret, abs=1e-12)
                assert changed_sums[infoset] == pytest.approx(total, abs=1e-12)


@pytest.mark.usefixtures("interpreted")
def test_enumeration_notices_a_wrong_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    """The proof can fail: where draws have other probabilities than those divided by, the means move."""
    game = small_game("kuhn")
    table = random_table(game, 0)
    for sampler in ("external", "outcome", "average"):
        options = PLAIN._replace(epsilon=0.3, tau=0.6)
        monkeypatch.setattr(sampling_kernels, "next_uniform", lambda script: script.uniform())
        right, _ = expected_change(sampler, game, table, 0, options)
        monkeypatch.setattr(sampling_kernels, "next_uniform", lambda script: script.uniform(low=0.1))
        wrong, _ = expected_change(sampler, game, table, 0, options)
        assert np.abs(right - wrong).max() > 0.01


def assert_tables_equal(ours: Table, theirs: Table) -> None:
    for infoset, row in theirs.items():
        assert ours[infoset] == pytest.approx(row, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name, num_iterations", [("kuhn", 300), ("leduc", 120)])
@pytest.mark.parametrize(
    "sampler, options",
    [
        ("chance", PLAIN),
        ("external", PLAIN),
        ("outcome", PLAIN),
        ("average", PLAIN._replace(epsilon=0.05, tau=2.0, beta=3.0)),
    ],
)
def test_walks_and_counters_equal_textbook_recursion(
    name: str, num_iterations: int, sampler: str, options: WalkOptions
) -> None:
    """The same draws in the same order: tables agree to rounding, node counts exactly."""
    game = small_game(name)
    naive = naive_game(game)
    table = np.zeros(2 * game.num_entries)
    regrets, sums = read_table(game, naive, table)
    ours, theirs = make_state(7), make_state(7)
    oracle = NaiveSampler(
        regrets, sums, lambda: float(next_uniform(theirs)), options.epsilon, options.tau, options.beta
    )
    visited = 0
    categories = np.random.default_rng(2).integers(len(naive.deals), size=num_iterations)
    for i, category in enumerate(categories):
        traverser = i & 1
        visited += walk(sampler, game, table, int(category), traverser, options, ours)
        root = naive.deals[category][1]
        if sampler == "chance":
            oracle.chance(root)
        else:
            getattr(oracle, sampler)(root, traverser)
    assert visited == oracle.num_visited
    assert np.array_equal(ours, theirs)
    kernel_regrets, kernel_sums = read_table(game, naive, table)
    assert_tables_equal(kernel_regrets, regrets)
    assert_tables_equal(kernel_sums, sums)


def run_blocks(
    sampler: str, game: AbstractGame, table: npt.NDArray[Any], num_walks: int, options: WalkOptions, seed: int = 1
) -> int:
    run = {"chance": run_chance, "external": run_external, "outcome": run_outcome, "average": run_average}[sampler]
    rng = make_state(seed)
    buckets = np.zeros((num_walks, 2, game.num_streets), dtype=np.int32)
    rows = np.zeros(num_walks, dtype=np.int32)
    game.deals.draw(rng, buckets, rows)
    nodes, last_street = game.tree.nodes, game.num_streets - 1
    scratch = make_reached(game) if sampler == "chance" else make_frames(game)
    return int(run(nodes, table, buckets, rows, game.deals.outcomes, last_street, options, scratch, rng))


@pytest.mark.parametrize("sampler", ["external", "outcome", "average"])
def test_traversers_alternate(sampler: str) -> None:
    """The first walk of a block changes regrets of player 0 and sums of player 1 alone; with the second, all four."""
    game = small_game("leduc")
    naive = naive_game(game)
    for num_walks, wanted in (
        (1, {("regret", 0), ("sum", 1)}),
        (40, {(k, p) for k in ("regret", "sum") for p in (0, 1)}),
    ):
        table = np.zeros(2 * game.num_entries)
        run_blocks(sampler, game, table, num_walks, PLAIN)
        changed = set()
        for kind, rows in zip(("regret", "sum"), read_table(game, naive, table)):
            changed |= {(kind, naive.infosets[infoset][0]) for infoset, row in rows.items() if any(row)}
        assert changed == wanted


@pytest.mark.parametrize("name", ["kuhn", "leduc", "bluff-1-1"])
def test_deals_are_drawn_by_their_probabilities(name: str) -> None:
    """The alias table holds the joint distribution exactly; streets and outcome are drawn together."""
    game = small_game(name)
    joint = game.deals.joint
    assert joint is not None
    keep, other = joint.alias
    drawn = keep.copy()
    np.add.at(drawn, other, 1.0 - keep)
    assert drawn / len(keep) == pytest.approx(joint.probability, abs=1e-15)
    assert joint.probability.sum() == pytest.approx(1.0, abs=1e-12)

    num_deals = 40_000
    buckets = np.zeros((num_deals, 2, game.num_streets), dtype=np.int32)
    rows = np.zeros(num_deals, dtype=np.int32)
    game.deals.draw(make_state(3), buckets, rows)
    known = {(*b.ravel(), r): c for c, (b, r) in enumerate(zip(joint.buckets, joint.outcome_row))}
    counts = np.bincount([known[*b.ravel(), r] for b, r in zip(buckets, rows)], minlength=len(known))
    deviation = (counts - num_deals * joint.probability) / np.sqrt(num_deals * joint.probability)
    assert np.abs(deviation).max() < 4.5  # of about 36 nearly normal variables: exceeded once in 4,000 seeds


@pytest.mark.parametrize("bonus", [{"epsilon": 1.0}, {"epsilon": 0.01, "tau": inf}, {"epsilon": 0.01, "beta": 1e300}])
def test_average_sampling_that_walks_everything_is_external_sampling(bonus: dict[str, float]) -> None:
    """Bit for bit, with the same draws. (tau: every action with a positive sum; so the sums start positive.)"""
    game = small_game("leduc")
    external = random_table(game, 4)
    average = external.copy()
    visited = run_blocks("external", game, external, 500, PLAIN)
    assert run_blocks("average", game, average, 500, PLAIN._replace(**bonus)) == visited
    assert np.array_equal(external, average)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_skipped_iterations_leave_the_average_alone(sampler: str) -> None:
    game = small_game("leduc")
    naive = naive_game(game)
    table = random_table(game, 3)
    before = read_table(game, naive, table)
    run_blocks(sampler, game, table, 200, PLAIN._replace(sum_weight=0.0, epsilon=0.2))
    after = read_table(game, naive, table)
    assert after[1] == before[1]
    assert after[0] != before[0]


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_regrets_stop_at_the_floor(sampler: str) -> None:
    game = small_game("leduc")
    naive = naive_game(game)
    lowest = []
    for floor in (-inf, -2.0):
        table = np.zeros(2 * game.num_entries)
        run_blocks(sampler, game, table, 2000, PLAIN._replace(regret_floor=floor))
        lowest.append(min(min(row) for row in read_table(game, naive, table)[0].values()))
    assert lowest[0] < -4.0
    assert lowest[1] == -2.0


@pytest.mark.parametrize("sampler", ["chance", "external", "average"])
def test_pruning_passes_over_hopeless_actions_alone(sampler: str) -> None:
    """Pruned actions have probability zero, so the values handed up are the same: every regret that is still updated
    changes as without pruning. On the last street nothing is pruned, so Kuhn does not change at all."""
    options = PLAIN._replace(epsilon=1.0, sum_weight=0.0)
    pruned = options._replace(prune_share=1.0, prune_below=-0.5)
    kuhn = small_game("kuhn")
    tables = [random_table(kuhn, 6) for _ in range(2)]
    visits = [walk(sampler, kuhn, t, 3, 1, o, make_state(1)) for t, o in zip(tables, (options, pruned))]
    assert visits[0] == visits[1] and np.array_equal(*tables)

    leduc = small_game("leduc")
    fewer = 0
    for category in range(24):
        # Pruning draws a number first; an opponent who never mixes makes the other draws matter no more.
        start = random_table(leduc, category)
        _make_pure(leduc, start, player=0 if sampler != "chance" else -1)
        tables = [start.copy() for _ in range(2)]
        visits = [walk(sampler, leduc, t, category, 1, o, make_state(1)) for t, o in zip(tables, (options, pruned))]
        fewer += visits[0] - visits[1]
        updated = tables[1] != start
        assert np.array_equal(tables[0][updated], tables[1][updated])
        assert np.array_equal(start[~updated], tables[1][~updated])
    assert fewer > 0


def _make_pure(game: AbstractGame, table: Array, player: int) -> None:
    """Give one player's infosets a single positive regret."""
    nodes = game.tree.nodes
    for at in np.flatnonzero((nodes["kind"] == DECISION) & (nodes["player"] == player)):
        n = int(nodes[at]["num_children"])
        for bucket in range(game.deals.num_buckets[nodes[at]["street"], player]):
            row = 2 * (int(nodes[at]["base"]) + bucket * n)
            table[row : row + n] = -1.0
            table[row + (bucket + at) % n] = 1.0


def test_a_share_of_walks_prunes() -> None:
    game = small_game("leduc")
    visits = []
    for share in (0.0, 0.5, 1.0):
        table = random_table(game, 6)
        options = PLAIN._replace(prune_share=share, prune_below=-0.5, regret_floor=-1.0)
        visits.append(run_blocks("external", game, table, 4000, options))
    assert visits[0] > visits[1] > visits[2]


def test_sampling_probabilities_follow_equation_two() -> None:
    """Gibson et al. 2012, eq. 2, by hand: beta 1, tau 10, sums 2 of 40."""
    options = PLAIN._replace(epsilon=0.05, tau=10.0, beta=1.0)
    probability = sampling_kernels.sampling_probability
    assert probability(2.0, 40.0, options) == pytest.approx(21.0 / 41.0)
    assert probability(20.0, 40.0, options) == 1.0
    assert probability(0.0, 40.0, options._replace(beta=0.0)) == 0.05
    assert probability(0.0, 0.0, options._replace(beta=0.0)) == 1.0
    assert probability(1.0, 20.0, options._replace(sum_scale=2.0)) == pytest.approx(21.0 / 41.0)


def test_an_action_of_probability_zero_is_never_drawn() -> None:
    sigma = np.array([0.0, 0.3, 0.0, 0.7, 0.0])
    drawn = [draw_action(sigma, 5, u) for u in (0.0, 0.29, 0.31, 0.9999999999999999)]
    assert drawn == [1, 1, 3, 3]
    assert draw_action(np.array([0.3, 0.3, 0.0]), 3, 0.99) == 1  # rounding left a gap at the top


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_tables_still_count_after_a_hundred_billion_visits(sampler: str) -> None:
    """float32 stops at 2^24: a table that already holds 1e11 must take in every walk's change to four digits."""
    game = small_game("leduc")
    empty = np.zeros(2 * game.num_entries)
    full = np.full(2 * game.num_entries, 1e11)
    options = PLAIN._replace(epsilon=1.0)
    run_blocks(sampler, game, empty, 1, options)
    run_blocks(sampler, game, full, 1, options)
    assert np.abs(empty).max() > 0.1
    assert full - 1e11 == pytest.approx(empty, abs=2e-5)


def test_importance_weights_stay_finite() -> None:
    """The least probabilities on the longest path: weights of 1e12 are added, not lost and not infinite."""
    game = small_game("leduc")
    for sampler in ("outcome", "average"):
        table = random_table(game, 8)
        run_blocks(sampler, game, table, 50_000, PLAIN._replace(epsilon=1e-6, tau=1e-6))
        assert np.isfinite(table).all()


def test_chance_sampling_from_an_end_or_below_it() -> None:
    """A piece of the tree may be an end, behind chance or not: it is worth what cards decide, and nothing is learned."""
    game = small_game("leduc")
    nodes, joint = game.tree.nodes, game.deals.joint
    assert joint is not None
    deal, outcomes = joint.buckets[5], joint.outcomes[joint.outcome_row[5]]
    table = random_table(game, 9)
    before = table.copy()
    for end in (int(np.argmax(nodes["kind"] == FOLDED)), int(np.argmax(nodes["kind"] == SHOWDOWN))):
        changed = nodes.copy()
        changed[0]["kind"], changed[0]["first_child"] = CHANCE, end
        node = nodes[end]
        player_0 = -1.0 if node["player"] == 0 else 1.0
        worth = node["value"] * (player_0 if node["kind"] == FOLDED else outcomes[node["detail"]])
        for start in (end, 0):
            walked = walk_chance_from(
                changed, table, deal, outcomes, 1, PLAIN, make_reached(game), make_state(1), start, (1.0, 1.0)
            )
            assert walked == (1, worth)
    assert np.array_equal(table, before)


def test_lists_of_chance_sampling_take_what_is_estimated() -> None:
    for name in ("kuhn", "leduc"):
        game = small_game(name)
        assert reached_bytes(game) == sum(array.nbytes for array in make_reached(game)) > 0


def test_source_and_compiled_walk_agree(request: pytest.FixtureRequest) -> None:
    """What is enumerated is what runs: where nothing is drawn, source and compiled kernel make the same table."""
    game = small_game("leduc")
    source, compiled = (random_table(game, 9) for _ in range(2))
    joint = game.deals.joint
    assert joint is not None
    deal, outcomes = joint.buckets[5], joint.outcomes[joint.outcome_row[5]]
    visited = walk_chance(game.tree.nodes, compiled, deal, outcomes, 1, PLAIN, make_reached(game), make_state(1))
    request.getfixturevalue("interpreted")  # now that it is compiled
    assert walk("chance", game, source, 5, 0, PLAIN, Script([])) == visited
    assert np.array_equal(source, compiled)
    assert all(hasattr(kernel, "py_func") for kernel in (walk_average, walk_external, walk_outcome))


def test_a_rows_best_action_is_never_hopeless() -> None:
    """In rows of every kind: with regrets below any threshold alone, one action far ahead, or ties."""
    game = small_game("leduc")
    options = PLAIN._replace(prune_below=-0.5, prune_share=1.0)
    nodes, last_street = game.tree.nodes, game.num_streets - 1
    found, sigma = 0, np.zeros(game.max_actions)
    for seed in range(4):
        table = random_table(game, seed) - 3.0 * (seed % 2)  # odd seeds: hardly a positive regret
        for at in np.flatnonzero(nodes["kind"] == DECISION):
            n = int(nodes[at]["num_children"])
            for bucket in range(game.deals.num_buckets[nodes[at]["street"], nodes[at]["player"]]):
                row = 2 * (int(nodes[at]["base"]) + bucket * n)
                sampling_kernels.match_regrets(table, row, n, sigma)
                hopeless = [
                    sampling_kernels.is_hopeless(nodes, table, at, row, sigma[a], a, last_street, options)
                    for a in range(n)
                ]
                found += sum(hopeless)
                assert not hopeless[int(table[row : row + n].argmax())]
    assert found > 0
