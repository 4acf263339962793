"""`make demo-network`: a broker, two workers, a comparison split over them, and `watch` beside it."""

import contextlib
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

from foldwise.cli.support.local_broker import LocalBroker

_RUNS = Path("runs/demo-network")
_STRATEGY = _RUNS / "strategies" / "tiny"
_SOLVE = ["solve", "hunl-tiny", "-o", str(_STRATEGY), "--seconds", "10"]
_COMPARE = [
    *("compare", str(_STRATEGY), "--variants", "none,purify,new(0.2)", "--opponents", "bot:strength", "bot:random"),
    *("--hands", "50000", "--no-exploitability"),
]


def _show(words: list[str]) -> None:
    print(f"\n$ foldwise {shlex.join(words)}", flush=True)


def _foldwise(words: list[str]) -> list[str]:
    return [sys.executable, "-m", "foldwise.cli.main", *words]


def _start(stack: contextlib.ExitStack, words: list[str]) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(_foldwise(words), stdin=subprocess.DEVNULL)
    stack.callback(_end, process)
    return process


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Interrupt the process as Ctrl-C would, and wait for it."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(10.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def run() -> int:
    """Every step with its command line; the first failure ends the demo."""
    _RUNS.mkdir(parents=True, exist_ok=True)
    if not (_STRATEGY / "manifest.json").exists():
        _show(_SOLVE)
        if subprocess.run(_foldwise(_SOLVE), check=False).returncode:
            return 1
    with contextlib.ExitStack() as stack:
        broker = stack.enter_context(LocalBroker(_RUNS))
        print(f"\nbroker: {broker.name} at {broker.url}", flush=True)
        for name in ("north", "south"):
            words = ["worker", "--broker", broker.url, "--strategies", str(_STRATEGY.parent), "--name", name]
            words += ["--threads", "1"]
            _show(words)
            _start(stack, words)
        watch = ["watch", "--broker", broker.url]
        _show(watch)
        watching = _start(stack, watch)
        split = [*_COMPARE, "--broker", broker.url]
        _show(split)
        start = time.monotonic()
        code = subprocess.run(_foldwise(split), check=False).returncode
        _end(watching)
        if code:
            return code
        print(
            f"\nsplit over two workers: {time.monotonic() - start:.1f} s with starting up; and once more, here alone:"
        )
        _show(_COMPARE)
        code = subprocess.run(_foldwise(_COMPARE), check=False).returncode
        last = ["watch", "--broker", broker.url, "--once"]
        _show(last)
        return subprocess.run(_foldwise(last), check=False).returncode or code


if __name__ == "__main__":
    sys.exit(run())
