"""Products of reaches with a matrix of bucket pairs: by BLAS, and by the entries that are not zero.

Usage: python benchmarks/sparse_product.py [--buckets 4096] [--rows 4536]

Zeros come in blocks, as they do where a bucket of the street before is given up with all the buckets it becomes.
"""

import argparse
import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from foldwise.solver.full_width import sparse_product

BLOCK = 8
SHARES = (0.05, 0.1, 0.2, 0.3, 0.4)
REPEATS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--buckets", type=int, default=4096)
    parser.add_argument("--rows", type=int, default=4536, help="ends of the river by a fold, in limit hold'em")
    given = parser.parse_args()
    rng = np.random.default_rng(1)
    matrix = rng.random((given.buckets, given.buckets), dtype=np.float32)
    rows = np.arange(given.rows)
    out = np.empty((given.rows, given.buckets), dtype=np.float32)
    threads = os.cpu_count() or 1  # as many as BLAS takes
    with ThreadPoolExecutor(threads) as pool:
        for share in SHARES:
            reach = rng.random(out.shape, dtype=np.float32)
            reach *= np.repeat(rng.random((given.rows, given.buckets // BLOCK)) < 2 * share, BLOCK, axis=1)
            reach *= rng.random(out.shape) < 0.5
            seconds = []
            for most in (0.0, 1.0):  # BLAS whatever the share, entries whatever the share
                sparse_product._MOST_ENTRIES_SHARE = most
                taken = []
                for _ in range(REPEATS + 1):  # the first compiles
                    start = time.perf_counter()
                    sparse_product.multiply(reach, rows, matrix, out, pool, threads)
                    taken.append(time.perf_counter() - start)
                seconds.append(min(taken[1:]))
            print(
                f"products, {given.rows:,} x {given.buckets:,} x {given.buckets:,}, {share:.0%} of reaches not zero, "
                f"{threads} thread(s): BLAS {seconds[0]:.3f} s, by entries {seconds[1]:.3f} s, "
                f"ratio {seconds[0] / seconds[1]:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
