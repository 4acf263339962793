"""Monte Carlo CFR: chance, external, outcome, average and public chance sampling, and the vector forms.

Imports `full_width` for its vectors, `config`, `regret_kernels`, `samplers` and `side_by_side`.
"""
