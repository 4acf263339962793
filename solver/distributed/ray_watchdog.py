"""Ends what a cluster of our own would leave behind a killed head.

The kernel ends Ray's daemons with the head, and the children with the daemon; Ray's two agents, though, try for a minute
to report the death of their daemon to a server that died as well. A process of its own waits for the head's end, which
closes its standard input, and ends by their ids those that are still there. Linux only: elsewhere they take their minute.
"""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

# Plain Python without any of our imports, so that it costs nothing; a number that the system has given anew is another start.
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
    """Watches over the processes below this one, as they are now."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        if sys.platform == "linux":
            words = [f"{process}:{start}" for process, start in _below(os.getpid()).items()]
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", _WATCH, *words], stdin=subprocess.PIPE, start_new_session=True
            )

    def close(self) -> None:
        """End what is left now, and the watch."""
        if self._process is not None:
            self._process.communicate()


def _below(process: int) -> dict[int, str]:
    """The processes below one, and when each was started, in the kernel's ticks."""
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
