"""What commands print: results to stdout, as text or as one JSON object; progress to stderr."""

import json
import sys
import time
from collections.abc import Callable, Mapping

from rich.console import Console

# Off a terminal there is no width to fit: tables keep their columns whole. Names and paths are text, never markup.
stdout = Console(highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else 160)
stderr = Console(stderr=True, highlight=False, markup=False, emoji=False)


def emit(result: Mapping[str, object], as_json: bool, show: Callable[[], None]) -> None:
    """Print a result: as one JSON object, or for people by calling `show`."""
    if as_json:
        print(json.dumps(result))
    else:
        show()


def against(boards_counted: int | None) -> str:
    """What an exploitability was measured against, where that is a sample."""
    return "" if boards_counted is None else f" (against a sample of {boards_counted:,} of 134,459 boards)"


def plus_minus(mean: float, half_width: float) -> str:
    """A mean with the half-width of its interval."""
    return f"{mean:+.1f} ± {half_width:.1f}"


class ProgressLine:
    """Progress of long work on stderr: one line rewritten on a terminal, a line every ten seconds otherwise."""

    def __init__(self, label: str, interval_seconds: float | None = None):
        self._label = label
        self._terminal = sys.stderr.isatty()
        self._interval = interval_seconds if interval_seconds is not None else (0.2 if self._terminal else 10.0)
        self._start = self._last = time.monotonic()
        self._share = 0.0

    def update(self, text: str, share: float | None = None) -> None:
        """Say where the work stands; `share` (0 to 1) adds percent and time left."""
        now = time.monotonic()
        if share is not None:
            if share < self._share:  # another stage of the work: its own clock
                self._start = now
            self._share = share
        if now - self._last < self._interval:
            return
        self._last = now
        parts = [self._label, text]
        if share is not None and share > 0.01:
            left = (now - self._start) * (1.0 - share) / share
            parts.append(f"{100 * share:.0f}%, {left:.0f} s left")
        self._write(": ".join(parts[:2]) + "".join(f", {part}" for part in parts[2:]))

    def say(self, text: str) -> None:
        """A line that stays."""
        self._write(f"{self._label}: {text}", end="\n")

    def _write(self, line: str, end: str | None = None) -> None:
        if self._terminal:
            print(f"\r\x1b[K{line}", end=end or "", file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)
