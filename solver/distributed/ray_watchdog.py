"""Ends the processes that our own cluster would leave behind when the head is killed.

The kernel ends Ray's daemons with the head, and the children with the daemon; Ray's two agents, though, try for a minute
to report the death of their daemon to a server that died as well. A separate process waits for the head's end, which
closes its standard input, and kills the remaining ones by their ids. Linux only: elsewhere the agents take their minute.
"""

import os
import subprocess
import sys
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

# Plain Python without our imports, so that it is cheap. The start time tells a process from a later one with the same id.
_WATCH = """
import os, signal, sys
sys.stdin.read()
for word in sys.argv[1:]:
    process, _, start = word.partition(":")
    try:
        with open(f"/proc/{process}/stat") as file:
            if file.read().rpartition(")")[2].split()[19] == start:
                os.kill(int(process), signal.SIGKILL)
    except OSError:
        pass
"""


class Watchdog:
    """Watches over Ray's processes below this one that did not exist `before`."""

    def __init__(self, before: Collection[int]) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        if sys.platform == "linux":
            started = {process: start for process, start in _below(os.getpid()).items() if process not in before}
            words = [f"{process}:{start}" for process, start in started.items() if _is_of_ray(process)]
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", _WATCH, *words], stdin=subprocess.PIPE, start_new_session=True
            )

    def close(self) -> None:
        """End what is left now, and stop watching."""
        if self._process is not None:
            self._process.communicate()


def processes_below() -> Collection[int]:
    """All descendants of this process so far; none of Ray's if called before Ray starts."""
    return set(_below(os.getpid())) if sys.platform == "linux" else set()


def _is_of_ray(process: int) -> bool:
    """Whether a process is Ray's, by its command: another thread of ours may have started a program meanwhile."""
    with suppress(OSError):
        return b"ray" in Path(f"/proc/{process}/cmdline").read_bytes()
    return False


def _below(process: int) -> dict[int, str]:
    """The descendants of a process, and when each was started, in kernel ticks."""
    parents, starts = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)], starts[int(entry.name)] = int(fields[1]), fields[19]
    found: set[int] = set()
    while more := {child for child, parent in parents.items() if parent in found | {process}} - found:
        found |= more
    return {child: starts[child] for child in found}
