"""What runs in the processes of a match over tcp: one dealer, or one built-in player."""

import gc
import json
import logging
import os
import sys
import threading
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path

from foldwise.agent.clients.client import play_match
from foldwise.agent.player_spec import PlayerSpec
from foldwise.game.definition import parse_definition
from foldwise.game.hands.dealing import Shoe
from foldwise.game.hands.evaluator import evaluator_tables
from foldwise.game.library import PokerGame, find_game
from foldwise.matches.duplicate.search_reports import write_report
from foldwise.matches.table.dealer import MatchSettings, run_match
from foldwise.matches.table.loop import run_loop
from foldwise.search.players import make_player


def load() -> None:
    """Load tables and kernels once, in the process that all others are forked from; it saves two seconds per process."""
    evaluator_tables()
    make_player("bot:call", 0)
    game = find_game("hunl")
    assert isinstance(game, PokerGame)
    next(Shoe(game.definition, 0).deals())
    gc.freeze()  # so that garbage collection in the children does not touch, and so copy, these pages


def _redirect(out: Path, err: Path) -> None:
    for path, descriptor in ((out, 1), (err, 2)):
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(opened, descriptor)
        os.close(opened)


def _end_with_parent() -> None:
    """End this process when the match's process is killed."""
    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _keep_to(core: int | None) -> None:
    if core is not None and hasattr(os, "sched_setaffinity"):  # Linux has it
        os.sched_setaffinity(0, {core})


def deal(settings: MatchSettings, folder: Path, pipe: Connection, core: int | None = None) -> None:
    """The dealer: reports its ports, that all are seated, and the reason of a failure, through the pipe, and exits like
    `foldwise dealer`.
    """
    _end_with_parent()
    _keep_to(core)
    err = folder / f"{settings.name}.err"
    _redirect(Path(os.devnull), err)

    def write_out(line: str) -> None:
        if not line.startswith("SCORE:"):  # that one is in the log
            pipe.send(("ports", line))

    def write_err(data: bytes) -> None:
        os.write(2, data)

    def seated() -> None:
        pipe.send(("seated", ""))

    try:
        completed = run_loop(run_match(settings, write_out, write_err, folder, alone=True, seated=seated))
    except (OSError, ValueError, RuntimeError) as error:  # a full disk, a busy port, a damaged file
        pipe.send(("failure", str(error)))
        raise
    sys.exit(0 if completed else 1)


def play(
    spec: PlayerSpec,
    seed: int,
    definition_text: str,
    port: int,
    deadline_seconds: float,
    out: Path,
    err: Path,
    core: int | None = None,
) -> None:
    """A built-in player, as `foldwise play`."""
    _end_with_parent()
    _keep_to(core)
    _redirect(out, err)
    logging.basicConfig(stream=sys.stderr)
    definition = parse_definition(definition_text, source="match.json")
    player = make_player(spec, seed)
    report = play_match(player, definition, "127.0.0.1", port, deadline_seconds)
    write_report(player, out.with_suffix(".search.json"))
    sys.stderr.write(f"{report.decisions} decisions in {len(report.hands)} hands, {report.faults} faults\n")
    sys.stdout.write(json.dumps({"decisions": report.decisions, "faults": report.faults}) + "\n")
    sys.stdout.flush()
    sys.exit(1 if report.faults else 0)
