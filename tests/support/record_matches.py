"""Records the matches of `tests/golden/match_*.json`: python -m tests.support.record_matches

The players are the built-in bots; deviant ones now and then write their answer in another way. The recordings were made
when the dealer reproduced recordings of the reference dealer byte for byte; making them anew needs such a check again.
"""

import asyncio
import json
import random
import tempfile
from collections.abc import Callable
from pathlib import Path

from foldwise.agent.bots import Bot
from foldwise.agent.clients.state_reader import StateReader
from foldwise.game.library import find_game
from tests.support.table import GOLDEN, THREE_PLAYER_LIMIT, Outcome, Table, make_settings, open_seat

VERSION = b"VERSION:2.0.0\r\n"
Deviation = Callable[[str, str, random.Random], str]
# Each gets the state and the action's text, and gives what is sent in place of the plain answer.
DEVIATIONS: dict[str, Deviation] = {
    "comment": lambda state, action, rng: f"# a word\r\n;another\n{state}:{action}\r\n",
    "line feed": lambda state, action, rng: f"{state}:{action}\n",
    "two returns": lambda state, action, rng: f"{state}:{action}\r\r\n",
    "capitals": lambda state, action, rng: f"MATCHSTATE:{state.partition(':')[2].upper()}:{action.upper()}\r\n",
    "alias": lambda state, action, rng: f"{state}:{action.replace('c', 'k').replace('r', 'b')}\r\n",
    "zero byte": lambda state, action, rng: f"{state}:{action}\0:f\r\n",
    "junk after": lambda state, action, rng: f"{state}:{action} and more\r\n",
    "blank line": lambda state, action, rng: f"\r\n{state}:{action}\r\n",
    "no state": lambda state, action, rng: f"{action}\r\n{state}:{action}\r\n",
    "wrong hand": lambda state, action, rng: f"{_other_hand(state)}:{action}\r\n{state}:{action}\r\n",
    "wrong position": lambda state, action, rng: f"MATCHSTATE:9{state[12:]}:{action}\r\n{state}:{action}\r\n",
    "twice": lambda state, action, rng: f"{state}:{action}\r\n" * 2,
    "free fold": lambda state, action, rng: f"{state}:f\r\n",
    "unknown letter": lambda state, action, rng: f"{state}:x\r\n",
    "no colon": lambda state, action, rng: f"{state}{action}\r\n",
    "blank before": lambda state, action, rng: f"{state}: {action}\r\n",
    "echo alone": lambda state, action, rng: f"{state}\r\n",
    "any raise": lambda state, action, rng: (
        f"{state}:r{rng.choice((-5, 0, 1, 150, 99999, 2**31, 2**32 + 300, 10**20))}\r\n"
    ),
    "raise without size": lambda state, action, rng: f"{state}:r\r\n",
    "padded": lambda state, action, rng: f"{state}:{action[0]} +00{action[1:] or '7'}\r\n",
    "long comment": lambda state, action, rng: f"#{'y' * 4100}\r\n{state}:{action}\r\n",
    "half and half": lambda state, action, rng: f"{state[:15]}\r{state}:{action}\r\n{state}:{action}\r\n",
}


def _other_hand(state: str) -> str:
    head, position, hand, rest = state.split(":", 3)
    return f"{head}:{position}:{int(hand) + 1}:{rest}"


async def _player(port: int, bot: Bot, reader: StateReader, deviations: list[str], seed: int) -> tuple[bytes, bytes]:
    rng = random.Random(seed)
    incoming, outgoing = await open_seat(port)
    sent, received = bytearray(VERSION), bytearray()
    outgoing.write(VERSION)
    while line := await incoming.readline():
        received += line
        text = line.decode().rstrip("\r\n")
        state = reader.read(text)
        assert state is not None
        if state.is_turn():
            action = bot.choose(state).text(state.betting.definition.limit)
            answer = f"{text}:{action}\r\n"
            if deviations and rng.random() < 0.4:
                answer = DEVIATIONS[rng.choice(deviations)](text, action, rng)
            sent += answer.encode("latin-1")
            outgoing.write(answer.encode("latin-1"))
    outgoing.close()
    return bytes(sent), bytes(received)


async def _record(text: str, hands: int, seed: int, bots: list[str], deviant: list[int], folder: Path) -> None:
    settings = make_settings(text, hands, seed)
    table = Table(settings, folder)
    definition = settings.definition
    players = [
        _player(port, Bot(bot, seat), StateReader(definition), list(DEVIATIONS) if seat in deviant else [], seed + seat)
        for seat, (port, bot) in enumerate(zip(table.ports, bots))
    ]
    streams = await asyncio.gather(*players)
    outcome: Outcome = await table.finish()
    assert outcome.completed
    recording = {
        "definition": text,
        "hands": hands,
        "seed": seed,
        "sent": [sent.decode("latin-1") for sent, _ in streams],
        "received": [received.decode("latin-1") for _, received in streams],
        "log": outcome.log_lines("STATE") + outcome.log_lines("SCORE"),
        "complaints": outcome.complaints(),
    }
    name = "_".join([*bots, *(f"bad{seat + 1}" for seat in deviant), str(seed)])
    (GOLDEN / f"match_{name}.json").write_text(json.dumps(recording, indent=0) + "\n", encoding="utf-8")


def main() -> None:
    hunl, leduc = (find_game(name).definition.to_text() for name in ("hunl", "leduc"))
    plans = [
        (hunl, 25, 11, ["strength", "random"], []),
        (hunl, 40, 12, ["random", "random"], [0]),
        (hunl, 3, 15, ["raise", "raise"], [1]),
        (leduc, 40, 13, ["random", "strength"], [1]),
        (THREE_PLAYER_LIMIT, 20, 14, ["random", "strength", "random"], [0, 2]),
    ]
    for text, hands, seed, bots, deviant in plans:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(_record(text, hands, seed, bots, deviant, Path(folder)))


if __name__ == "__main__":
    main()
