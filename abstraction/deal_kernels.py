# mypy: allow-untyped-defs, allow-untyped-calls
"""Deals in blocks: buckets of both players on every street, and the outcome."""

from game.compiled import kernel
from game.rng_kernels import next_uniform


@kernel
def draw_categories(rng, keep, other, category_buckets, category_row, buckets, outcome_rows):
    """Draw categories by the alias method: one uniform number a deal, its integer part and its fraction."""
    num_streets = buckets.shape[2]
    for deal in range(buckets.shape[0]):
        scaled = next_uniform(rng) * keep.size
        category = int(scaled)
        if scaled - category >= keep[category]:
            category = other[category]
        for player in range(2):
            for street in range(num_streets):
                buckets[deal, player, street] = category_buckets[category, player, street]
        outcome_rows[deal] = category_row[category]
