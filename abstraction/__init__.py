"""Hand strength, buckets, bet sizes and the abstract game they make together."""
