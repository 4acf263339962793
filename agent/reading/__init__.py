"""Reading a strategy: its rows at states somebody types, as a table, and as OpenSpiel's policy.

Imports `following`.
"""
