"""One table: the ACPC dealer, its seats, the replies it accepts, and the log it writes.

Imports `game` and nothing of the other shelves.
"""
