# mypy: allow-untyped-defs, allow-untyped-calls
"""The geometric mapping, for comparison."""

from foldwise.game.compiled import kernel


@kernel
def geometric(x, a, b):
    """Probability that a bet of x pots between sizes a < b is read as a: Ganzfried and Sandholm (IJCAI 2013), section 5.4.

    Its "randomized geometric 1", divided by A so that nothing underflows; the paper's 0 / 0 at x = A = 0 is 1 here.
    """
    if x <= a:
        return 1.0
    return (b - x) / (b - x + (x - a) * (x / a)) if a > 0.0 else 0.0
