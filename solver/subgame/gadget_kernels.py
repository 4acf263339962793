# mypy: allow-untyped-defs, allow-untyped-calls
"""The choice before a subgame: enter it, or stay out. n: hands."""

from foldwise.game.compiled import kernel
from foldwise.solver.subgame.hand_kernels import add_products, learn_regrets, match_hands, multiply


@kernel(_nrt=False)
def enter_by_choice(regrets, forced, offered, sigma, total, out):  # float32[2, n], [n], scalar, [2, n], [n], [n]
    """The weight with which each hand enters: the forced part, and the share of the offered part that chooses to."""
    match_hands(regrets, sigma, total)
    for h in range(out.size):
        out[h] = forced[h] + offered * sigma[0, h]


@kernel(_nrt=False)
def learn_choice(regrets, sigma, inside, outside, total, rules):  # as above; values [n] of coming in and of staying out
    """Regrets of the choice between entering and staying out."""
    multiply(sigma[0], inside, total)
    add_products(sigma[1], outside, total)
    learn_regrets(regrets[0], inside, total, rules.positive, rules.negative, rules.floor)
    learn_regrets(regrets[1], outside, total, rules.positive, rules.negative, rules.floor)
