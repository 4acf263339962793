"""What kernels are made of: random numbers, vectors of eight or sixteen lanes, and a hint to load memory early.

Imports `compiled`.
"""
