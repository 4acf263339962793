"""Monte Carlo CFR: chance, external, outcome, average and public chance sampling, and the vector forms.

Imports `solver.config`, kernels of regrets, and `full_width` for its vectors; no responses, no runs.
"""
