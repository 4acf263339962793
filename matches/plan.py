"""A match folder: its plan (`match.json`), and the runs the plan stands for.

A duplicate match plays seed S twice, A first and then B first; `repeat` further ones take the seeds S+1, S+2, ...
Each half is one run, one ACPC match with a log of its own.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from foldwise.abstraction.storage.array_store import sync_folder
from foldwise.game.errors import DefinitionError, FormatError, ProtocolError

PLAN_FILE = "match.json"
RESULT_FILE = "result.json"
Order = Literal["AB", "BA"]
Score = Literal["chips", "expectation", "aivat"]


class MatchStoppedError(ProtocolError):
    """A run given up because the match was."""


class MatchPlan(BaseModel):
    """Everything that decides a match, written before its first hand."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = 1
    players: tuple[str, str] = Field(description="A and B, as on the command line, paths absolute")
    game: str = Field(description="name or absolute path, as the dealer is told it")
    definition: str = Field(description="the game's ACPC text: a changed file must not go unnoticed")
    hands: int = Field(ge=1, description="hands of one run, so half the hands of one duplicate match")
    seed: int = Field(ge=0, lt=2**32, description="of the first duplicate match's cards")
    repeat: int = Field(ge=1, description="duplicate matches; the most there may be with until_ci_mbb")
    over: Literal["tcp", "memory"]
    all_in_ev: bool = False
    score: Score = Field(default="chips", description="how hands are scored")
    until_ci_mbb: float | None = Field(default=None, gt=0, description="stop once the half-width is at most this")
    deadline_seconds: float = Field(default=5.0, gt=0, description="for one answer of a built-in player")
    explain: bool = Field(default=False, description="write each strategy's decisions beside the logs")

    def runs(self, match_index: int) -> "tuple[Run, Run]":
        """The two halves of one duplicate match."""
        return Run(plan=self, index=match_index, order="AB"), Run(plan=self, index=match_index, order="BA")

    def names(self) -> tuple[str, str]:
        """A's and B's names in logs: without what has a meaning there, and never the same."""
        first, second = (player.translate(str.maketrans(":|/\n ", ".....")) for player in self.players)
        return (first, second) if first != second else (f"{first}.A", f"{second}.B")


class Run(BaseModel):
    """One half of a duplicate match."""

    model_config = ConfigDict(frozen=True)

    plan: MatchPlan
    index: int
    order: Order

    @property
    def name(self) -> str:
        return f"{self.index:04d}.{self.order}"

    @property
    def seed(self) -> int:
        return (self.plan.seed + self.index) % 2**32

    def _seated(self, pair: tuple[str, str]) -> tuple[str, str]:
        return pair if self.order == "AB" else (pair[1], pair[0])

    def players(self) -> tuple[str, str]:
        """By seat."""
        return self._seated(self.plan.players)

    def names(self) -> tuple[str, str]:
        """By seat."""
        return self._seated(self.plan.names())

    def player_seeds(self) -> tuple[int, int]:
        """By seat; each player draws afresh in each half."""
        return self._player_seed(self.order[0]), self._player_seed(self.order[1])

    def _player_seed(self, letter: str) -> int:
        digest = hashlib.sha256(f"{self.plan.seed} {self.index} {self.order} {letter}".encode()).digest()
        return int.from_bytes(digest[:8], "big") >> 1

    def log_path(self, folder: Path) -> Path:
        return folder / f"{self.name}.log"


@contextlib.contextmanager
def written_whole(path: Path, encoding: str = "utf-8") -> Iterator[IO[str]]:
    """A file that appears whole when the block ends, or not at all: what stood there before stays until then."""
    if path.exists() and not path.is_file():  # /dev/stdout and pipes cannot be renamed over
        with path.open("w", encoding=encoding, errors="replace", newline="") as file:
            yield file
        return
    temporary = path.with_name(path.name + ".new")
    try:
        with temporary.open("w", encoding=encoding, errors="replace", newline="") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def save_json(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    with written_whole(path) as file:
        file.write(text)


def create_folder(folder: Path, plan: MatchPlan) -> None:
    """Begin a match folder; refuses one that holds a match."""
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / PLAN_FILE).exists():
        raise DefinitionError(f"{str(folder)!r} holds a match: continue it with --resume, or give another folder")
    save_json(folder / PLAN_FILE, plan.model_dump_json(indent=1) + "\n")


def load_plan(folder: Path) -> MatchPlan:
    """The plan of a match folder."""
    path = folder / PLAN_FILE
    try:
        return MatchPlan.model_validate_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DefinitionError(f"{str(folder)!r} holds no match ({PLAN_FILE} is missing): start one with -o") from None
    except (ValidationError, json.JSONDecodeError, UnicodeDecodeError) as error:
        reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise FormatError(f"{path}: {reason}: expected a match plan written by foldwise match") from error
