"""Duplicate matches and comparisons: players as processes or in memory, pairs, and results with intervals.

Imports `matches.table`, `matches.engine` and `matches.scoring`.
"""
