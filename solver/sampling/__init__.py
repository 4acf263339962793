"""Monte Carlo CFR: chance, external, outcome, average and public chance sampling, and the vector forms.

Imports `config`, `regret_kernels`, `samplers` and `side_by_side`.
"""
