"""The flop solved up to its end, where the blueprint goes on in one of several ways that each hand may choose between.

Imports `ranges` for the blueprint's rows and buckets, and `blueprint_values` for cutting its tree.
"""
