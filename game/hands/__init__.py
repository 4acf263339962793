"""Hands: numbering, suit-isomorphic indexing, dealing, ranks, showdowns of one hand or of whole ranges, and what they pay.

Imports `primitives`, `arrays`, `betting`, `cards`, `compiled`, `definition` and `kept_tables`.
"""
