# mypy: allow-untyped-defs, allow-untyped-calls
"""The pseudo-harmonic mapping: what the agent reads bets by unless told otherwise."""

from foldwise.game.compiled import kernel


@kernel
def pseudo_harmonic(x, a, b):
    """Probability that a bet of x pots between sizes a < b is read as a: Ganzfried and Sandholm (IJCAI 2013), section 6.

    The only mapping under which calling A with 1 / (1 + A) and B with 1 / (1 + B) calls every x with 1 / (1 + x).
    """
    return (b - x) * (1.0 + a) / ((b - a) * (1.0 + x))
