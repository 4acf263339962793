"""The rest of a hand on the turn or the river, solved over all hands without card abstraction.

Imports `full_width` for its schedules and `response` for its results.
"""
