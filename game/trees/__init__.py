"""Public trees as flat arrays, of betting games and of Bluff, and exact counts of what a game holds.

Imports `betting`, `betting_kernels`, `compiled`, `definition` and `errors`.
"""
