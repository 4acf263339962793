"""Bots at the HTTP interface: hands per second, response times, memory of the server.

    python benchmarks/http_door.py STRATEGY [--sessions 50] [--hands 20000] [--search off|fast] [--save]

Starts `foldwise serve` as a process of its own and plays it from this one, which shares the machine's cores: every session
checks and calls, one request after another. Memory is the server's resident set after each quarter of the hands. CPU is the
server's alone, so it can be compared on a busy machine; times of an answer cannot.
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

_PARTS = 4


class Client:
    """One session on one connection."""

    def __init__(self, address: tuple[str, int], took: list[float]):
        self._address = address
        self._took = took
        self._token: str | None = None

    async def open(self) -> None:
        self._reader, self._writer = await asyncio.open_connection(*self._address)

    async def call(self, name: str, **body: Any) -> dict[str, Any]:
        data = json.dumps(body).encode()
        lines = [f"POST /api/{name} HTTP/1.1", "Host: localhost", f"Content-Length: {len(data)}", "", ""]
        head = "\r\n".join(lines)
        start = time.perf_counter()
        self._writer.write(head.encode() + data)
        headers = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        length = int(headers.partition(b"content-length: ")[2].partition(b"\r\n")[0])
        answer: dict[str, Any] = json.loads(await self._reader.readexactly(length))
        self._took.append(time.perf_counter() - start)
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


async def play(url: str, sessions: int, hands: int, process: int) -> dict[str, Any]:
    parts = urlsplit(url)
    assert parts.hostname is not None and parts.port is not None
    took: list[float] = []
    clients = [Client((parts.hostname, parts.port), took) for _ in range(sessions)]
    for client in clients:
        await client.open()
        await client.hand()
    took.clear()
    begun = ended = 0
    memory: list[float] = []

    async def work(client: Client) -> None:
        nonlocal begun, ended
        while begun < hands:
            begun += 1
            await client.hand()
            ended += 1
            if ended * _PARTS // hands > len(memory):
                memory.append(resident_bytes(process) / 1e6)

    start, cpu = time.perf_counter(), cpu_seconds(process)
    await asyncio.gather(*map(work, clients))
    seconds = time.perf_counter() - start
    return {
        "sessions": sessions,
        "hands": hands,
        "hands_per_second": hands / seconds,
        "answers": len(took),
        "p50_ms": 1000 * float(np.percentile(took, 50)),
        "p99_ms": 1000 * float(np.percentile(took, 99)),
        "cpu_ms_an_answer": 1000 * (cpu_seconds(process) - cpu) / len(took),
        "memory_mb": [round(size, 1) for size in memory],
        "load": os.getloadavg()[0],
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("strategy")
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--hands", type=int, default=20_000)
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
                found = asyncio.run(play(url, given.sessions, given.hands, server.pid))
            finally:
                server.terminate()
    print(json.dumps(found, indent=1))
    if given.save:
        columns = (
            "sessions",
            "hands",
            "hands/s",
            "p50, ms",
            "p99, ms",
            "CPU of an answer, ms",
            "memory by quarters, MB",
        )
        figures = (found[key] for key in ("hands_per_second", "p50_ms", "p99_ms", "cpu_ms_an_answer"))
        memory = " ".join(f"{size:.0f}" for size in found["memory_mb"])
        row = (given.sessions, given.hands, *(significant(figure, 3) for figure in figures), memory)
        title = "Bots at the HTTP door, " + ("tables only" if given.search == "off" else f"search {given.search}")
        save(f"speed_door_{given.search}", title, columns, [row], None)


if __name__ == "__main__":
    main()
