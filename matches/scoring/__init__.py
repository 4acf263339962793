"""What a hand was worth: all-in expectation, expectation over all hands, AIVAT, local best response.

Imports `table` for logs, `engine` for hands played in memory, `plan`, `results`, `scores` and `statistics`.
"""
