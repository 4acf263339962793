"""CFR over all deals at once: CFR, CFR+, LCFR, DCFR and DCFR+, on vectors of hands or batches of sequences.

Imports `config`, `regret_kernels`, `samplers` and `side_by_side`.
"""
