"""Reading a strategy: its rows at typed states, as a table, and as OpenSpiel's policy.

Imports `following`.
"""
