"""Vectorised sampling: unbiased by enumeration of all draws, policies and exploration by their formulas, batches."""

from collections.abc import Iterator
from dataclasses import replace
from math import comb, log
from types import SimpleNamespace
from typing import Any, cast

import numba
import numpy as np
import numpy.typing as npt
import pytest

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.abstraction.build import build_abstract_game
from foldwise.abstraction.config import check_config
from foldwise.game.errors import DefinitionError
from foldwise.game.primitives.rng import make_state
from foldwise.game.trees.tree_kernels import DECISION
from foldwise.solver.config import RunConfig, SolverConfig
from foldwise.solver.regret_kernels import mean_positive_regret, normalise_sums
from foldwise.solver.response.best_response import ExactResponse
from foldwise.solver.samplers import SAMPLERS
from foldwise.solver.sampling import (
    public_deal_kernels,
    public_kernels,
    sampling_policy_kernels,
    vector_sampling_kernels,
)
from foldwise.solver.sampling.public_chance import make_ends, make_hands, split_by_public_chance
from foldwise.solver.sampling.sampling_policy_kernels import SamplingRules, SamplingStep, explore
from foldwise.solver.sampling.vector_sampling import VectorSampling, make_rules, make_sampling_frames, make_steps
from foldwise.solver.sampling.vector_sampling_kernels import SEMIVECTOR, VALUE, VECTOR, SampledTables, walk_form
from tests.oracles.naive_solver import (
    Script,
    full_width_update,
    matched,
    naive_game,
    random_table,
    read_table,
    runs,
    small_game,
)
from tests.support.coarse_holdem import Board, coarse_two_limit

Array = npt.NDArray[np.float64]
STEP = SamplingStep(alpha=0.4, beta=2.0, regret_weight=1.0, sum_weight=1.0)
MODULES = (sampling_policy_kernels, vector_sampling_kernels, public_kernels, public_deal_kernels)

FORMS = {"vector": VECTOR, "semivector": SEMIVECTOR, "value": VALUE}
VECTOR_SAMPLED = [name for name in SAMPLERS if name.partition("-")[0] in FORMS]


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels' own source, run by Python, with the uniform draws replaced by choices of a script."""
    for module in MODULES:
        for name, value in vars(module).copy().items():
            if hasattr(value, "py_func"):
                monkeypatch.setattr(module, name, value.py_func)
    for module in (sampling_policy_kernels, public_kernels):
        monkeypatch.setattr(module, "next_uniform", lambda script: script.uniform())


class Walks:
    """Walks of a sampler by a script, on every part of a small game's public chance."""

    def __init__(self, sampler: str, game: AbstractGame, table: Array, rules: SamplingRules):
        joint = game.deals.joint
        assert joint is not None
        nodes = game.tree.nodes
        # numpy's records have an attribute `base` of their own
        self._nodes = [SimpleNamespace(**dict(zip(nodes.dtype.names or (), node))) for node in nodes.tolist()]
        self._form, self._table, self._rules = FORMS[sampler.partition("-")[0]], table, rules
        self.parts = split_by_public_chance(joint)
        self._singles = make_hands(1, game.num_streets), make_hands(1, game.num_streets)
        self._frames = make_sampling_frames(game, self.parts.weight.shape[2])
        self._counts = np.random.default_rng(1).integers(0, 5, size=len(nodes)).astype(np.float64)
        self._empty = make_ends(5)

    def outcomes(self, traverser: int) -> Iterator[tuple[float, Array]]:
        """Probability and updates of every walk, over parts, hands and draws."""
        for part, chance in enumerate(self.parts.probability):
            hands = tuple(public_deal_kernels.hands_of_part(self.parts, part, player) for player in range(2))
            fold, settle = self.parts.fold[part], self.parts.settle[part]
            ends = public_kernels.PublicEnds(self._empty.board, self._empty.sums, 1.0, fold, settle)
            updates = np.zeros_like(self._table)

            def run(script: Script, hands: Any = hands, ends: Any = ends, updates: Array = updates) -> None:
                updates[:] = 0.0
                tables = SampledTables(cast(Any, self._nodes), self._table, updates, self._counts, self._counts.copy())
                form = self._singles, self._form, traverser
                vector_sampling_kernels.walk_form(tables, self._rules, STEP, hands, ends, *form, self._frames, script)

            for script in runs(run):
                yield float(chance) * script.probability, updates


def expected_change(sampler: str, game: AbstractGame, table: Array, rules: SamplingRules, traverser: int) -> Array:
    """The mean change of the table over all public chance, every hand and every draw, by their probabilities."""
    change, total = np.zeros_like(table), 0.0
    for probability, updates in Walks(sampler, game, table, rules).outcomes(traverser):
        change += probability * updates
        total += probability
    assert total == pytest.approx(1.0, abs=1e-12)
    return change


def wanted_change(game: AbstractGame, table: Array, sampler: str, traverser: int) -> tuple[Any, Any]:
    """Full-width CFR: regrets of the traverser; sums of the traverser (vector form) or of the other."""
    naive = naive_game(game)
    regrets, _ = read_table(game, naive, table)
    sigma = {infoset: matched(row) for infoset, row in regrets.items()}
    wanted_regrets = {infoset: [0.0] * len(row) for infoset, row in sigma.items()}
    wanted_sums = {infoset: [0.0] * len(row) for infoset, row in sigma.items()}
    wanted_regrets.update(full_width_update(naive, sigma, traverser)[0])
    averaged = traverser if sampler.startswith("vector") else 1 - traverser
    wanted_sums.update(full_width_update(naive, sigma, averaged)[1])
    return wanted_regrets, wanted_sums


def assert_unbiased(sampler: str, game: AbstractGame, table: Array, rules: SamplingRules) -> None:
    naive = naive_game(game)
    for traverser in range(2):
        regrets, sums = read_table(game, naive, expected_change(sampler, game, table, rules, traverser))
        wanted_regrets, wanted_sums = wanted_change(game, table, sampler, traverser)
        for infoset in wanted_regrets:
            assert regrets[infoset] == pytest.approx(wanted_regrets[infoset], abs=1e-11)
            assert sums[infoset] == pytest.approx(wanted_sums[infoset], abs=1e-11)


POLICIES = [("rcs", "own"), ("rcs-drawn", "own"), ("mcs", "own"), ("wcs", "own"), ("wcs", "opponent"), ("wcs", "both")]
POLICIES += [("mas", "own"), ("was", "own"), ("was", "opponent"), ("was", "both")]


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("sampler", VECTOR_SAMPLED)
@pytest.mark.parametrize("policy, weight", POLICIES)
def test_expected_updates_are_the_full_width_ones(sampler: str, policy: str, weight: str) -> None:
    """On Kuhn with strategies that leave actions out, so that draws by one infoset must serve the others."""
    game = small_game("kuhn")
    config = SolverConfig(sampler=sampler, policy=policy, policy_weight=weight, exploration="count")
    assert_unbiased(sampler, game, random_table(game, 3, least=-1.0), make_rules(config))


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("sampler", VECTOR_SAMPLED)
@pytest.mark.parametrize("exploration", ["none", "epsilon-greedy"])
def test_every_exploration_is_unbiased(sampler: str, exploration: str) -> None:
    game = small_game("kuhn")
    rules = make_rules(SolverConfig(sampler=sampler, exploration=exploration))
    assert_unbiased(sampler, game, random_table(game, 6, least=-1.0), rules)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    "sampler, policy",
    [
        ("vector-average", "was"),
        ("vector-outcome", "wcs"),
        ("semivector-robust", "rcs"),
        ("semivector-average", "mas"),
        ("value-robust", "wcs"),
    ],
)
def test_walks_over_two_streets_are_unbiased(sampler: str, policy: str) -> None:
    """Leduc, over its three boards: a vector's draws on the second street serve the hands of one board."""
    game = small_game("leduc")
    rules = make_rules(SolverConfig(sampler=sampler, policy=policy, policy_weight="both"))
    assert_unbiased(sampler, game, random_table(game, 7, least=-1.0), rules)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("sampler", VECTOR_SAMPLED)
def test_the_published_draws_are_unbiased_where_every_action_is_played(sampler: str) -> None:
    """Neither exploration nor a share of uniform draws: enough where current and average strategies are positive."""
    game = small_game("kuhn")
    rules = make_rules(SolverConfig(sampler=sampler, exploration="none", support_share=0.0))
    assert_unbiased(sampler, game, random_table(game, 4, least=0.05), rules)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("sampler", ["vector-robust", "vector-outcome", "semivector-outcome"])
def test_a_random_hands_strategy_is_the_mean_in_law(sampler: str) -> None:
    """Eq. 3 divides by the marginal: RCS makes every update as often as MCS does. By the drawn hand's own, it is noisier."""
    game = small_game("kuhn")
    table = random_table(game, 3, least=-1.0)
    laws, spreads = {}, {}
    for policy in ("rcs", "mcs", "rcs-drawn"):
        law: dict[bytes, float] = {}
        spread = 0.0
        rules = make_rules(SolverConfig(sampler=sampler, policy=policy))
        for probability, updates in Walks(sampler, game, table, rules).outcomes(0):
            key = np.round(updates, 9).tobytes()
            law[key] = law.get(key, 0.0) + probability
            spread += probability * float(updates @ updates)
        laws[policy], spreads[policy] = law, spread
    assert laws["rcs"].keys() == laws["mcs"].keys()
    for key, probability in laws["mcs"].items():
        assert laws["rcs"][key] == pytest.approx(probability, abs=1e-12)
    if sampler.startswith("vector"):
        assert spreads["rcs-drawn"] > 1.05 * spreads["rcs"]


@pytest.mark.usefixtures("interpreted")
def test_without_support_outcome_sampling_is_biased() -> None:
    """Why there is a share of uniform draws: an action that no infoset plays is never looked at."""
    game = small_game("kuhn")
    table = random_table(game, 3, least=-1.0)
    table[:2] = table[4:6] = table[8:10] = (1.0, -1.0)  # the first player never bets
    rules = make_rules(SolverConfig(sampler="vector-outcome", exploration="none", support_share=0.0))
    with pytest.raises(AssertionError):
        assert_unbiased("vector-outcome", game, table, rules)
    assert_unbiased("vector-outcome", game, table, rules._replace(support_share=0.01))


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("num_sampled, num_actions", [(1, 1), (1, 3), (2, 4), (3, 4), (4, 4), (9, 2)])
def test_every_set_of_actions_is_drawn_alike(num_sampled: int, num_actions: int) -> None:
    """Robust sampling of k actions: each set of k with the same probability, each action with k / A."""
    sets: dict[tuple[int, ...], float] = {}
    size = min(num_sampled, num_actions)
    taken = np.zeros(num_actions)
    for script in runs(lambda script: sampling_policy_kernels.take_uniform(num_sampled, num_actions, script, taken)):
        chosen = tuple(int(a) for a in np.flatnonzero(taken))
        assert len(chosen) == size and taken[list(chosen)] == pytest.approx(size / num_actions)
        sets[chosen] = sets.get(chosen, 0.0) + script.probability
    assert list(sets.values()) == pytest.approx([1.0 / comb(num_actions, size)] * comb(num_actions, size))


@pytest.mark.usefixtures("interpreted")
def test_enumeration_notices_a_wrong_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    """The proof can fail: where draws have other probabilities than those divided by, the means move."""
    game = small_game("kuhn")
    table = random_table(game, 3, least=-1.0)
    for sampler in VECTOR_SAMPLED:
        rules = make_rules(SolverConfig(sampler=sampler))
        right = expected_change(sampler, game, table, rules, 0)
        with monkeypatch.context() as patch:
            patch.setattr(sampling_policy_kernels, "next_uniform", lambda script: script.uniform(low=0.1))
            wrong = expected_change(sampler, game, table, rules, 0)
        assert np.abs(right - wrong).max() > 0.01


def test_exploration_prefers_what_was_rarely_drawn() -> None:
    """Eq. 8 and 9 by hand; an action never drawn counts as drawn once."""
    rules = make_rules(SolverConfig(sampler="vector-average", support_share=0.0))
    counts = np.array([0.0, 9.0, 4.0, 0.0])  # the children of a node begin at 1
    out = np.array([0.5, 0.5, 0.0])
    explore(rules, STEP, counts, 1, 3, out)
    bonus = [1.0 + 2.0 / 3.0, 1.0 + 2.0 / 2.0, 1.0 + 2.0]
    assert out == pytest.approx([0.6 * p + 0.4 * b / sum(bonus) for p, b in zip((0.5, 0.5, 0.0), bonus)])


def test_steps_are_the_published_ones() -> None:
    """alpha = 1 / ln(t + 10), beta = ln(t + 10), weights t^w, the average from T0 + 1 on."""
    steps = make_steps(SolverConfig(sampler="vector-average", weight_power=2, skip_iterations=6), 4, 8)
    wanted = [[1 / log(t + 10), log(t + 10), t**2, t**2 if t > 6 else 0] for t in (5, 6, 7, 8)]
    assert steps == pytest.approx(np.array(wanted))


@pytest.mark.usefixtures("interpreted")
def test_policies_are_means_over_hands() -> None:
    """Eq. 4 to 7 by hand, at a node of Kuhn after the first player's pass: three cards, two actions."""
    game = small_game("kuhn")
    nodes = game.tree.nodes
    at = int(nodes[0]["first_child"])
    assert nodes[at]["player"] == 1 - nodes[0]["player"]
    node = SimpleNamespace(**dict(zip(nodes.dtype.names or (), nodes[at].tolist())))
    table = np.zeros(2 * game.num_entries)
    start = 2 * int(nodes[at]["base"])
    table[start : start + 12] = [3, 1, 1, 9, 0, 2, 4, 4, 1, 0, 1, 1]  # by card: two regrets, two sums
    current = np.array([[0.75, 0.25], [0.0, 1.0], [1.0, 0.0]])
    average = np.array([[0.1, 0.9], [0.5, 0.5], [0.5, 0.5]])
    own, other = np.array([0.2, 1.0, 0.5]), np.array([0.6, 0.0, 0.3])
    met = (other.sum() - other) / 2.0  # the other holds one of the two cards left
    weights = {"alike": np.ones(3), "own": own, "opponent": met, "both": own * met}
    joint = game.deals.joint
    assert joint is not None
    parts, empty, player = split_by_public_chance(joint), make_ends(5), int(nodes[at]["player"])
    ends = public_kernels.PublicEnds(empty.board, empty.sums, 1.0, parts.fold[0], parts.settle[0])
    hands = [public_deal_kernels.hands_of_part(parts, 0, each) for each in range(2)]
    for policy, weight in POLICIES[2:]:
        rules = make_rules(SolverConfig(sampler="vector-robust", policy=policy, policy_weight=weight))
        scratch, buckets, out = np.zeros(3), np.zeros(3), np.zeros(2)
        mine, his = hands[player], hands[1 - player]
        sampling_policy_kernels.weigh_hands(ends, player, mine, his, rules, own, other, scratch)
        sampling_policy_kernels.mean_strategy(table, node, mine, rules, current.ravel(), scratch, buckets, out)
        strategies = average if policy in ("mas", "was") else current
        wanted = np.average(strategies, axis=0, weights=weights["alike" if policy[0] == "m" else weight])
        assert out == pytest.approx(wanted), (policy, weight)


def make_solver(name: str, **solver: Any) -> VectorSampling:
    config = check_config({"name": name, "game": name, "solver": solver}, RunConfig, "test")
    return VectorSampling(build_abstract_game(config), config.solver)


def exploitability(solver: VectorSampling) -> float:
    policy = np.empty(solver.game.num_entries)
    normalise_sums(solver.game.tree.nodes, solver.game.deals.num_buckets, solver.table, policy)
    return ExactResponse(solver.game).exploitability(policy).exploitability_mbb


# Twice what the worst of four seeds reached, in 10,000 (vector), 50,000 (semi-vector) and 100,000 iterations (value form).
REACHED_ON_LEDUC = {
    "vector-average": 1640.0,
    "vector-outcome": 1530.0,
    "vector-external": 350.0,
    "vector-robust": 1440.0,
    "semivector-average": 1080.0,
    "semivector-outcome": 700.0,
    "semivector-external": 87.0,
    "semivector-robust": 500.0,
    "value-average": 1460.0,
    "value-outcome": 1000.0,
    "value-external": 104.0,
    "value-robust": 670.0,
}


@pytest.mark.parametrize("sampler", VECTOR_SAMPLED)
def test_every_sampler_learns_leduc(sampler: str) -> None:
    """Far below the uniform strategy's 2,374 mbb."""
    solver = make_solver("leduc", sampler=sampler, weight_power=1.0)
    solver.advance({"vector": 10_000, "semivector": 50_000, "value": 100_000}[sampler.partition("-")[0]])
    assert exploitability(solver) < REACHED_ON_LEDUC[sampler]


@pytest.mark.parametrize("sampler", VECTOR_SAMPLED)
def test_every_sampler_learns_holdem(sampler: str) -> None:
    """Two-round limit hold'em without a list of deals: mean positive regret an iteration falls by a third at the least."""
    game = coarse_two_limit(5, 7)
    solver = VectorSampling(game, SolverConfig(sampler=sampler))
    regrets = []
    for iterations in (100, 900):
        solver.advance(iterations)
        mean = mean_positive_regret(game.tree.nodes, game.deals.num_buckets, solver.table)
        regrets.append(mean / solver.iteration)
    assert 0.0 < regrets[1] < 0.67 * regrets[0]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("traverser", [0, 1])
def test_mean_updates_on_a_board_are_those_of_public_chance_sampling(form: str, traverser: int) -> None:
    """Many walks on one board: every regret of the traverser within five standard errors of the full vectors' update."""
    board = Board(coarse_two_limit(5, 7), seed=4)
    game = board.game
    rng = np.random.default_rng(2)
    table = rng.normal(size=2 * game.num_entries)
    wanted = regrets_of(game, board.change(table, (board.hands, board.hands), traverser, traverser + 1))
    rules, walks_rng = make_rules(SolverConfig(sampler=f"{form}-external")), make_state(7)
    frames = make_sampling_frames(game, board.hands.num_hands)
    singles, counts = (make_hands(1, 2), make_hands(1, 2)), np.zeros(len(game.tree.nodes))
    batches, each = 60, {"vector": 10, "semivector": 100, "value": 1000}[form]
    found = []
    for _ in range(batches):
        updates = np.zeros_like(table)
        tables, hands = SampledTables(game.tree.nodes, table, updates, counts, counts), (board.hands, board.hands)
        add_walks(each, tables, rules, STEP, hands, board.ends, singles, FORMS[form], traverser, frames, walks_rng)
        found.append(regrets_of(game, updates) / each)
    error = np.std(found, axis=0, ddof=1) / batches**0.5
    assert (np.abs(np.mean(found, axis=0) - wanted) <= 5.0 * error + 1e-12).all()
    assert np.count_nonzero(wanted) > 50


@numba.njit
def add_walks(count, tables, rules, step, hands, ends, singles, form, traverser, frames, rng):
    for _ in range(count):
        walk_form(tables, rules, step, hands, ends, singles, form, traverser, frames, rng)


def regrets_of(game: AbstractGame, table: Array) -> Array:
    """[E] the regrets of a table, without its sums."""
    out = np.zeros(game.num_entries)
    nodes = game.tree.nodes
    for at in np.flatnonzero(nodes["kind"] == DECISION):
        n, base = int(nodes[at]["num_children"]), int(nodes[at]["base"])
        count = int(game.deals.num_buckets[nodes[at]["street"], nodes[at]["player"]])
        out[base : base + count * n] = table[2 * base : 2 * (base + count * n)].reshape(count, 2, n)[:, 0].ravel()
    return out


@pytest.mark.parametrize("form", FORMS)
def test_robust_sampling_of_all_actions_is_external_sampling(form: str) -> None:
    tables = []
    for kind in ("external", "robust"):
        solver = make_solver("leduc", sampler=f"{form}-{kind}", sampled_actions=3, exploration="none")
        solver.advance(200)
        tables.append(solver.table)
    assert np.array_equal(*tables)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("threads", [1, 2])
def test_walks_of_a_batch_see_the_same_strategy(form: str, threads: int) -> None:
    """A batch changes the table by the sum of what its walks change alone; and threads change nothing in a rerun."""
    options = {"sampler": f"{form}-average", "threads": threads, "policy": "was", "policy_weight": "both"}
    solvers = [make_solver("leduc", mini_batch=6, **options) for _ in range(2)]
    for solver in solvers:
        solver.advance(300)
    assert np.array_equal(solvers[0].table, solvers[1].table)
    assert np.array_equal(solvers[0].counts, solvers[1].counts)
    assert solvers[0].counts.sum() > 0.0

    alone = make_solver("leduc", mini_batch=1, sampler=f"{form}-average", seed=5)
    batch = make_solver("leduc", mini_batch=2, sampler=f"{form}-average", seed=5)
    changes = []
    for _ in range(2):  # the first walk of each of two iterations, from the same empty table
        alone.table[:] = 0.0
        alone.counts[:] = 0.0
        alone._work(make_steps(alone.config, 0, 1), 0, 1, (alone._workers[0], 1))
        changes.append(alone.table.copy())
    batch._work(make_steps(batch.config, 0, 1), 0, 1, (batch._workers[0], 2))
    assert not batch.table.any()
    assert batch._workers[0].updates == pytest.approx(changes[0] + changes[1])


def test_blocks_may_be_cut_anywhere() -> None:
    for sampler in ("vector-outcome", "semivector-average"):
        whole, parts = (make_solver("leduc", sampler=sampler, policy="was") for _ in range(2))
        whole.advance(700)
        for part in (1, 0, 250, 449):
            parts.advance(part)
        assert np.array_equal(whole.table, parts.table) and np.array_equal(whole.counts, parts.counts)
        assert whole.nodes == parts.nodes


def test_skipped_iterations_leave_no_trace_in_the_average() -> None:
    for sampler in ("vector-average", "semivector-average"):
        solver = make_solver("kuhn", sampler=sampler, skip_iterations=50)
        solver.advance(50)
        policy = np.empty(solver.game.num_entries)
        normalise_sums(solver.game.tree.nodes, solver.game.deals.num_buckets, solver.table, policy)
        assert policy == pytest.approx(0.5)
        assert solver.table.any()
        solver.advance(50)
        normalise_sums(solver.game.tree.nodes, solver.game.deals.num_buckets, solver.table, policy)
        assert policy != pytest.approx(0.5)


def test_a_game_without_hands_is_refused() -> None:
    game = replace(small_game("kuhn"), name="large", deals=SimpleNamespace(joint=None))
    with pytest.raises(DefinitionError, match="'vector-robust' on 'large': vectors of hands need a card abstraction"):
        VectorSampling(game, SolverConfig(sampler="vector-robust"))
