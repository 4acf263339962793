# mypy: allow-untyped-defs, allow-untyped-calls
"""Dealing from raw generator outputs, as the reference dealer deals."""

from foldwise.game.compiled import kernel


@kernel
def deal_block(outputs, deck, cards):  # uint32[H, N], uint8[D], uint8[H, N] (overwritten)
    """Each hand from a fresh deck: index = output mod cards left; the last card fills the gap."""
    scratch = deck.copy()
    for hand in range(outputs.shape[0]):
        scratch[:] = deck
        left = deck.size
        for i in range(outputs.shape[1]):
            drawn = outputs[hand, i] % left
            cards[hand, i] = scratch[drawn]
            left -= 1
            scratch[drawn] = scratch[left]
