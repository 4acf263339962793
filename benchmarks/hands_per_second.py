"""Hands per second of whole matches, dealer and both players included: over tcp, several at once, and in memory.

    python benchmarks/hands_per_second.py [HANDS]

The floor is the rate of three processes that only pass short lines over loopback in plain Python: a match over tcp
cannot be faster than that, whatever its dealer and players do. Best of three; other work on the machine lowers all.
"""

import os
import socket
import sys
import tempfile
import time
from pathlib import Path

from foldwise.agent.player import make_player
from foldwise.game.library import PokerGame, find_game
from foldwise.matches.duplicate.match import play_match
from foldwise.matches.engine.compiled_match import MemoryMatch, play_in_memory
from foldwise.matches.plan import MatchPlan, create_folder

REPEATS = 3


def _pair() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        server, _ = listener.accept()
    for sock in (client, server):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return client, server


def floor_actions_per_second(count: int = 5000) -> float:
    """One process sends a line to two others and gets an answer from one of them, in turn."""
    pairs = [_pair(), _pair()]
    for client, _ in pairs:
        if os.fork() == 0:
            while data := client.recv(4096):
                if data.endswith(b"you\r\n"):
                    client.send(b"MATCHSTATE:0:0:c:AsKd|:c\r\n")
            os._exit(0)
    first, second = (server for _, server in pairs)
    start = time.perf_counter()
    for _ in range(count):
        first.send(b"MATCHSTATE:0:0:c:AsKd|:you\r\n")
        second.send(b"MATCHSTATE:1:0:c:|QsQd\r\n")
        first.recv(4096)
        first, second = second, first
    seconds = time.perf_counter() - start
    for client, server in pairs:
        client.shutdown(socket.SHUT_RDWR)
        client.close()
        server.close()
    for _ in pairs:
        os.wait()
    return count / seconds


def _played(log: Path) -> tuple[float, float, int]:
    """First question, last answer and number of actions in a transaction file."""
    lines = log.read_text().splitlines()
    return float(lines[0].split()[2]), float(lines[-1].split()[3]), len(lines)


def tcp_rates(hands: int, jobs: int) -> tuple[float, float]:
    """(hands, actions) a second of the two halves of a duplicate match, one after the other or at once."""
    game = find_game("hunl")
    assert isinstance(game, PokerGame)
    plan = MatchPlan(
        players=("bot:random", "bot:random"),
        game="hunl",
        definition=game.definition.to_text(),
        hands=hands,
        seed=1,
        repeat=1,
        over="tcp",
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "match"
        create_folder(path, plan)
        play_match(plan, path, jobs, lambda text, share: None)
        halves = [_played(path / f"0000.{order}.tlog") for order in ("AB", "BA")]
    actions = sum(half[2] for half in halves)
    if jobs == 1:
        seconds = sum(last - first for first, last, _ in halves)
    else:
        seconds = max(half[1] for half in halves) - min(half[0] for half in halves)
    return 2 * hands / seconds, actions / seconds


def memory_rate(bot: str, hands: int) -> float:
    game = find_game("hunl")
    assert isinstance(game, PokerGame)
    match = MemoryMatch("bench", "hunl", game.definition, hands, 1, ("A", "B"))
    players = (make_player(bot, 1), make_player(bot, 2))
    with tempfile.TemporaryDirectory() as folder:
        play_in_memory(match._replace(num_hands=10), players, Path(folder) / "warm.log")
        start = time.perf_counter()
        play_in_memory(match, players, Path(folder) / "match.log")
        return hands / (time.perf_counter() - start)


def main() -> None:
    hands = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    floor = max(floor_actions_per_second() for _ in range(REPEATS))
    print(f"floor, bare lines over loopback: {floor:8.0f} actions/s")
    tcp_rates(50, 1)
    one = max(tcp_rates(hands, 1) for _ in range(REPEATS))
    two = max(tcp_rates(hands, 2) for _ in range(REPEATS))
    print(
        f"tcp, one match at a time:        {one[1]:8.0f} actions/s {one[0]:8.0f} hands/s  {one[1] / floor:.0%} of floor"
    )
    print(
        f"tcp, two matches at once:        {two[1]:8.0f} actions/s {two[0]:8.0f} hands/s  {two[0] / one[0]:.2f} x one"
    )
    for bot in ("bot:call", "bot:random", "bot:strength"):
        rate = max(memory_rate(bot, 5_000 if bot == "bot:strength" else 200_000) for _ in range(REPEATS))
        print(f"memory, {bot:12}             {rate:27.0f} hands/s  {rate / one[0]:.0f} x tcp with bot:random")


if __name__ == "__main__":
    main()
