"""Messages between the head and its children: plain arrays, a batch of walks out, values back."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from foldwise.solver.config import SolverConfig
from foldwise.solver.sampling.sampling_kernels import WalkOptions


@dataclass(frozen=True)
class Batch:
    """Walks of some iterations, with the continuations the head's first pass met; the same for every child.

    Read-only, as an engine may hand them over: kernels compile for one kind of array.
    """

    hands: npt.NDArray[np.uint8]  # [W, 4]: hole cards, player 0's first; traversers take turns
    first: npt.NDArray[np.int32]  # [W + 1]: walk w continues from reached[first[w]:first[w + 1]]
    reached: npt.NDArray[np.int32]  # [C]: nodes
    pruning: npt.NDArray[np.bool_]  # [W]: walks that skip hopeless actions
    sum_weight: float  # of the average strategy: 0 while it skips its first iterations

    def __post_init__(self) -> None:
        for array in (self.hands, self.first, self.reached, self.pruning):
            array.flags.writeable = False


@dataclass(frozen=True)
class ChildAnswer:
    """One child's values."""

    values: npt.NDArray[np.float64]  # [C]: to the traverser, mean over the child's threads
    flops: npt.NDArray[np.int64]  # [W]: F_{n,h}, the weight of the child's values
    nodes: int  # visited
    busy_seconds: float


@dataclass(frozen=True)
class ChildReport:
    """What a child reports about itself."""

    clusters: tuple[int, ...]
    memory_bytes: int  # of its tables and its tree
    process: int


@dataclass(frozen=True)
class ChildProgress:
    """A child's progress in a run."""

    child: int
    clusters: int
    nodes: int
    nodes_per_second: float  # of the time it worked
    waiting_share: float  # of the time of solving
    memory_bytes: int
    process: int


def external_options(config: SolverConfig, sum_weight: float, scale: float = 1.0) -> WalkOptions:
    """Numbers of an external walk; limits of regrets are given for the local solver's, which `scale` multiplies."""
    floor, prune_below = config.regret_floor_chips, config.prune_below_chips
    return WalkOptions(
        sum_weight=sum_weight,
        regret_floor=-np.inf if floor is None else scale * floor,
        prune_below=-np.inf if prune_below is None else scale * prune_below,
        prune_share=0.0 if prune_below is None else config.prune_share,
    )
