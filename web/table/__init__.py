"""Sessions at the table: who is played against, hands as they are kept and shown, their scores, the queue of solves.

Imports nothing else of the room.
"""
