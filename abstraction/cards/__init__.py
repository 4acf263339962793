"""Card abstraction: hand strength, buckets by percentile, k-means and hierarchy, and the tables that hold them.

Imports `storage` and `threads`.
"""
