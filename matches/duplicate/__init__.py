"""Duplicate matches and comparisons: players as processes or in memory, pairs, and results with intervals.

Imports `table`, `engine`, `scoring`, `plan`, `results`, `scores` and `statistics`.
"""
