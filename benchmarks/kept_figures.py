"""Figures that are measured one observation at a time and kept in a file: stopped anywhere, a run goes on where it was.

A job is a key, how many observations it is to have, and a function that is made when the job begins and gives observation
number i in chips. Raising the number goes on from what is kept. CPU time is kept with each figure.
"""

import argparse
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from papers.record import Cell

from foldwise.abstraction.storage.whole_file import written_whole
from foldwise.matches.statistics import Estimate, estimate

Step = Callable[[int], float | tuple[float, float]]
_SAVE_SECONDS = 5.0


def cpu_time() -> float:
    """CPU-seconds of this process and of those it has waited for."""
    return sum(os.times()[:4])


class Job(NamedTuple):
    """One figure."""

    key: str  # everything its observations depend on
    count: int
    make: Callable[[], Step]
    beside: str = ""  # the key of a second figure, where a step gives two


class Kept(NamedTuple):
    """What is known of a figure."""

    values: list[float]
    cpu_seconds: float


class KeptFigures:
    """`FOLDER/figures.json`."""

    def __init__(self, folder: Path, unit_chips: float):
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / "figures.json"
        self._unit = unit_chips
        found = json.loads(self._path.read_text()) if self._path.exists() else {}
        self._kept = {key: Kept(one["values"], one["cpu_seconds"]) for key, one in found.items()}

    def run(self, jobs: Iterable[Job], cpu_seconds: float) -> Iterator[str]:
        """Do jobs in order until so much CPU time is spent; says what each found."""
        start = cpu_time()
        for job in jobs:
            if len(self.values(job.key)) < job.count and cpu_time() - start < cpu_seconds:
                self._observe(job, start + cpu_seconds)
                yield self.line(job)

    def foretell(self, jobs: Iterable[Job]) -> Iterator[str]:
        """Take two observations of each job, which are kept, and say what the rest of it costs."""
        total = 0.0
        for job in jobs:
            if len(self.values(job.key)) < min(2, job.count):
                self._observe(job._replace(count=min(2, job.count)), float("inf"))
            kept = self._kept[job.key]
            left = (job.count - len(kept.values)) * kept.cpu_seconds / max(1, len(kept.values))
            total += max(0.0, left)
            yield f"{job.key}: {len(kept.values)} of {job.count}, {max(0.0, left):,.0f} CPU-s left"
        yield f"{total:,.0f} CPU-s left in all"

    def line(self, job: Job) -> str:
        found, kept = self.estimate(job.key), self._kept[job.key]
        so_far = "" if found is None else f"{found.mean_mbb:+.0f} ± {found.ci95_mbb:.0f} mbb/h, "
        return f"{job.key}: {len(kept.values)} of {job.count}, {so_far}{kept.cpu_seconds:.0f} CPU-s"

    def values(self, key: str) -> np.ndarray:
        return np.array(self._kept[key].values if key in self._kept else [])

    def cpu_seconds(self, key: str) -> float:
        return self._kept[key].cpu_seconds if key in self._kept else 0.0

    def estimate(self, key: str) -> Estimate | None:
        """None with less than two observations."""
        values = self.values(key)
        return estimate(values, self._unit) if len(values) > 1 else None

    def counted(self, jobs: Iterable[Job]) -> str:
        """How many observations the known figures of these jobs have: a number, or from how many to how many."""
        counts = [len(self.values(job.key)) for job in jobs if len(self.values(job.key)) > 1]
        least, most = min(counts, default=0), max(counts, default=0)
        return f"{least:,}" if least == most else f"{least:,} to {most:,}"

    def difference(self, a: str, b: str) -> Estimate | None:
        """a less b, in pairs, as far as both have come."""
        both = min(len(self.values(a)), len(self.values(b)))
        return estimate(self.values(a)[:both] - self.values(b)[:both], self._unit) if both > 1 else None

    def _observe(self, job: Job, until: float) -> None:
        values, before = list(self.values(job.key)), self.cpu_seconds(job.key)
        beside = list(self.values(job.beside))[: len(values)]
        step = job.make()
        start, saved = cpu_time(), time.monotonic()

        def keep() -> None:
            self._kept[job.key] = Kept(list(values), before + cpu_time() - start)
            if job.beside:
                self._kept[job.beside] = Kept(list(beside), 0.0)  # its time is that of the first
            self._write()

        try:
            for i in range(len(values), job.count):
                found = step(i)
                first, *second = found if isinstance(found, tuple) else (found,)
                values.append(first)
                beside += second
                if time.monotonic() - saved > _SAVE_SECONDS:
                    keep()
                    saved = time.monotonic()
                if cpu_time() > until:
                    break
        finally:
            keep()

    def _write(self) -> None:
        with written_whole(self._path) as file:
            json.dump({key: one._asdict() for key, one in self._kept.items()}, file)


def cell(found: Estimate | None) -> Cell:
    return None if found is None else (round(found.mean_mbb), round(found.ci95_mbb))


def add_running(parser: argparse.ArgumentParser, folder: str) -> None:
    """Options of a script that measures this way."""
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--estimate", action="store_true", help="two observations of each figure, and what the rest costs"
    )
    parser.add_argument("--cpu-seconds", type=float, default=float("inf"), help="stop after so much CPU time")
    parser.add_argument("--print", dest="only_print", action="store_true", help="measure nothing, show what is known")
    parser.add_argument("-o", "--output", type=Path, default=Path(folder), help="keeps every observation")


def work(kept: KeptFigures, jobs: list[Job], given: argparse.Namespace) -> None:
    """What the options ask for, printed line by line."""
    if given.only_print:
        return
    for line in kept.foretell(jobs) if given.estimate else kept.run(jobs, given.cpu_seconds):
        print(line, flush=True)
