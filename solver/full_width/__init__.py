"""CFR over all deals at once: CFR, CFR+, LCFR, DCFR and DCFR+, on vectors of hands or batches of sequences.

Imports `solver.config` and kernels of regrets.
"""
