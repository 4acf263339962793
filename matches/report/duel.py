"""One person against one player: a dealer, the opponent and the person's own seat in one process, over real sockets.

A folder keeps the sessions of a person at one game: `duel.log`, `duel-2.log` and so on. The bankroll is their sum.
"""

import json
import queue
import threading
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from foldwise.abstraction.storage.whole_file import write_whole
from foldwise.agent.clients.client import ClientReport, play_match
from foldwise.agent.player import Player
from foldwise.agent.strategy_player import Decision
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import DefinitionError, FormatError, ProtocolError
from foldwise.matches.report.explanations import Explained, as_record
from foldwise.matches.table.dealer import MatchSettings, run_match
from foldwise.matches.table.log import log_text, seat_values, state_lines
from foldwise.matches.table.loop import run_loop

DUEL_FILE = "duel.json"

_HOST = "127.0.0.1"
_PATIENCE_SECONDS = 24 * 3600
_START_SECONDS = 120.0  # for the dealer to open its ports: it may have to compile first
_END_SECONDS = 5.0


class DuelGame(BaseModel):
    """What all sessions in a folder share, in `duel.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = 1
    game: str
    definition: str


def duel_logs(folder: Path) -> list[Path]:
    """The sessions of a folder, the first one first."""
    numbered = {_session_number(path): path for path in folder.glob("duel*.log")}
    return [path for number, path in sorted(numbered.items()) if number]


def _session_number(path: Path) -> int:
    rest = path.stem.removeprefix("duel")
    if not rest:
        return 1
    return int(rest[1:]) if rest[0] == "-" and rest[1:].isascii() and rest[1:].isdigit() else 0


def next_session(folder: Path, game: DuelGame) -> Path:
    """The log of the next session in a folder, which must be of the same game; the first session creates the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = load_duel(folder)
    if kept is not None and kept.definition != game.definition:
        raise DefinitionError(f"{str(folder)!r} holds duels at {kept.game!r}: give another folder with -o")
    if kept is None:
        write_whole(folder / DUEL_FILE, game.model_dump_json(indent=1) + "\n")
    logs = duel_logs(folder)
    number = _session_number(logs[-1]) + 1 if logs else 1
    return folder / ("duel.log" if number == 1 else f"duel-{number}.log")


def load_duel(folder: Path) -> DuelGame | None:
    """The game of a folder of duels; None before the first duel."""
    path = folder / DUEL_FILE
    if not path.exists():
        return None
    try:
        return DuelGame.model_validate_json(path.read_text(encoding="utf-8"))
    except (ValidationError, json.JSONDecodeError, UnicodeDecodeError):
        raise FormatError(f"{path} is damaged: remove it, and the next duel writes a new one") from None


def bankroll(folder: Path) -> tuple[int, float]:
    """(hands, chips) of the person over all sessions in a folder."""
    won = [values[0] for log in duel_logs(folder) for values in seat_values(list(state_lines(log)))]
    return len(won), sum(won)


def play_duel(
    definition: GameDefinition,
    game: str,
    num_hands: int,
    seed: int,
    names: tuple[str, str],
    person: Player,
    opponent: Player,
    log: Path,
) -> ClientReport:
    """Play, `person` in the first seat, and log to `log`; what the person's seat saw.

    The dealer's time limits are a day, so that nobody is hurried. When the person's seat ends early, by an error or by
    Ctrl-C, the dealer notices, and what was finished stays in the log.
    """
    settings = MatchSettings(
        name=log.stem,
        game=game,
        definition=definition,
        num_hands=num_hands,
        seed=seed,
        players=names,
        quiet=True,
        response_ms=1000 * _PATIENCE_SECONDS,
        hand_ms=1000 * _PATIENCE_SECONDS,
        per_hand_ms=1000 * _PATIENCE_SECONDS,
    )
    lines: queue.Queue[str] = queue.Queue()  # the dealer's output: first its ports, last its score
    problems: list[str] = []

    def deal() -> None:
        try:
            run_loop(run_match(settings, lines.put, lambda data: problems.append(log_text(data)), log.parent))
        except Exception as error:  # noqa: BLE001  # passed on to the thread that waits for the ports
            problems.append(str(error))
            lines.put("")

    dealer = threading.Thread(target=deal, daemon=True)
    dealer.start()
    ports = lines.get(timeout=_START_SECONDS).split()
    if len(ports) != 2:
        raise ProtocolError(f"the dealer did not start: {' '.join(problems)}")
    threading.Thread(target=play_match, args=(opponent, definition, _HOST, int(ports[1])), daemon=True).start()
    try:
        return play_match(person, definition, _HOST, int(ports[0]), _PATIENCE_SECONDS)
    finally:
        dealer.join(_END_SECONDS)


class DecisionBook:
    """A strategy's decisions by hand, recorded by its listener."""

    def __init__(self) -> None:
        self.hands: dict[int, list[Decision]] = {}

    def add(self, decision: Decision) -> None:
        self.hands.setdefault(self.place(decision)[1], []).append(decision)

    @staticmethod
    def place(decision: Decision) -> tuple[int, int]:
        """(position, hand number) of a decision's state."""
        _, position, number, _ = decision.state.split(":", 3)
        return int(position), int(number)

    def explained(self, hand_number: int) -> Explained:
        """The decisions in the form of `matches.report.explanations`."""
        records = [
            as_record(decision, self.place(decision)[0], len(decision.steps), decision.action)
            for decision in self.hands.get(hand_number, [])
        ]
        return {record["action_number"]: record for record in records}
