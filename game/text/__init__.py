"""Text formats: ACPC's match states, Slumbot's lines, actions in words, and ranges as people write them.

Imports `hands`, `arrays`, `betting`, `cards`, `definition` and `errors`.
"""
