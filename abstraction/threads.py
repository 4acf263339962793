"""Work in blocks on all cores, by threads that call kernels, which release the GIL."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

Report = Callable[[str, float], None]  # name of the stage, share done


def run_blocks(
    work: Callable[[int, int], None],
    total: int,
    stage: str = "",
    report: Report | None = None,
    block: int = 0,
    workers: int = 0,
) -> None:
    """Call `work(first, last)` over 0..total, by default in 32 blocks per core; the first error stops the rest."""
    workers = workers or os.cpu_count() or 1
    block = block or max(1, total // (32 * workers))
    starts = range(0, total, block)
    if workers == 1:
        for first in starts:
            work(first, min(first + block, total))
        return
    with ThreadPoolExecutor(workers) as pool:
        try:
            results = pool.map(lambda first: work(first, min(first + block, total)), starts)
            for done, _ in enumerate(results, start=1):
                if report is not None:
                    report(stage, done / len(starts))
        finally:  # do not wait for the remaining blocks on an interrupt
            pool.shutdown(wait=True, cancel_futures=True)
