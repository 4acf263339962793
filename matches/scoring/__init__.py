"""What a hand was worth: all-in expectation, expectation over all hands, AIVAT, local best response.

Imports `matches.table` for logs and `matches.engine` for hands played in memory.
"""
