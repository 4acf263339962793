"""Arrays on disk with a checked header, written under a temporary name and renamed.

Imports nothing else of the room.
"""
