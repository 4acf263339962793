# mypy: allow-untyped-defs, allow-untyped-calls
"""Blocks of iterations: a walk for each deal of a block. Traversers alternate; chance sampling updates both at once.

Shared by all: `deals` int32[B, 2, S], `outcome_rows` int32[B], `outcomes` float64[rows, details].
"""

from foldwise.game.compiled import kernel
from foldwise.solver.sampling.chance_kernels import walk_chance
from foldwise.solver.sampling.sampling_kernels import walk_average, walk_external, walk_outcome


@kernel
def run_chance(nodes, table, deals, outcome_rows, outcomes, last_street, options, reached, rng):
    """One iteration a deal."""
    num_visited = 0
    for i in range(deals.shape[0]):
        num_visited += walk_chance(
            nodes, table, deals[i], outcomes[outcome_rows[i]], last_street, options, reached, rng
        )
    return num_visited


@kernel
def run_external(nodes, table, deals, outcome_rows, outcomes, last_street, options, frames, rng):
    """One iteration two deals: a walk for each player."""
    num_visited = 0
    for i in range(deals.shape[0]):
        num_visited += walk_external(
            nodes, table, deals[i], outcomes[outcome_rows[i]], i & 1, last_street, options, frames, rng
        )
    return num_visited


@kernel
def run_outcome(nodes, table, deals, outcome_rows, outcomes, last_street, options, frames, rng):
    """One iteration two deals: a walk for each player."""
    num_visited = 0
    for i in range(deals.shape[0]):
        num_visited += walk_outcome(nodes, table, deals[i], outcomes[outcome_rows[i]], i & 1, options, frames, rng)
    return num_visited


@kernel
def run_average(nodes, table, deals, outcome_rows, outcomes, last_street, options, frames, rng):
    """One iteration two deals: a walk for each player."""
    num_visited = 0
    for i in range(deals.shape[0]):
        num_visited += walk_average(
            nodes, table, deals[i], outcomes[outcome_rows[i]], i & 1, last_street, options, frames, rng
        )
    return num_visited
