"""Exact best responses and exploitability in an abstract game whose joint deals are known."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.solver.full_width.batch_game import BatchGame
from foldwise.solver.full_width.batch_kernels import reach_by_policy, value_of_policy
from foldwise.solver.full_width.vector_game import (
    exact_matrices,
    is_wide,
    make_vector_frames,
    make_vector_game,
)
from foldwise.solver.full_width.vector_kernels import walk_response

Policy = npt.NDArray[np.float32] | npt.NDArray[np.float64]  # [E]: a probability for every action
# For each player, what his best response and what his own policy win against the other's policy.
Answers = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True)
class Exploitability:
    """How much a strategy can lose; all in thousandths of the game's unit per game."""

    exploitability_mbb: float  # mean of the two best responses
    best_response_mbb: tuple[float, float]  # what a best response of each player wins against the strategy
    value_mbb: float  # what player 0 gets where both play the strategy
    boards_counted: int | None = None  # suit-distinct boards behind it where they are a sample of the 134,459


class _WalkResponder:
    """Best responses by walks, both players at once on two cores."""

    def __init__(self, game: AbstractGame):
        self._game = game
        self._vector_game = make_vector_game(game)

    def respond_both(self, policy: Policy) -> Answers:
        with ThreadPoolExecutor(2) as pool:
            first, second = pool.map(lambda player: self._respond(policy, player), (0, 1))
        return first, second

    def _respond(self, policy: Policy, player: int) -> tuple[float, float]:
        """What the player's best response, and his own policy, win against the other's policy."""
        frames = make_vector_frames(self._game)
        policy_value = walk_response(self._vector_game, policy, player, frames)
        best = frames.value[0, : self._vector_game.num_buckets[0, player]].sum()
        return float(best), float(policy_value)


class _BatchResponder:
    """Best responses by street-by-street passes, for games of many buckets: one player after the other."""

    def __init__(self, game: AbstractGame):
        matrices = exact_matrices(game)
        self._batch = BatchGame(game, matrices, matrices.fold_matrices[-1].dtype, threads=2)

    def respond_both(self, policy: Policy) -> Answers:
        batch = self._batch
        batch.pass_down(reach_by_policy, policy)
        answers = []
        for player in range(2):
            batch.settle(player)
            best, own = (
                float(batch.pass_up(player, value_of_policy, policy, player, is_best).sum(dtype=np.float64))
                for is_best in (True, False)
            )
            answers.append((best, own))
        return answers[0], answers[1]


class ExactResponse:
    """Best responses in one game; builds what they need once, and answers for any policy."""

    def __init__(self, game: AbstractGame):
        self._game = game
        self._boards_counted = exact_matrices(game).boards_counted
        self._responder = _BatchResponder(game) if is_wide(game) else _WalkResponder(game)

    def exploitability(self, policy: Policy) -> Exploitability:
        """The exploitability of a policy of both players."""
        unit = 1000.0 / self._game.unit_chips
        (first, value), (second, _) = self._responder.respond_both(policy)
        return Exploitability(
            exploitability_mbb=unit * (first + second) / 2.0,
            best_response_mbb=(unit * first, unit * second),
            value_mbb=unit * value,
            boards_counted=self._boards_counted,
        )
