"""Vectorised sampling: unbiased by enumeration of all draws, policies and exploration by their formulas, batches."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from naive_solver import Script, full_width_update, matched, naive_game, own_reaches, read_table, runs, small_game

from abstraction.abstract_game import AbstractGame
from game.tree_kernels import DECISION
from solver import sampling_policy_kernels, vector_kernels, vector_sampling_kernels
from solver.best_response import make_vector_game
from solver.config import VECTOR_SAMPLED, SolverConfig
from solver.sampling_policy_kernels import SamplingRules, SamplingStep
from solver.vector_sampling import bucket_probabilities, make_rules, make_sampling_frames

Array = npt.NDArray[np.float64]
STEP = SamplingStep(alpha=0.4, beta=2.0, regret_weight=1.0, sum_weight=1.0)
MODULES = (sampling_policy_kernels, vector_sampling_kernels, vector_kernels)


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels' own source, run by Python, with the uniform draws replaced by choices of a script."""
    for module in MODULES:
        for name, value in vars(module).copy().items():
            if hasattr(value, "py_func"):
                monkeypatch.setattr(module, name, value.py_func)
    monkeypatch.setattr(sampling_policy_kernels, "next_uniform", lambda script: script.uniform())


def walk(
    sampler: str,
    game: AbstractGame,
    table: Array,
    updates: Array,
    counts: Array,
    rules: SamplingRules,
    hand: npt.NDArray[np.int32],
    traverser: int,
    rng: npt.NDArray[np.uint64] | Script,
) -> int:
    """One walk of either form; by a script inside `interpreted`."""
    vector_game: Any = make_vector_game(game)
    if isinstance(rng, Script):  # numpy's records have an attribute `base` of their own
        nodes = game.tree.nodes
        named = [SimpleNamespace(**dict(zip(nodes.dtype.names or (), node))) for node in nodes.tolist()]
        vector_game = vector_game._replace(nodes=named)
    frames, drawn = make_sampling_frames(game), counts.copy()
    joint = game.deals.joint
    assert joint is not None
    shared = vector_game, bucket_probabilities(joint), table, updates, counts, drawn, rules, STEP
    if sampler.startswith("vector"):
        return int(vector_sampling_kernels.walk_vector(*shared, traverser, frames, rng))
    return int(vector_sampling_kernels.walk_semivector(*shared, hand, traverser, frames, rng))


def random_table(game: AbstractGame, seed: int, least: float) -> Array:
    """Regrets from a normal distribution but at least so large: below zero, some actions have no probability."""
    rng = np.random.default_rng(seed)
    table = np.empty(2 * game.num_entries)
    nodes = game.tree.nodes
    for at in np.flatnonzero(nodes["kind"] == DECISION):
        n = int(nodes[at]["num_children"])
        for bucket in range(game.deals.num_buckets[nodes[at]["street"], nodes[at]["player"]]):
            row = 2 * (int(nodes[at]["base"]) + bucket * n)
            table[row : row + n] = np.maximum(rng.normal(size=n), least)
            table[row + n : row + 2 * n] = rng.exponential(size=n)
    return table


def expected_change(sampler: str, game: AbstractGame, table: Array, rules: SamplingRules, traverser: int) -> Array:
    """The mean change of the table over every deal and every draw, by their probabilities."""
    joint = game.deals.joint
    assert joint is not None
    counts = np.random.default_rng(1).integers(0, 5, size=len(game.tree.nodes)).astype(np.float64)
    change, probability = np.zeros_like(table), 0.0
    deals = [(1.0, joint.buckets[0, 0])]  # the vector form deals nothing
    if sampler.startswith("semi"):
        deals = list(zip(joint.probability, joint.buckets[:, 1 - traverser]))
    for weight, hand in deals:
        updates = np.zeros_like(table)

        def run(script: Script, hand: npt.NDArray[np.int32] = hand, updates: Array = updates) -> None:
            updates[:] = 0.0
            walk(sampler, game, table, updates, counts, rules, hand, traverser, script)

        for script in runs(run):
            change += weight * script.probability * updates
            probability += weight * script.probability
    assert probability == pytest.approx(1.0, abs=1e-12)
    return change


def wanted_change(game: AbstractGame, table: Array, sampler: str, traverser: int) -> tuple[Any, Any]:
    """Full-width CFR: regrets of the traverser; sums of the traverser by his reach (vector) or of the other (semi)."""
    naive = naive_game(game)
    regrets, _ = read_table(game, naive, table)
    sigma = {infoset: matched(row) for infoset, row in regrets.items()}
    wanted_regrets = {infoset: [0.0] * len(row) for infoset, row in sigma.items()}
    wanted_sums = {infoset: [0.0] * len(row) for infoset, row in sigma.items()}
    wanted_regrets.update(full_width_update(naive, sigma, traverser)[0])
    if sampler.startswith("semi"):
        wanted_sums.update(full_width_update(naive, sigma, 1 - traverser)[1])
    else:
        for infoset, reach in own_reaches(naive, sigma, traverser).items():
            wanted_sums[infoset] = [reach * p for p in sigma[infoset]]
    return wanted_regrets, wanted_sums


def assert_unbiased(sampler: str, game: AbstractGame, table: Array, rules: SamplingRules) -> None:
    naive = naive_game(game)
    for traverser in range(2):
        regrets, sums = read_table(game, naive, expected_change(sampler, game, table, rules, traverser))
        wanted_regrets, wanted_sums = wanted_change(game, table, sampler, traverser)
        for infoset in wanted_regrets:
            assert regrets[infoset] == pytest.approx(wanted_regrets[infoset], abs=1e-11)
            assert sums[infoset] == pytest.approx(wanted_sums[infoset], abs=1e-11)


POLICIES = [("rcs", "own"), ("mcs", "own"), ("wcs", "own"), ("wcs", "opponent"), ("wcs", "both")]
POLICIES += [("mas", "own"), ("was", "own"), ("was", "opponent"), ("was", "both")]


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("sampler", VECTOR_SAMPLED)
@pytest.mark.parametrize("policy, weight", POLICIES)
@pytest.mark.parametrize("exploration", ["none", "count", "epsilon-greedy"])
def test_expected_updates_are_the_full_width_ones(sampler: str, policy: str, weight: str, exploration: str) -> None:
    """On Kuhn with strategies that leave actions out, so that draws by one infoset must serve the others."""
    game = small_game("kuhn")
    config = SolverConfig(sampler=sampler, policy=policy, policy_weight=weight, exploration=exploration)
    assert_unbiased(sampler, game, random_table(game, 3, least=-1.0), make_rules(config))


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("sampler", VECTOR_SAMPLED)
def test_the_published_draws_are_unbiased_where_every_action_is_played(sampler: str) -> None:
    """Neither exploration nor a share of uniform draws: enough where current and average strategies are positive."""
    game = small_game("kuhn")
    rules = make_rules(SolverConfig(sampler=sampler, exploration="none", support_share=0.0))
    assert_unbiased(sampler, game, random_table(game, 4, least=0.05), rules)


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
@pytest.mark.parametrize("sampler", ["vector-robust", "semivector-robust"])
def test_robust_sampling_of_several_actions_is_unbiased(sampler: str) -> None:
    """Two of up to six bids in a game of bluff, cut to its last bids."""
    game = small_game("leduc")
    table = random_table(game, 5, least=-1.0)
    rules = make_rules(SolverConfig(sampler=sampler, sampled_actions=2))
    joint = game.deals.joint
    assert joint is not None
    one = game.deals.joint.buckets[0, 0] if game.deals.joint is not None else None
    assert one is not None and rules.num_sampled == 2


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
