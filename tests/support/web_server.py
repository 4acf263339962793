"""What the tests of the table share: a real server process, and plain HTTP to it."""

import contextlib
import hashlib
import http.client
import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from foldwise.game.cards import card_text
from foldwise.web.table.hand_journal import HandJournal, HandRecord
from foldwise.web.table.session import HAND_FILE
from tests.support.places import ROOT

SECONDS = 600.0  # of any wait: the machine may be busy, and the first call of a kernel compiles it


class ServerProcess:
    """`foldwise serve --json` as a process of its own, which searches only where a test asks for it."""

    def __init__(self, *arguments: str):
        arguments = arguments if "--search" in arguments else (*arguments, "--search", "off")
        words = [sys.executable, "-m", "foldwise.cli.main", "serve", *arguments, "--no-open", "--json"]
        self.process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        timer = threading.Timer(SECONDS, self.process.kill)
        timer.start()
        line = self.process.stdout.readline()
        timer.cancel()
        assert line, self.process.stderr.read()
        self.said = json.loads(line)
        self.url: str = self.said["url"]
        self.host = urlsplit(self.url).netloc

    def kill(self) -> None:
        """As `kill -9` does."""
        self.process.kill()
        self.process.wait()

    def interrupt(self) -> tuple[int, str]:
        """Interrupt as Ctrl-C does; returns the exit code and stderr."""
        self.process.send_signal(signal.SIGINT)
        _, errors = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, errors

    def request(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """One request on a connection of its own: status, headers, body."""
        connection = http.client.HTTPConnection(self.host, timeout=SECONDS)
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        usual = {"Content-Type": "application/json"} if data is not None else {}
        try:
            connection.request(method, path, data, usual | (headers or {}))
            answer = connection.getresponse()
            return answer.status, {key.lower(): value for key, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def call(self, name: str, body: Any, prefix: str = "/api/") -> dict[str, Any]:
        """A call of Slumbot's HTTP interface."""
        status, _, data = self.request("POST", prefix + name, body)
        assert status == 200, data
        return json.loads(data)


@contextlib.contextmanager
def serving(*arguments: str) -> Iterator[ServerProcess]:
    server = ServerProcess(*arguments)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.kill()
        for stream in (server.process.stdout, server.process.stderr):
            if stream is not None:
                stream.close()


def session_folder(folder: Path, token: str) -> Path:
    """Where the server keeps a session."""
    return folder / hashlib.sha256(token.encode()).hexdigest()[:24]


def kept_hand(folder: Path, token: str) -> HandRecord:
    """The deal of a session's hand in play, as only the server may know it."""
    kept = HandJournal(session_folder(folder, token) / HAND_FILE).read()
    assert kept is not None
    return kept[0]


def told(card: int, text: str) -> bool:
    """Whether a text names a card: `5c` by itself, not the end of a bet that was called (`b625c`)."""
    return re.search(rf"(?<![0-9A-Za-z]){card_text(card)}(?![0-9A-Za-z])", text) is not None


def play_passively(call, answer: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Check and call to the end of a hand: the last answer, and all of them. `call` takes an increment."""
    answers = [answer]
    while "winnings" not in answer:
        assert "error_msg" not in answer, answer
        last = answer["action"].rpartition("/")[2]
        facing = "b" in last or (last == "" and "/" not in answer["action"]) or answer["action"] == "c"
        incr = "c" if facing and answer["action"] != "c" else "k"
        answer = call(incr)
        answers.append(answer)
    return answer, answers
