"""Deals of a whole game: which buckets meet, how often, and who wins; listed, drawn or counted.

Imports `cards`, `storage` and `threads`.
"""
