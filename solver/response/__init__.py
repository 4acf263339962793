"""Best responses: in the abstract game, in two-round hold'em, and with real cards.

Imports `full_width` for its vectors.
"""
