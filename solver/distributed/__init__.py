"""Distributed external sampling: a head with the preflop tables and children with disjoint pieces of the rest.

Brown, Ganzfried and Sandholm, Hierarchical abstraction, distributed equilibrium computation, and post-processing (AAMAS
2015), section 3 and algorithm 4. `pieces`: who holds which rows. `flops`: what a child deals. `head`, `child`: the two
roles. `engine`, `ray_engine`: how the head calls its children. `ray_watchdog`: none is left behind.
`checkpoint`, `run`: files and the whole run.

Imports `sampling`, `checkpoint`, `config`, `memory_estimate`, `regret_kernels` and `run`.
"""
