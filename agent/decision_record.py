"""What is told of one decision of a strategy, wherever it is written."""

from typing import TypedDict


class DecisionRecord(TypedDict, total=False):
    """A decision by its fields, which mean what they mean in `agent.strategy_player.Decision`."""

    state: str
    abstract_betting: str
    bucket: int
    reached: bool
    actions: list[str]
    abstract_actions: list[str]
    probabilities: list[float]
    postprocessed: list[float]
    action: str
