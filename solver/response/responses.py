"""The exact best response a game has: by the joint deals of its buckets, or in two-round hold'em by all its flops."""

from typing import Protocol

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.solver.full_width.vector_game import has_exact_response
from foldwise.solver.response.best_response import ExactResponse, Exploitability, Policy
from foldwise.solver.response.two_round_response import TwoRoundResponse, has_two_round_response


class Response(Protocol):
    """Best responses in one game."""

    def exploitability(self, policy: Policy) -> Exploitability:
        """The exploitability of a policy of both players."""


def _is_lossless(game: AbstractGame) -> bool:
    return game.cards is not None and all(street.method == "lossless" for street in game.cards.streets)


def has_response(game: AbstractGame) -> bool:
    """Whether an exact best response in the abstract game is known.

    Two-round hold'em without abstraction is its own abstract game; with buckets, a response by cards is not the
    same number as one by buckets; `TwoRoundResponse` computes it.
    """
    return has_exact_response(game) or (has_two_round_response(game) and _is_lossless(game))


def make_response(game: AbstractGame) -> Response:
    """The response of a game; raises if it has no exact one."""
    if not has_exact_response(game) and has_response(game):
        return TwoRoundResponse(game)
    return ExactResponse(game)
