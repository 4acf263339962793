"""One person against one player: a dealer, the opponent and the person's own seat in one process, over real sockets."""

import queue
import threading
from pathlib import Path

from foldwise.agent.client import ClientReport, play_match
from foldwise.agent.player import Player
from foldwise.agent.strategy_player import Decision
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import ProtocolError
from foldwise.matches.report.explanations import Explained, as_record
from foldwise.matches.table.dealer import MatchSettings, run_match
from foldwise.matches.table.loop import run_loop

_HOST = "127.0.0.1"
_PATIENCE_SECONDS = 24 * 3600
_START_SECONDS = 120.0  # for the dealer to open its ports: it may have to compile first
_END_SECONDS = 5.0


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

    Nobody is hurried: the time limits of the dealer are a day. When the person's seat ends early, by an error or by
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
    lines: queue.Queue[str] = queue.Queue()  # what the dealer prints: its ports first, its score last
    problems: list[str] = []

    def deal() -> None:
        try:
            run_loop(run_match(settings, lines.put, lambda data: problems.append(data.decode("latin-1")), log.parent))
        except Exception as error:  # noqa: BLE001  # handed over to the thread that waits for the ports
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
    """The decisions of a strategy by hand, as its listener hears them."""

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
        """The same as `matches.report.explanations` has it."""
        records = [
            as_record(decision, self.place(decision)[0], len(decision.steps), decision.action)
            for decision in self.hands.get(hand_number, [])
        ]
        return {record["action_number"]: record for record in records}
