"""Bots at the HTTP interface: hands per second, response times, memory of the server.

    python benchmarks/http_door.py STRATEGY [--sessions 50] [--hands 20000] [--seconds S] [--search off|fast] [--save]

Starts `foldwise serve` as a process of its own and plays it from this one, which shares the machine's cores: every session
checks and calls, one request after another, until the hands are played or the seconds are over. Memory is the server's
resident set after each quarter of them. CPU is the server's alone, so it can be compared on a busy machine; times of an
answer cannot. Where the server searches, answers on turn and river are those that wait for solves, their own and others'.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from papers.record import add_save, save, significant

_SESSIONS = 50
_PARTS = 4
_TURN_CARDS = 4


class Client:
    """One session on one connection."""

    def __init__(self, address: tuple[str, int], took: list[tuple[float, bool]]):
        self._address = address
        self._took = took  # seconds of each answer, and whether it was on turn or river
        self._token: str | None = None

    async def open(self) -> None:
        self._reader, self._writer = await asyncio.open_connection(*self._address)

    async def call(self, name: str, **body: Any) -> dict[str, Any]:
        if self._reader.at_eof():  # the server hangs up on who asks nothing for 75 s, as while the others' first hands last
            await self.open()
        data = json.dumps(body).encode()
        lines = [f"POST /api/{name} HTTP/1.1", "Host: localhost", f"Content-Length: {len(data)}", "", ""]
        head = "\r\n".join(lines)
        start = time.perf_counter()
        self._writer.write(head.encode() + data)
        headers = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        length = int(headers.partition(b"content-length: ")[2].partition(b"\r\n")[0])
        answer: dict[str, Any] = json.loads(await self._reader.readexactly(length))
        self._took.append((time.perf_counter() - start, len(answer.get("board", ())) >= _TURN_CARDS))
        if "error_msg" in answer:
            raise RuntimeError(answer["error_msg"])
        return answer

    async def hand(self) -> None:
        answer = await self.call("new_hand", **({"token": self._token} if self._token else {}))
        self._token = answer["token"]
        while "winnings" not in answer:
            street = answer["action"].rpartition("/")[2]
            facing = "b" in street or (not street and "/" not in answer["action"])
            answer = await self.call("act", token=self._token, incr="c" if facing else "k")


def resident_bytes(process: int) -> int:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return 1024 * int(line.split()[1])
    return 0


def cpu_seconds(process: int) -> float:
    """User and system time of a process and its threads."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def percentiles(seconds: list[float]) -> dict[str, float]:
    return {f"p{part}_ms": 1000 * float(np.percentile(seconds, part)) if seconds else 0.0 for part in (50, 99)}


async def play(url: str, sessions: int, hands: int, limit: float, process: int) -> dict[str, Any]:
    parts = urlsplit(url)
    assert parts.hostname is not None and parts.port is not None
    took: list[tuple[float, bool]] = []
    clients = [Client((parts.hostname, parts.port), took) for _ in range(sessions)]
    for client in clients:
        await client.open()
    await asyncio.gather(*(client.hand() for client in clients))
    took.clear()
    begun = ended = 0
    memory: list[float] = []

    async def work(client: Client) -> None:
        nonlocal begun, ended
        while begun < hands and time.perf_counter() - start < limit:
            begun += 1
            await client.hand()
            ended += 1
            done = max(ended / hands, (time.perf_counter() - start) / limit)
            if done * _PARTS >= len(memory) + 1 and len(memory) < _PARTS:
                memory.append(resident_bytes(process) / 1e6)

    start, cpu = time.perf_counter(), cpu_seconds(process)
    await asyncio.gather(*map(work, clients))
    seconds = time.perf_counter() - start
    return {
        "sessions": sessions,
        "hands": ended,
        "hands_per_second": ended / seconds,
        "answers": len(took),
        "all": percentiles([time for time, _ in took]),
        "turn and river": percentiles([time for time, is_late in took if is_late]),
        "cpu_ms_an_answer": 1000 * (cpu_seconds(process) - cpu) / len(took),
        "memory_mb": [round(size, 1) for size in memory],
        "load": os.getloadavg()[0],
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("strategy")
    parser.add_argument("--sessions", type=int, default=_SESSIONS)
    parser.add_argument("--hands", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--search", default="off")
    add_save(parser)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        words = ["serve", given.strategy, "--port", "0", "--no-open", "--json", "-o", folder, "--search", given.search]
        command = [sys.executable, "-m", "foldwise.cli.main", *words]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            url = json.loads(server.stdout.readline())["url"]
            try:
                found = asyncio.run(play(url, given.sessions, given.hands, given.seconds, server.pid))
            finally:
                server.terminate()
    print(json.dumps(found, indent=1))
    if given.save:
        columns = (
            "the bot",
            "sessions",
            "hands",
            "hands/s",
            "p50, ms",
            "p99, ms",
            "turn and river: p50, ms",
            "turn and river: p99, ms",
            "CPU of an answer, ms",
            "memory by quarters, MB",
        )
        times = [found[part][key] for part in ("all", "turn and river") for key in ("p50_ms", "p99_ms")]
        figures = [found["hands_per_second"], *times, found["cpu_ms_an_answer"]]
        memory = " ".join(f"{size:.0f}" for size in found["memory_mb"])
        name = "tables only" if given.search == "off" else f"search {given.search}"
        row = (name, given.sessions, found["hands"], *(significant(figure, 3) for figure in figures), memory)
        load = f"load {os.getloadavg()[0]:.0f}, niceness {os.nice(0)}"
        few = "" if given.sessions == _SESSIONS else f"_{given.sessions}"
        save(f"speed_door_{given.search}{few}", "Bots at the HTTP door", columns, [row], None, load)


if __name__ == "__main__":
    main()
