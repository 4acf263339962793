"""The rest of a hand on the turn or the river, solved over all hands without card abstraction.

Imports `full_width` for its schedules, `response` for its results, `memory_estimate`, `samplers` and `side_by_side`.
"""
