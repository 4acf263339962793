"""Why a run over sockets broke off: who failed, and what they wrote last."""

import signal
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from foldwise.matches.table.log import log_text

_LAST_LINES = 3
_LINE_CHARACTERS = 200


class Ended(NamedTuple):
    """A player of a broken run."""

    name: str
    exit_code: int | None  # None: it was still running
    before_the_dealer: bool
    words: str  # what it wrote to stderr in this run


def written_since(path: Path, size: int) -> str:
    """What has been added to a file that had `size` bytes."""
    if not path.exists():
        return ""
    with path.open("rb") as file:
        file.seek(size)
        return log_text(file.read())


def last_lines(text: str) -> str:
    """The end of what a program wrote, on one line."""
    lines = [line.strip()[:_LINE_CHARACTERS] for line in text.splitlines() if line.strip()]
    return " / ".join(lines[-_LAST_LINES:])


def why_broken(dealer_failure: str, dealer_words: str, players: Sequence[Ended]) -> str:
    """Who ended a run, in one line: the dealer if it failed itself, else the player it names, else the first who left.

    A player that the dealer hung up on has ended too, but after the dealer and without an error: it is not to blame.
    """
    if dealer_failure:
        return f"the dealer failed: {dealer_failure}"
    said = next((line for line in dealer_words.splitlines() if line.startswith("ERROR: ")), "").removeprefix("ERROR: ")
    named = [player for seat, player in enumerate(players, start=1) if f"seat {seat} " in f"{said} "]
    failed = [player for player in players if player.exit_code and player.before_the_dealer]
    left = [player for player in players if player.exit_code is not None and player.before_the_dealer]
    guilty = (named + failed + left)[:1]
    if not guilty:
        return said or "the dealer ended early"
    player = guilty[0]
    words = last_lines(player.words)
    return (
        f"player {player.name} {_ending(player.exit_code)}"
        + (f" ({said})" if said else "")
        + (f"; it wrote last: {words}" if words else "")
    )


def _ending(exit_code: int | None) -> str:
    if exit_code is None:
        return "stopped playing"
    if exit_code < 0:
        return f"was killed by {signal.Signals(-exit_code).name}"
    return f"ended before the match, with exit code {exit_code}"
