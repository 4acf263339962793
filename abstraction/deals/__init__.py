"""Deals of a whole game: which buckets meet, how often, and who wins; listed, drawn or counted.

Imports `game`, `abstraction.cards`, `abstraction.threads` and `abstraction.storage`.
"""
