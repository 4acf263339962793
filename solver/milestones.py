"""Milestones: what happens at a share of a run's planned length, whether in iterations, nodes or time."""

from dataclasses import dataclass
from typing import Final

from foldwise.game.errors import DefinitionError
from foldwise.solver.config import SolverConfig

# Where the strategy sums are copied, so that an average may leave out what came before.
PARTS: Final = {"third": 1 / 3, "half": 1 / 2, "two-thirds": 2 / 3}


@dataclass(frozen=True, order=True)
class Milestone:
    """One event: strategy sums are kept for a part of the run, an epoch ends with a discount, or pruning begins."""

    share: float
    part: str = ""
    epoch: int = 0
    prunes: bool = False


def plan_milestones(config: SolverConfig, keeps_sums: bool) -> list[Milestone]:
    """All milestones of a run in order; sums only if the solver keeps them."""
    discount = config.discount
    found = [Milestone(share, part=part) for part, share in PARTS.items() if keeps_sums]
    if discount.share is not None:
        found += [Milestone(discount.share * k / discount.epochs, epoch=k) for k in range(1, discount.epochs + 1)]
    if config.prune_from_share > 0.0 and config.prune_below_chips is not None:
        found.append(Milestone(config.prune_from_share, prunes=True))
    return sorted(found)


def check_plan(config: SolverConfig) -> None:
    """Refuse keys that refer to a share of the run if the run has no planned length."""
    if not (config.iterations is None and config.nodes is None and config.seconds is None):
        return
    for key, is_set in (
        ("average_from", config.average_from != "start"),
        ("discount.share", config.discount.share is not None),
        ("prune_from_share", config.prune_from_share > 0.0),
    ):
        if is_set:
            raise DefinitionError(
                f"solver.{key} needs a run of a planned length: give --iterations, --nodes or --seconds"
            )
