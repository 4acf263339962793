"""A match folder: its plan (`match.json`), and the runs of the plan.

A duplicate match plays seed S twice, A first and then B first; `repeat` further ones take the seeds S+1, S+2, ...
Each half is one run, one ACPC match with a log of its own.
"""

import hashlib
import json
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    InstanceOf,
    PlainSerializer,
    ValidationError,
)

from foldwise.abstraction.storage.checked_json import checked_text, write_model
from foldwise.abstraction.storage.whole_file import make_folder
from foldwise.agent.player_spec import PlayerSpec, as_player
from foldwise.game.errors import DefinitionError, FormatError, ProtocolError
from foldwise.matches.scores import known_score

PLAN_FILE = "match.json"
RESULT_FILE = "result.json"
MATCHES_FOLDER = "matches"  # of a comparison or tournament that keeps its logs: a folder for each match
MAX_NAME_BYTES = 200  # of a player in a log
T = TypeVar("T")
Order = Literal["AB", "BA"]
ScoreName = Annotated[str, AfterValidator(known_score)]
PlayerField = Annotated[InstanceOf[PlayerSpec], BeforeValidator(as_player), PlainSerializer(str, return_type=str)]


class MatchStoppedError(ProtocolError):
    """A run abandoned because its match was stopped."""


def seated(pair: tuple[T, T], order: Order) -> tuple[T, T]:
    """Two things of A and B in the order of the seats."""
    return pair if order == "AB" else (pair[1], pair[0])


def player_seeds(seed: int, match_index: int, order: Order) -> tuple[int, int]:
    """The players' seeds by seat in one half of a duplicate match; each player draws afresh in each half."""
    digests = (hashlib.sha256(f"{seed} {match_index} {order} {letter}".encode()).digest() for letter in order)
    first, second = (int.from_bytes(digest[:8], "big") >> 1 for digest in digests)
    return first, second


def _log_name(player: PlayerSpec) -> str:
    """A player as one word of a log: its alias, or its name; for a long path its end, which is the distinctive part."""
    text = player.alias or str(player)
    word = "".join("." if char in ":|/ " or not char.isprintable() else char for char in text)
    return word.encode()[-(MAX_NAME_BYTES - 2) :].decode(errors="ignore")  # room for .A or .B


class MatchPlan(BaseModel):
    """Everything that determines a match, written before its first hand."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = 1
    players: tuple[PlayerField, PlayerField] = Field(description="A and B, written as one types them, paths absolute")
    game: str = Field(description="name or absolute path, as the dealer is told it")
    definition: str = Field(description="the game's ACPC text: a changed file must not go unnoticed")
    hands: int = Field(ge=1, description="hands of one run, so half the hands of one duplicate match")
    seed: int = Field(ge=0, lt=2**32, description="of the first duplicate match's cards")
    repeat: int = Field(ge=1, description="duplicate matches; the most there may be with until_ci_mbb")
    over: Literal["tcp", "memory"]
    all_in_ev: bool = False
    score: ScoreName = Field(default="chips", description="how hands are scored")
    until_ci_mbb: float | None = Field(default=None, gt=0, description="stop once the half-width is at most this")
    deadline_seconds: float = Field(default=5.0, gt=0, description="for one answer of a built-in player")
    explain: bool = Field(default=False, description="write each strategy's decisions beside the logs")

    def runs(self, match_index: int) -> "tuple[Run, Run]":
        """The two halves of one duplicate match."""
        return Run(plan=self, index=match_index, order="AB"), Run(plan=self, index=match_index, order="BA")

    def names(self) -> tuple[str, str]:
        """A's and B's names in logs: aliases, or names without the log's separators; always different."""
        first, second = map(_log_name, self.players)
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

    def players(self) -> tuple[PlayerSpec, PlayerSpec]:
        """By seat."""
        return seated(self.plan.players, self.order)

    def names(self) -> tuple[str, str]:
        """By seat."""
        return seated(self.plan.names(), self.order)

    def player_seeds(self) -> tuple[int, int]:
        """By seat."""
        return player_seeds(self.plan.seed, self.index, self.order)

    def log_path(self, folder: Path) -> Path:
        return folder / f"{self.name}.log"


def create_folder(folder: Path, plan: MatchPlan) -> None:
    """Begin a match folder; refuses one that holds a match."""
    make_folder(folder)
    if (folder / PLAN_FILE).exists():
        raise DefinitionError(f"{str(folder)!r} holds a match: continue it with --resume, or give another folder")
    write_model(folder / PLAN_FILE, plan)


def load_plan(folder: Path) -> MatchPlan:
    """The plan of a match folder."""
    path = folder / PLAN_FILE
    try:
        text = path.read_text(encoding="utf-8")
        return MatchPlan.model_validate_json(checked_text(path, text, "begin the match in another folder"))
    except FileNotFoundError:
        raise DefinitionError(f"{str(folder)!r} holds no match ({PLAN_FILE} is missing): start one with -o") from None
    except (ValidationError, json.JSONDecodeError, UnicodeDecodeError) as error:
        reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise FormatError(f"{path}: {reason}: expected a match plan written by foldwise match") from error
