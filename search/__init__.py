"""Search: the ranges of both players through a hand, and solving turn and river from them while the hand is played.

Imports agent, abstraction, game, postprocess and, of the solver, subgames alone. No sockets, no statistics.
"""
