"""Whole matches in compiled code: the same hands as over the network, without the network.

Imports `table` for hands and logs, and `plan`.
"""
