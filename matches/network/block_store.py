"""The finished blocks of a split comparison, on disk: each counts once, even if it is reported again.

`job.json` says what is compared; `blocks.jsonl` has a line for every finished block, on disk before the block counts,
and one for every block that is discarded again. A line that a killed process left unfinished is cut off, and its block
played again.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from foldwise.abstraction.storage.checked_json import checked_text, write_model
from foldwise.abstraction.storage.whole_file import sync_folder
from foldwise.game.arrays import Float
from foldwise.game.definition import parse_definition
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.matches.network.messages import (
    MAX_HANDS,
    MAX_PAIRS,
    Block,
    Definition,
    MessageError,
    PlayerName,
    Word,
    pack_values,
    unpack_values,
)
from foldwise.matches.table.log import drop_unfinished_line

JOB_FILE = "job.json"
BLOCKS_FILE = "blocks.jsonl"


class Job(BaseModel):
    """A comparison to be split: first players x second players, the same pairs in every cell."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = 1
    job: Word = Field(description="its name in topics; another job has another, even of the same comparison")
    definition: Definition
    seed: Annotated[int, Field(ge=0, lt=2**32)]
    hands: Annotated[int, Field(ge=1, le=MAX_HANDS)] = Field(description="pairs in a cell")
    block_pairs: Annotated[int, Field(ge=1, le=MAX_PAIRS)]
    first: list[PlayerName]
    second: list[PlayerName]

    def blocks(self) -> "list[Block]":
        """All blocks; a block's id is its place in this list."""
        return list(self._blocks())

    def _blocks(self) -> Iterator[Block]:
        for first in self.first:
            for second in self.second:
                for start in range(0, self.hands, self.block_pairs):
                    count = min(self.block_pairs, self.hands - start)
                    yield Block(
                        definition=self.definition, seed=self.seed, first=start, count=count, players=(first, second)
                    )

    @property
    def blocks_in_cell(self) -> int:
        return -(-self.hands // self.block_pairs)

    def most_chips(self) -> float:
        """The most chips a pair can be worth."""
        return float(max(parse_definition(self.definition, source="job").stacks))


class BlockStore:
    """Values by block. Without a folder they are kept in memory only."""

    def __init__(self, job: Job, folder: Path | None):
        self.job = job
        self.blocks = job.blocks()
        self.values = np.full((len(job.first), len(job.second), job.hands), np.nan)
        self._most = job.most_chips()
        self._done = np.zeros(len(self.blocks), bool)
        self.workers: dict[int, str] = {}  # who played each counted block
        self._file: IO[str] | None = None
        if folder is not None:
            path = folder / BLOCKS_FILE
            if path.exists():
                drop_unfinished_line(path)
                self.load(path)
            self._file = path.open("a", encoding="ascii")
            sync_folder(folder)

    @property
    def num_done(self) -> int:
        return int(self._done.sum())

    @property
    def num_pairs(self) -> int:
        """Pairs of all finished blocks."""
        return sum(block.count for block, done in zip(self.blocks, self._done.tolist()) if done)

    def is_done(self, block: int) -> bool:
        return bool(self._done[block])

    def missing(self) -> list[int]:
        return np.flatnonzero(~self._done).tolist()

    def _place(self, block: int) -> tuple[int, int, slice]:
        cell = block // self.job.blocks_in_cell
        work = self.blocks[block]
        return cell // len(self.job.second), cell % len(self.job.second), slice(work.first, work.first + work.count)

    def unpack(self, block: int, packed: str) -> Float:
        """The values of a block; raises `MessageError` for impossible ones."""
        if block >= len(self.blocks):
            raise MessageError(f"block {block}: this job has {len(self.blocks)}")
        return unpack_values(packed, self.blocks[block].count, self._most)

    def add(self, block: int, packed: str, worker: str = "") -> bool:
        """Count a block's values, played by `worker`; returns whether they are new.

        They are on disk when this returns. Raises `MessageError` for values that are not this block's, or differ from
        those counted.
        """
        values = self.unpack(block, packed)
        place = self._place(block)
        if self._done[block]:
            if not np.array_equal(self.values[place], values):
                raise MessageError(
                    f"block {block} played twice with different values: do all machines run the same version?"
                )
            return False
        self.values[place] = values
        self._done[block] = True
        self.workers[block] = worker
        self._write({"block": block, "worker": worker, "values": pack_values(values)})
        return True

    def discard(self, block: int) -> None:
        """Discard a counted block, so that it is played again."""
        self.values[self._place(block)] = np.nan
        self._done[block] = False
        self.workers.pop(block, None)
        self._write({"block": block, "discarded": True})

    def _write(self, entry: dict[str, object]) -> None:
        if self._file is not None:
            self._file.write(json.dumps(entry) + "\n")
            self._file.flush()
            os.fsync(self._file.fileno())

    def load(self, path: Path) -> None:
        """Count the blocks of a file; raises `FormatError` for an unreadable line."""
        for number, line in enumerate(path.read_text(encoding="ascii", errors="replace").splitlines(), start=1):
            try:
                entry = json.loads(line)
                block = int(entry["block"])
                if entry.get("discarded") is True and 0 <= block < len(self.blocks):
                    self.discard(block)
                else:
                    self.add(block, str(entry["values"]), str(entry.get("worker", "")))
            except (MessageError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                raise FormatError(
                    f"{path}: line {number} is not a block ({error}): start again in another folder"
                ) from None

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def read_job(path: Path) -> Job:
    """The job of a comparison's folder."""
    text = path.read_text(encoding="utf-8")
    return Job.model_validate_json(checked_text(path, text, "begin the comparison in another folder"))


def open_job(job: Job, folder: Path, resume: bool) -> Job:
    """Begin a job in its folder, or continue the one there if it is the same, under its original name."""
    path = folder / JOB_FILE
    if not resume:
        if path.exists():
            raise DefinitionError(f"{str(folder)!r} holds a comparison: continue it with --resume, or give another -o")
        write_model(path, job)
        return job
    try:
        found = read_job(path)
    except FileNotFoundError:
        raise DefinitionError(f"{str(folder)!r} holds no comparison to resume ({JOB_FILE} is missing)") from None
    except (ValidationError, UnicodeDecodeError) as error:
        raise FormatError(f"{path}: {str(error).splitlines()[0]}: expected a job written by foldwise compare") from None
    for name in Job.model_fields:
        if name not in ("job", "block_pairs") and getattr(found, name) != getattr(job, name):
            raise DefinitionError(f"{path} was begun with another {name!r}: repeat the original command with --resume")
    return found
