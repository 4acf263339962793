"""Several hosts on one machine: network namespaces, joined by a switch of ours that delays frames and can cut a host off.

A host has one interface, `eth0`, whose other end lies in the switch's own namespace: nothing reaches the machine's network.
The switch copies frames from socket to socket, because the kernel's own delay (`tc netem`) is not built into every kernel.
Needs Linux, root and `ip` (Debian's iproute2); `missing()` says what is not there.
"""

import contextlib
import heapq
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

_SOL_PACKET, _PACKET_VNET_HDR = 263, 15  # linux/if_packet.h
_HEADER = 10  # bytes before a frame: its checksum may be left to a card that is not there, and it may be many segments
_LARGEST = 1 << 17
_ALL = 0x0003  # ETH_P_ALL


def missing() -> str:
    """Why there can be no hosts here; empty if there can."""
    if sys.platform != "linux":
        return "network namespaces are Linux's"
    if os.geteuid() != 0:
        return "network namespaces need root"
    if shutil.which("ip") is None:
        return "there is no `ip`: install iproute2"
    try:
        Hosts(1, 0.0).close()
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", None) or str(error)
        return f"no network namespace can be made ({said.strip()})"
    return ""


class Hosts:
    """Some hosts and their switch; close them when done."""

    def __init__(self, count: int, delay_seconds: float):
        self.names = [f"foldwise-{os.getpid()}-{host}" for host in range(count)]
        self.addresses = [f"10.213.0.{host + 1}" for host in range(count)]
        self._switch = f"foldwise-{os.getpid()}-switch"
        self._process: subprocess.Popen[str] | None = None
        try:
            _ip("netns", "add", self._switch)
            for host, (name, address) in enumerate(zip(self.names, self.addresses)):
                _ip("netns", "add", name)
                _ip("-n", name, "link", "set", "lo", "up")
                _ip("-n", name, "link", "add", "eth0", "type", "veth", "peer", f"port{host}", "netns", self._switch)
                _ip("-n", name, "address", "add", f"{address}/24", "dev", "eth0")
                _ip("-n", name, "link", "set", "eth0", "up")
                _ip("-n", name, "route", "add", "default", "dev", "eth0")  # programs look up their address by it
                _ip("-n", self._switch, "link", "set", f"port{host}", "up")
            words = [sys.executable, __file__, str(delay_seconds), *self.names]
            self._process = subprocess.Popen(
                ["ip", "netns", "exec", self._switch, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            self._ask("count")  # it runs
        except BaseException:
            self.close()
            raise

    def on(self, host: int, *words: str) -> list[str]:
        """The command that runs a program on a host."""
        return ["ip", "netns", "exec", self.names[host], *words]

    def runs_on(self, host: int, process: int) -> bool:
        """Whether a process lives on a host: by the kernel's number of its namespace."""
        return Path(f"/proc/{process}/ns/net").stat().st_ino == Path("/run/netns", self.names[host]).stat().st_ino

    def cut(self, host: int) -> None:
        """From now on nothing comes from this host or reaches it; nobody is told."""
        self._ask(f"cut {host}")

    def carried_bytes(self) -> list[int]:
        """Of frames that came from each host so far."""
        counts: list[int] = self._ask("count")
        return counts

    def _ask(self, words: str) -> Any:
        assert self._process is not None and self._process.stdin is not None and self._process.stdout is not None
        print(words, file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise OSError("the switch ended")
        return json.loads(answer)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End everything that runs on the hosts, and the hosts."""
        if self._process is not None:
            self._process.communicate()  # closes its input, which ends it
        for name in self.names:
            if Path("/run/netns", name).exists():
                end_programs(name)
                _ip("netns", "delete", name)
        if Path("/run/netns", self._switch).exists():
            _ip("netns", "delete", self._switch)


def _ip(*words: str) -> str:
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True).stdout


def end_programs(name: str) -> None:
    """Kill every process on a host, as when its power is cut."""
    while processes := _ip("netns", "pids", name).split():
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(process), signal.SIGKILL)
        time.sleep(0.01)  # until the kernel has ended them: they are not children of ours, so cannot be waited for


def switch_frames(delay_seconds: float, count: int) -> None:
    """Pass frames between interfaces until standard input ends; a line there, `cut N` or `count`, is answered with counts."""
    ports = []
    for host in range(count):
        port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL))
        port.setsockopt(_SOL_PACKET, _PACKET_VNET_HDR, 1)
        port.bind((f"port{host}", _ALL))
        port.setblocking(False)
        ports.append(port)
    waiting: list[tuple[float, int, int, bytes]] = []  # when, number, from which port, frame
    known: dict[bytes, int] = {}  # the port of an address
    carried, cut, number = [0] * len(ports), set[int](), 0
    while True:
        patience = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        ready = select.select([*ports, sys.stdin], [], [], patience)[0]
        for source, port in enumerate(ports):
            if port in ready:
                frame, (_, _, kind, *_) = port.recvfrom(_LARGEST)
                if kind != socket.PACKET_OUTGOING and source not in cut:
                    carried[source] += len(frame) - _HEADER
                    known[frame[_HEADER + 6 : _HEADER + 12]] = source
                    heapq.heappush(waiting, (time.monotonic() + delay_seconds, number, source, frame))
                    number += 1
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, source, frame = heapq.heappop(waiting)
            to = known.get(frame[_HEADER : _HEADER + 6])
            for target in [to] if to is not None else range(len(ports)):
                if target != source and not {source, target} & cut:
                    with contextlib.suppress(BlockingIOError):  # a full queue loses frames, as on any network
                        ports[target].send(frame)
        if sys.stdin in ready:
            words = sys.stdin.readline().split()
            if not words:
                return
            if words[0] == "cut":
                cut.add(int(words[1]))
            print(json.dumps(carried), flush=True)


if __name__ == "__main__":
    switch_frames(float(sys.argv[1]), len(sys.argv) - 2)
    for name in sys.argv[2:]:  # whoever made the hosts may have been killed
        end_programs(name)
