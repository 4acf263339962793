"""What commands print: results to stdout, as text or as one JSON object; progress to stderr."""

import json
import sys
import time
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from rich.console import Console

if TYPE_CHECKING:
    from rich.progress import Progress
    from rich.table import Table

# Without a terminal there is no width to fit into: columns are not cut. Names and paths are text, never markup.
stdout = Console(highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else 160)
stderr = Console(stderr=True, highlight=False, markup=False, emoji=False)


def emit(result: Mapping[str, object], as_json: bool, show: Callable[[], None]) -> None:
    """Print a result: as one JSON object, records in it by their fields; or as text by calling `show`."""
    ProgressLine.clear()
    if as_json:
        print(json.dumps(result, default=record_fields))
    else:
        show()


def record_fields(record: Any) -> dict[str, object]:
    """A record inside a result: a dataclass, or a model of pydantic."""
    if is_dataclass(record):
        return {field.name: getattr(record, field.name) for field in fields(record)}
    named: dict[str, object] = record.model_dump()
    return named


def text_table(headings: Iterable[str], left: Container[str], title: str | None = None) -> "Table":
    """A table without lines; columns stand to the right, but for the headings in `left`."""
    from rich.table import Table

    table = Table(box=None, header_style="bold", title=title)
    for heading in headings:
        table.add_column(heading, justify="left" if heading in left else "right")
    return table


def against(boards_counted: int | None) -> str:
    """What an exploitability was measured against, if that is a sample."""
    return "" if boards_counted is None else f" (against a sample of {boards_counted:,} of 134,459 boards)"


def plus_minus(mean: float, half_width: float) -> str:
    """A mean with the half-width of its interval."""
    return f"{mean:+.1f} ± {half_width:.1f}"


_TERMINAL_SECONDS, _LINE_SECONDS = 0.2, 10.0
_LEAST_SHARE = (
    0.0005  # done before the pace says anything: the first steps are small, and a kernel may be compiled in them
)
_BAR_COLUMNS = 60  # a narrower terminal has room for words and numbers only


class ProgressLine:
    """Progress of long work on stderr: a bar on a terminal, gone when the result is printed; elsewhere an occasional line.

    Under --json there is none: the reader of the one object on stdout may have redirected stderr to the same place.
    """

    silent = False
    _shown: ClassVar[list["Progress"]] = []  # bars on the screen

    def __init__(self, label: str, console: Console = stderr, clock: Callable[[], float] = time.monotonic):
        self._label = label
        self._console = console
        self._clock = clock
        self._interval = _TERMINAL_SECONDS if console.is_terminal else _LINE_SECONDS
        self._last = clock()
        self._share = 0.0
        self._first: tuple[float, float] | None = None  # time of this stage's first update, and its share then
        self._bar: Progress | None = None

    def update(self, text: str, share: float | None = None) -> None:
        """Report how far the work is; `share` (0 to 1) adds percent and time left."""
        now = self._clock()
        if share is not None:
            if self._first is None or share < self._share:  # a new stage of the work has its own clock
                self._first = (now, share)
            self._share = share
        if self.silent or now - self._last < self._interval:
            return
        self._last = now
        left = self._left(now)
        if self._console.is_terminal:
            self._draw(text, left)
        else:
            self._console.print(f"{self._label}: {text}{', ' if left else ''}{left}", soft_wrap=True)

    def _left(self, now: float) -> str:
        """Percent, and the time left at the pace since the first update, since a resumed run has a head start."""
        if self._first is None or self._share <= 0.0:
            return ""
        start, before = self._first
        if self._share - before < _LEAST_SHARE:
            return f"{100 * self._share:.0f}%"
        seconds = (now - start) * (1.0 - self._share) / (self._share - before)
        return f"{100 * self._share:.0f}%, {_duration(seconds)} left"

    def _draw(self, text: str, left: str) -> None:
        from rich.progress import BarColumn, Progress, TextColumn
        from rich.table import Column

        if self._bar is None:
            self._bar = Progress(
                TextColumn(
                    "{task.description}",
                    markup=False,
                    table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis"),
                ),
                *([BarColumn(bar_width=20)] if self._console.width >= _BAR_COLUMNS else []),
                TextColumn("{task.fields[left]}", markup=False, table_column=Column(no_wrap=True)),
                console=self._console,
                transient=True,
                auto_refresh=False,
                expand=True,
            )
            self._bar.add_task(self._label, total=1.0, left="")
            self._bar.start()
            self._shown.append(self._bar)
        task = self._bar.task_ids[0]
        self._bar.update(task, description=f"{self._label}: {text}", completed=self._share, left=left, refresh=True)

    def say(self, text: str) -> None:
        """Print a line that stays on the screen."""
        if not self.silent:
            self._console.print(f"{self._label}: {text}", soft_wrap=True)

    @classmethod
    def clear(cls) -> None:
        """Remove all bars from the screen before something else is printed."""
        while cls._shown:
            cls._shown.pop().stop()


def _duration(seconds: float) -> str:
    """`45 s`, `12 min`, `3.5 h`."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
