"""A broker process on this machine for demos, tests and benchmarks: mosquitto where it is installed, else our own."""

import contextlib
import getpass
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

_START_SECONDS = 120.0  # far more than a loaded machine needs
_END_SECONDS = 5.0


def find_mosquitto() -> str | None:
    """mosquitto's path; Debian installs servers outside a user's PATH."""
    return shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin:/opt/homebrew/sbin")


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


class LocalBroker:
    """A broker process on its own port; `config` holds further lines of mosquitto's configuration."""

    def __init__(
        self,
        folder: Path,
        config: str = "",
        listener_config: str = "",
        port: int | None = None,
        prefer_own: bool = False,
    ):
        self._folder = folder
        self._program = None if prefer_own else find_mosquitto()
        if self._program is None and (config or listener_config):
            raise FileNotFoundError("mosquitto is not installed: this configuration needs it")
        self._config = config
        self._listener_config = listener_config
        self.port = port or free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def name(self) -> str:
        return "mosquitto" if self._program is not None else "own"

    @property
    def url(self) -> str:
        return f"mqtt://127.0.0.1:{self.port}"

    @property
    def process(self) -> int:
        """Its process id, which changes with each start."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start, and return once it accepts connections."""
        if self._program is not None:
            anonymous = "" if "allow_anonymous" in self._config else "allow_anonymous true\n"
            path = self._folder / f"mosquitto-{self.port}.conf"
            listener = f"listener {self.port} 127.0.0.1\n{self._listener_config}"
            # As root it would switch to another user, who may not be able to read our folder.
            user = f"user {getpass.getuser()}\n"
            path.write_text(f"{user}{anonymous}set_tcp_nodelay true\n{self._config}{listener}", encoding="utf-8")
            arguments = [self._program, "-c", str(path)]
        else:
            arguments = [sys.executable, "-m", "foldwise.matches.network.broker", str(self.port)]
        with (self._folder / f"{self.name}-{self.port}.log").open("ab") as log:
            self._process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + _START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{self.name} did not start; its output is in {log.name}")
            time.sleep(0.02)  # there is no event for an open port

    def _answers(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1.0):
            return True
        return False

    def kill(self) -> None:
        """Kill it at once, as in a crash."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                self.kill()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()
