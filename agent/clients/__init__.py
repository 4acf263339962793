"""Clients: the player's end of an ACPC dealer and of Slumbot's HTTP interface.

Imports `player`.
"""
