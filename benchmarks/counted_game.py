"""An OpenSpiel game that counts the decisions and ends its solvers visit, which they do not report.

A Python game that forwards everything to the game it wraps. It is slow, and meant for counting only: with the same seed a
solver walks the same nodes on the game itself, which can then be timed.
"""

from typing import Any

import pyspiel


class Counter:
    """One number that all copies of a state share: OpenSpiel clones a state by deep copies of what it holds."""

    def __init__(self) -> None:
        self.count = 0

    def __deepcopy__(self, _: object) -> "Counter":
        return self


class _Observer:
    """The observer OpenSpiel uses for the text of an infoset, once per decision."""

    tensor = None

    def __init__(self, visits: Counter):
        self._visits = visits

    def set_from(self, state: "_CountedState", player: int) -> None:
        pass

    def string_from(self, state: "_CountedState", player: int) -> str:
        self._visits.count += 1
        return str(state.inner.information_state_string(player))


class CountedGame(pyspiel.Game):  # type: ignore[misc]  # pyspiel has no types
    """`visits`: decisions and ends visited so far."""

    def __init__(self, name: str):
        self.inner = pyspiel.load_game(name)
        self.visits = Counter()
        of = self.inner.get_type()
        kind = pyspiel.GameType(
            short_name=f"counted_{name}",
            long_name=f"{name}, counted",
            dynamics=of.dynamics,
            chance_mode=of.chance_mode,
            information=of.information,
            utility=of.utility,
            reward_model=of.reward_model,
            max_num_players=of.max_num_players,
            min_num_players=of.min_num_players,
            provides_information_state_string=True,
            provides_information_state_tensor=False,
            provides_observation_string=False,
            provides_observation_tensor=False,
            parameter_specification={},
        )
        size = pyspiel.GameInfo(
            num_distinct_actions=self.inner.num_distinct_actions(),
            max_chance_outcomes=self.inner.max_chance_outcomes(),
            num_players=self.inner.num_players(),
            min_utility=self.inner.min_utility(),
            max_utility=self.inner.max_utility(),
            utility_sum=0.0,
            max_game_length=self.inner.max_game_length(),
        )
        super().__init__(kind, size, {})

    def new_initial_state(self) -> "_CountedState":
        return _CountedState(self, self.inner.new_initial_state(), self.visits)

    def make_py_observer(self, *_: object) -> _Observer:
        return _Observer(self.visits)


class _CountedState(pyspiel.State):  # type: ignore[misc]  # pyspiel has no types
    def __init__(self, game: CountedGame, inner: Any, visits: Counter):
        super().__init__(game)
        self.inner, self._visits = inner, visits

    def current_player(self) -> int:
        return int(self.inner.current_player())

    def _legal_actions(self, player: int) -> list[int]:
        return list(self.inner.legal_actions(player))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return list(self.inner.chance_outcomes())

    def _apply_action(self, action: int) -> None:
        self.inner.apply_action(action)

    def is_terminal(self) -> bool:
        return bool(self.inner.is_terminal())

    def returns(self) -> list[float]:
        self._visits.count += 1
        return list(self.inner.returns())
