"""What people read of a match: hands explained and replayed, charts, the HTML page, hand histories, duels.

Imports `table`, `scoring`, `plan` and `statistics`.
"""
