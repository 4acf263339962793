"""Duplicate matches and comparisons: players as processes or in memory, pairs, and results with intervals.

Imports `table`, `engine`, `scoring`, `plan`, `result_file`, `results`, `scores` and `statistics`.
"""
