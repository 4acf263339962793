"""Following a real hand through the abstract tree, and the probabilities where it stands.

Imports `mappings` and `postprocessing`.
"""
