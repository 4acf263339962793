"""One table: the ACPC dealer, its seats, the replies it accepts, and the log it writes.

Imports nothing else of the room.
"""
