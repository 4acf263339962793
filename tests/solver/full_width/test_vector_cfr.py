"""Full-width walks against textbook CFR, iteration by iteration, for every schedule; and the regret identity."""

from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.solver.config import SolverConfig
from foldwise.solver.full_width.batch_cfr import BatchCfr
from foldwise.solver.full_width.vector_cfr import VectorCfr
from foldwise.solver.full_width.vector_game import make_vector_frames, make_vector_game
from foldwise.solver.full_width.vector_kernels import walk_full_width
from foldwise.solver.regret_kernels import current_policy, match_regrets, normalise_sums, scale_tables
from foldwise.solver.response.best_response import ExactResponse
from foldwise.solver.samplers import FULL_WIDTH, load_rule
from tests.oracles.naive_solver import (
    History,
    NaiveGame,
    Policy,
    best_response,
    expected_value,
    full_width_update,
    matched,
    naive_game,
    own_reaches,
    policy_of_array,
    read_table,
    small_game,
)

# Iteration t -> factors of positive regrets, negative regrets and sums before it, its weight in the sums, the floor.
Numbers = Callable[[int], tuple[float, ...]]


def dcfr(t: int, alpha: float, beta: float, gamma: float) -> tuple[float, ...]:
    """Brown and Sandholm (AAAI 2019), section 3, with any exponents."""
    last = t - 1
    positive, negative = (last**alpha / (last**alpha + 1.0), last**beta / (last**beta + 1.0)) if last else (1.0, 1.0)
    return positive, negative, (last / t) ** gamma, 1.0, -inf


def produced(name: str) -> Numbers:
    """The numbers of the solver's own schedule."""
    schedule = load_rule(name)
    return lambda t: tuple(float(number[0]) for number in schedule(np.array([float(t)])))


def run_kernel(game: AbstractGame, numbers: Numbers, num_iterations: int) -> npt.NDArray[np.float64]:
    """Alternating updates, player 0 first."""
    vector_game, frames = make_vector_game(game), make_vector_frames(game)
    table = np.zeros(2 * game.num_entries)
    for t in range(1, num_iterations + 1):
        for player in range(2):
            walk_full_width(vector_game, table, player, *numbers(t), frames)
    return table


class Textbook(NamedTuple):
    """A member of the family as its paper writes it, with nothing of the solver's schedules in it.

    The solver may keep regrets and sums in another unit than the paper; the last two say in how many at iteration t.
    """

    regret: Callable[[float, float, int], float]  # old regret, gain of iteration t, t
    sum_weight: Callable[[int], float] = lambda t: 1.0
    regret_unit: Callable[[int], float] = lambda t: 1.0
    sum_unit: Callable[[int], float] = lambda t: 1.0


def kept(regret: float, t: int) -> float:
    """What DCFR(3/2, 0, 2) keeps of a regret of iteration t - 1."""
    power = (t - 1) ** 1.5
    return regret * power / (power + 1.0) if regret > 0.0 else regret / 2.0


TEXTBOOK = {
    # Zinkevich et al. (NIPS 2007), eq. 4 and 7: sums of what every iteration gains and plays.
    "cfr": Textbook(lambda regret, gain, t: regret + gain),
    # Tammelin et al. (IJCAI 2015): regret matching+, the strategy of iteration t weighs t.
    "cfr+": Textbook(lambda regret, gain, t: max(regret + gain, 0.0), lambda t: t),
    # Brown and Sandholm (AAAI 2019): iteration t weighs t, in regrets and averages.
    "lcfr": Textbook(lambda regret, gain, t: regret + t * gain, lambda t: t, lambda t: t, lambda t: t),
    # There too: the strategy of iteration t is discounted by (t / (t + 1))^2, ..., ((T - 1) / T)^2: it weighs (t / T)^2.
    "dcfr": Textbook(lambda regret, gain, t: kept(regret, t) + gain, lambda t: t**2, sum_unit=lambda t: t**2),
    # Xu et al. (IJCAI 2024).
    "dcfr+": Textbook(
        lambda regret, gain, t: max(kept(regret, t) + gain, 0.0), lambda t: t**4, sum_unit=lambda t: t**4
    ),
}


def naive_iteration(naive: NaiveGame, regrets: Policy, sums: Policy, textbook: Textbook, t: int) -> None:
    for player in range(2):
        sigma = {infoset: matched(row) for infoset, row in regrets.items()}
        added, _ = full_width_update(naive, sigma, player)
        reaches = own_reaches(naive, sigma, player)
        for infoset, gains in added.items():
            regrets[infoset] = [textbook.regret(r, gain, t) for r, gain in zip(regrets[infoset], gains)]
            weight = textbook.sum_weight(t) * reaches[infoset]
            sums[infoset] = [s + weight * p for s, p in zip(sums[infoset], sigma[infoset])]


def test_every_schedule_has_its_textbook() -> None:
    assert set(TEXTBOOK) == set(FULL_WIDTH)


@pytest.mark.parametrize("name, num_iterations", [("kuhn", 30), ("leduc", 6)])
@pytest.mark.parametrize("sampler", TEXTBOOK)
def test_every_iteration_equals_the_textbook(name: str, num_iterations: int, sampler: str) -> None:
    """Walks and passes with the solver's own schedules. Sums hold the player's own reach alone, regrets chance's too."""
    game, config, textbook = small_game(name), SolverConfig(sampler=sampler), TEXTBOOK[sampler]
    naive = naive_game(game)
    solvers = VectorCfr(game, config), BatchCfr(game, config, np.float64)
    regrets = {infoset: [0.0] * n for infoset, (_, n) in naive.infosets.items()}
    sums = {infoset: [0.0] * n for infoset, (_, n) in naive.infosets.items()}
    for t in range(1, num_iterations + 1):
        naive_iteration(naive, regrets, sums, textbook, t)
        for solver in solvers:
            solver.advance(1)
            found_regrets, found_sums = read_table(game, naive, solver.table)
            for infoset in naive.infosets:
                wanted = [r / textbook.regret_unit(t) for r in regrets[infoset]]
                assert found_regrets[infoset] == pytest.approx(wanted, abs=1e-11)
                wanted = [s / textbook.sum_unit(t) for s in sums[infoset]]
                assert found_sums[infoset] == pytest.approx(wanted, abs=1e-11)


def test_iterations_in_one_step_are_those_of_many() -> None:
    """A schedule's numbers follow the iteration, however it was come to; skipped ones weigh nothing in the average."""
    for sampler in TEXTBOOK:
        config = SolverConfig(sampler=sampler, skip_iterations=3)
        for make in (VectorCfr, BatchCfr):
            whole, parts = make(small_game("kuhn"), config), make(small_game("kuhn"), config)
            whole.advance(12)
            for part in (1, 4, 7):
                parts.advance(part)
                if parts.iteration <= 3:
                    assert not sums_of(parts).any()
            assert np.array_equal(whole.table, parts.table) and sums_of(whole).any()


def sums_of(solver: VectorCfr | BatchCfr) -> npt.NDArray[np.floating[Any]]:
    """Strategy sums of Kuhn, whose rows all have two actions."""
    return solver.table.reshape(-1, 2, 2)[:, 1]


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_walks_count_decisions_and_ends_and_return_the_value(name: str) -> None:
    """Every public node once, street changes not counted."""
    game = small_game(name)
    naive = naive_game(game)
    vector_game, frames = make_vector_game(game), make_vector_frames(game)
    table = np.random.default_rng(1).normal(size=2 * game.num_entries)
    regrets, _ = read_table(game, naive, table)
    value = expected_value(naive, {infoset: matched(row) for infoset, row in regrets.items()}, 1)
    assert walk_full_width(vector_game, table, 1, *produced("cfr")(1), frames) == len(public_nodes(naive))
    assert frames.value[0, : vector_game.num_buckets[0, 1]].sum() == pytest.approx(value, abs=1e-12)


def public_nodes(naive: NaiveGame) -> set[int]:
    def collect(history: History) -> set[int]:
        return {history.infoset[0]}.union(*(collect(child) for child in history.children))

    return set().union(*(collect(root) for _, root in naive.deals))


def test_members_of_the_discounted_family_meet() -> None:
    """DCFR(1, 1, 1) is linear CFR; with exponents so large that every factor is 1, and averages not discounted, CFR."""
    game = small_game("leduc")
    linear = run_kernel(game, produced("lcfr"), 12)
    assert run_kernel(game, lambda t: dcfr(t, 1.0, 1.0, 1.0), 12) == pytest.approx(linear, abs=1e-12)
    plain = run_kernel(game, produced("cfr"), 12)
    assert np.array_equal(run_kernel(game, lambda t: dcfr(t + 2, 100.0, 100.0, 0.0), 12), plain)
    assert not np.allclose(run_kernel(game, produced("dcfr"), 12), plain)
    assert not np.allclose(linear, plain)


@pytest.mark.parametrize(
    "name, value, tolerance, schedule, num_iterations, bound",
    [
        ("kuhn", -1.0 / 18.0, 1e-6, "dcfr", 100_000, 1e-6),
        ("leduc", -0.0856, 1e-4, "cfr+", 4000, 1e-4),
        ("leduc", -0.0856, 1e-4, "dcfr", 4000, 1e-4),
        ("leduc", -0.0856, 1e-4, "dcfr+", 4000, 1e-4),
    ],
)
def test_small_games_are_solved(
    name: str, value: float, tolerance: float, schedule: str, num_iterations: int, bound: float
) -> None:
    """Values: Kuhn (1950); Leduc as in OpenSpiel. The untrained strategies lose 0.46 and 2.37."""
    game = small_game(name)
    table = run_kernel(game, produced(schedule), num_iterations)
    policy = np.empty(game.num_entries)
    normalise_sums(game.tree.nodes, game.deals.num_buckets, table, policy)
    result = ExactResponse(game).exploitability(policy)
    assert result.exploitability_mbb * game.unit_chips / 1000.0 < bound
    assert result.value_mbb * game.unit_chips / 1000.0 == pytest.approx(value, abs=tolerance)


def normalised(row: list[float]) -> list[float]:
    return [s / sum(row) for s in row] if sum(row) > 0 else [1 / len(row)] * len(row)


@pytest.mark.parametrize("name, num_iterations", [("kuhn", 50), ("leduc", 10)])
def test_regret_identity(name: str, num_iterations: int) -> None:
    """Gibson et al. (NIPS 2012), theorem 4: R = sum over I of pi^{sigma*}(I) R(I, sigma*), for both players.

    sigma* is a best response to the sequence of the opponent's strategies, so to their average by reach.
    """
    game = small_game(name)
    naive = naive_game(game)
    vector_game, frames = make_vector_game(game), make_vector_frames(game)
    table = np.random.default_rng(3).normal(size=2 * game.num_entries)  # so that no strategy is uniform
    start, _ = read_table(game, naive, table)
    seen: list[list[Policy]] = [[], []]
    for _ in range(num_iterations):
        for player in range(2):
            policy = np.empty(game.num_entries)
            current_policy(game.tree.nodes, game.deals.num_buckets, table, policy)
            seen[player].append(policy_of_array(game, naive, policy))
            walk_full_width(vector_game, table, player, *produced("cfr")(1), frames)
    regrets, _ = read_table(game, naive, table)
    for player in range(2):
        opponent = 1 - player
        average = {infoset: [0.0] * n for infoset, (owner, n) in naive.infosets.items() if owner == opponent}
        for sigma in seen[player]:
            for infoset, reach in own_reaches(naive, sigma, opponent).items():
                average[infoset] = [s + reach * p for s, p in zip(average[infoset], sigma[infoset])]
        average = {
            infoset: [s / sum(row) if sum(row) else 1 / len(row) for s in row] for infoset, row in average.items()
        }
        _, response = best_response(naive, average, player)
        total = sum(
            expected_value(naive, {**sigma, **response}, player) - expected_value(naive, sigma, player)
            for sigma in seen[player]
        )
        reaches = own_reaches(naive, response, player)
        weighted = sum(
            reaches[infoset] * sum(p * (r - r0) for p, r, r0 in zip(row, regrets[infoset], start[infoset]))
            for infoset, row in response.items()
        )
        assert total > 0.1
        assert weighted == pytest.approx(total, abs=1e-10)


def test_regret_matching_survives_the_smallest_numbers() -> None:
    """The inverse of a subnormal sum is infinite: such regrets count as none."""
    out = np.empty(3)
    for regrets in ([0.0, 0.0, 0.0], [5e-324, 0.0, -1.0], [1e-310, 1e-310, 0.0]):
        match_regrets(np.array(regrets), 0, 3, out)
        assert out.sum() == pytest.approx(1.0)
        assert np.isfinite(out).all()
    match_regrets(np.array([1e-290, 3e-290, -1.0]), 0, 3, out)
    assert out == pytest.approx([0.25, 0.75, 0.0])


def test_tables_are_discounted_part_by_part() -> None:
    game = small_game("leduc")
    naive = naive_game(game)
    table = np.random.default_rng(5).normal(size=2 * game.num_entries)
    before_regrets, before_sums = read_table(game, naive, table)
    scale_tables(game.tree.nodes, game.deals.num_buckets, table, 0.5, 0.25, 0.125)
    regrets, sums = read_table(game, naive, table)
    for infoset in naive.infosets:
        assert regrets[infoset] == [r * (0.5 if r > 0 else 0.25) for r in before_regrets[infoset]]
        assert sums[infoset] == [s * 0.125 for s in before_sums[infoset]]


def test_an_infoset_never_reached_averages_to_uniform() -> None:
    game = small_game("leduc")
    policy = np.empty(game.num_entries)
    normalise_sums(game.tree.nodes, game.deals.num_buckets, np.zeros(2 * game.num_entries), policy)
    for row in policy_of_array(game, naive_game(game), policy).values():
        assert row == [1.0 / len(row)] * len(row)
