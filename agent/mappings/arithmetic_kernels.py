# mypy: allow-untyped-defs, allow-untyped-calls
"""The arithmetic mapping, for comparison: bets far from both sizes exploit it."""

from foldwise.game.compiled import kernel


@kernel
def arithmetic(x, a, b):
    """Probability that a bet of x pots between sizes a < b is read as a: Ganzfried and Sandholm (IJCAI 2013), section 5.2."""
    return (b - x) / (b - a)
