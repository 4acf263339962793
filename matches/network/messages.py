"""Topics and messages of the match network, and the validation of everything received.

Messages are versioned JSON read by strict pydantic models; a state or an answer at a table is the ACPC line itself.
Anything too long, of another version or otherwise malformed raises `MessageError` and goes no further.
`docs/mqtt.md` describes every topic and field.
"""

import base64
import binascii
import logging
import re
import zlib
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from foldwise.game.errors import DefinitionError, FormatError

MAX_PAIRS = 20_000  # of one block
MAX_HANDS = 10_000_000  # of one match of a comparison
MAX_LINE = 4095  # of the ACPC protocol
MAX_ROWS = 500  # of running totals
_WORD = r"[A-Za-z0-9._-]{1,64}"
_log = logging.getLogger(__name__)


class MessageError(FormatError):
    """A received message that is malformed."""


def _printable(text: str) -> str:
    if not text.isprintable():  # an escape sequence must not reach a terminal
        raise ValueError("unprintable characters")
    return text


def plain_text(text: str) -> str:
    """A name of ours in the form allowed in messages."""
    return "".join(letter for letter in text if letter.isprintable())[:200]


Word = Annotated[str, StringConstraints(pattern=f"^{_WORD}$")]
Text = Annotated[str, StringConstraints(max_length=400), AfterValidator(_printable)]
Line = Annotated[str, StringConstraints(pattern=r"^STATE:", max_length=MAX_LINE), AfterValidator(_printable)]
Definition = Annotated[str, StringConstraints(max_length=4000)]
Fingerprint = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
Signature = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0, lt=2**53)]
Number = Annotated[float, Field(ge=-1e15, le=1e15, allow_inf_nan=False)]


def check_word(text: str, what: str) -> str:
    """The name if it may be used in a topic, else `DefinitionError`."""
    if not re.fullmatch(_WORD, text):
        raise DefinitionError(f"{what} {text!r}: expected 1 to 64 letters, digits, '.', '_' or '-'")
    return text


@dataclass(frozen=True)
class Topics:
    """All topics under one root."""

    root: str

    def match(self, match: str, part: str) -> str:
        """`part` is info, status, totals or hands."""
        return f"{self.root}/matches/{match}/{part}"

    def presence(self, worker: str) -> str:
        return f"{self.root}/workers/{worker}/presence"

    def tasks(self, worker: str) -> str:
        return f"{self.root}/workers/{worker}/tasks"

    def results(self, job: str, worker: str) -> str:
        return f"{self.root}/jobs/{job}/results/{worker}"

    def table(self, table: str) -> str:
        return f"{self.root}/tables/{table}/info"

    def seat(self, table: str, seat: int | str, part: str, session: str) -> str:
        """`part` is presence, states or answers; seats count from 1."""
        return f"{self.root}/tables/{table}/seats/{seat}/{part}/{session}"

    def split(self, topic: str) -> list[str]:
        """The levels of a topic below the root."""
        return topic.removeprefix(f"{self.root}/").split("/")


class Message(BaseModel):
    """What all messages have in common."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    max_bytes: ClassVar[int] = 8192

    v: Literal[1] = 1

    def encode(self) -> bytes:
        return self.model_dump_json().encode()


class MatchInfo(Message):
    """The start of a match. Retained."""

    max_bytes: ClassVar[int] = 65536

    match: Word
    kind: Literal["match", "compare", "table"]
    players: Annotated[list[Text], Field(max_length=100)]
    game: Text
    hands: Count = Field(description="planned")
    seed: Count
    started: Number = Field(description="seconds since 1970, by the publisher's clock")


MatchState = Literal["running", "finished", "stopped", "failed", "lost"]


class MatchStatus(Message):
    """The status of a match. Retained; `lost` is the publisher's will."""

    match: Word
    state: MatchState


class Total(BaseModel):
    """One line of running totals: of a match its A, of a comparison a variant against an opponent."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: Text
    hands: Count
    mean_mbb: Number
    ci95_mbb: Number | None


class MatchTotals(Message):
    """Running totals. Retained."""

    max_bytes: ClassVar[int] = 262_144

    match: Word
    hands: Count
    hands_per_second: Number
    rows: Annotated[list[Total], Field(max_length=MAX_ROWS)]


class HandBatch(Message):
    """Finished hands since the last batch, oldest first; `left_out` of them were too many to send."""

    max_bytes: ClassVar[int] = 1 << 20

    match: Word
    left_out: Count
    lines: Annotated[list[Line], Field(max_length=2000)]


class WorkerPresence(Message):
    """A worker that offers its cores. Retained; `online: false` is its will."""

    max_bytes: ClassVar[int] = 65536

    worker: Word
    session: Word
    online: bool
    threads: Annotated[int, Field(ge=0, le=4096)] = 0
    program: Text = ""
    strategies: Annotated[list[Fingerprint], Field(max_length=1500)] = []


class PlayerName(BaseModel):
    """A player as every machine knows it: a bot by name, a strategy by the fingerprint of its files."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    bot: Word | None = None
    strategy: Fingerprint | None = None
    pipeline: Text = "none"
    translation: Text = "pseudo-harmonic"


class Block(BaseModel):
    """Duplicate pairs `first` to `first + count` of one match: everything that decides their result."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    definition: Definition
    seed: Annotated[int, Field(ge=0, lt=2**32)]
    first: Annotated[int, Field(ge=0, lt=MAX_HANDS)]
    count: Annotated[int, Field(ge=1, le=MAX_PAIRS)]
    players: tuple[PlayerName, PlayerName]


class Task(Message):
    """A block for a worker."""

    max_bytes: ClassVar[int] = 16384

    job: Word
    block: Count
    work: Block
    signature: Signature | None = None


class BlockResult(Message):
    """What the first player wins per hand in each pair of a block, or why there is no result."""

    max_bytes: ClassVar[int] = 262_144

    job: Word
    block: Count
    worker: Word
    values: Annotated[str, StringConstraints(max_length=250_000)] | None = None
    refused: Text | None = None
    missing: Annotated[list[Fingerprint], Field(max_length=2)] = []
    signature: Signature | None = None


class SeatHolder(BaseModel):
    """One seat of a table: its player's name in the log, and the session that holds it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    player: Text
    session: Word | None = None


class TableInfo(Message):
    """A table. Retained; `lost` is the dealer's will."""

    max_bytes: ClassVar[int] = 16384

    table: Word
    dealer: Word = Field(description="session of the dealer: another one is another match")
    state: Literal["open", "finished", "lost"]
    game: Text = ""
    definition: Definition = ""
    hands: Count = 0
    seats: Annotated[list[SeatHolder], Field(max_length=10)] = []


class SeatPresence(Message):
    """A player that wants, or has, a seat. Retained; an empty message withdraws it."""

    session: Word
    online: Literal[True] = True


class SeatEnd(Message):
    """The last message to a seat."""

    end: Text


Kind = TypeVar("Kind", bound=Message)


def decode(kind: type[Kind], payload: bytes) -> Kind:
    """Read a message; raises `MessageError`."""
    if len(payload) > kind.max_bytes:
        raise MessageError(f"{len(payload)} bytes, at most {kind.max_bytes} are a {kind.__name__}")
    try:
        return kind.model_validate_json(payload)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))[:80]
        raise MessageError(f"no {kind.__name__}: {where} {first['msg']}"[:300]) from None
    except RecursionError:
        raise MessageError(f"no {kind.__name__}: nested too deep") from None


def pack_values(values: npt.NDArray[np.float64]) -> str:
    """Numbers of a result as text, without loss of precision."""
    return base64.b64encode(zlib.compress(values.astype("<f8").tobytes(), 1)).decode("ascii")


def unpack_values(text: str, count: int, most: float) -> npt.NDArray[np.float64]:
    """`count` finite numbers of at most `most`; raises `MessageError`."""
    try:
        inflater = zlib.decompressobj()
        data = inflater.decompress(base64.b64decode(text, validate=True), 8 * count + 1)
    except (zlib.error, binascii.Error, ValueError) as error:
        raise MessageError(f"values cannot be unpacked ({error})") from None
    if len(data) != 8 * count or not inflater.eof or inflater.unused_data:
        raise MessageError(f"values are not {count} numbers")
    values = np.frombuffer(data, "<f8").astype(np.float64)
    if not bool(np.all(np.abs(values) <= most)):  # false for NaN too
        raise MessageError(f"values beyond {most:g} chips")
    return values


class LinePlace(NamedTuple):
    """The place of a state in a match. Places only grow for a seat, so a repeated state is recognised."""

    hand: int
    betting: int  # length of the betting text


NO_PLACE = LinePlace(-1, -1)  # before all others
_STATE = re.compile(rb"MATCHSTATE:\d{1,2}:(\d{1,10}):([^:]*):[^:]+")
_ANSWER = re.compile(rb"MATCHSTATE:\d{1,2}:(\d{1,10}):([^:]*):[^:]+:[fcr]\d{0,12}")


def _place(pattern: re.Pattern[bytes], payload: bytes, what: str) -> LinePlace:
    if len(payload) > MAX_LINE:
        raise MessageError(f"{len(payload)} bytes, at most {MAX_LINE} are {what}")
    found = pattern.fullmatch(payload)
    if found is None or not payload.isascii() or not payload.decode("ascii").isprintable():
        raise MessageError(f"no {what}: {payload[:60]!r}")
    return LinePlace(int(found[1]), len(found[2]))


def state_place(payload: bytes) -> LinePlace:
    """The place of a `MATCHSTATE` line without its end; raises `MessageError`."""
    return _place(_STATE, payload, "state line")


def answer_place(payload: bytes) -> LinePlace:
    """The place of the state an answer is to; raises `MessageError`."""
    return _place(_ANSWER, payload, "answer line")


class DropLog:
    """Logs the first, tenth, hundredth, ... message dropped for each reason, so that a flood does not fill the disk."""

    MOST_REASONS = 100

    def __init__(self) -> None:
        self.dropped = 0
        self._counts: dict[str, int] = {}

    def add(self, topic: str, error: MessageError) -> None:
        self.dropped += 1
        reason = str(error)
        if reason not in self._counts and len(self._counts) >= self.MOST_REASONS:
            reason = "other reasons"
        count = self._counts[reason] = self._counts.get(reason, 0) + 1
        if count == 1:
            _log.warning("message on %r dropped: %s", topic[:200], reason)
        elif str(count).rstrip("0") == "1":
            _log.warning("%d messages dropped: %s", count, reason)
