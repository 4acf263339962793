"""Translation: which bets of the abstract game a real bet is read as.

Imports nothing of its room.
"""
