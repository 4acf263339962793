"""Matches for people: hands explained and replayed, charts, the HTML page, hand histories, duels.

Imports `table`, `scoring`, `plan` and `statistics`.
"""
