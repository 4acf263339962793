"""`result.json`, `comparison.json` and `tournament.json`: one JSON object that ends with a checksum of the rest.

The tables written beside a comparison or a tournament are named in it, each with a checksum of its own.
"""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import xxhash

from foldwise.abstraction.storage.array_store import check_plain
from foldwise.abstraction.storage.checked_json import CHECKSUM, checked_text, write_checked
from foldwise.abstraction.storage.whole_file import bytes_written_whole
from foldwise.game.errors import FormatError

TABLES = "tables"
_REMEDY = "continue it with --resume to write it again"

Rows = Sequence[Sequence[object]]


def write_result(path: Path, result: Mapping[str, object], tables: Mapping[str, Rows]) -> None:
    """Write a result, and before it the tables (rows by file name) whose checksums it holds."""
    checksums = {}
    for name, rows in tables.items():
        text = io.StringIO(newline="")
        csv.writer(text).writerows(rows)
        data = text.getvalue().encode("utf-8", "replace")
        with bytes_written_whole(path.parent / name) as file:
            file.write(data)
        checksums[name] = _checksum(data)
    write_checked(path, {**result, TABLES: checksums})


def read_object(path: Path, remedy: str) -> dict[str, Any]:
    """The JSON object in a file; `FormatError` if it is none, or not as it was written. Its checksum stays in it."""
    check_plain(path)
    try:
        text = path.read_text(encoding="utf-8")
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{str(path)!r} is damaged: it is not JSON ({error})") from None
    if not isinstance(fields, dict):
        raise FormatError(f"{str(path)!r}: expected one JSON object")
    checked_text(path, text, remedy)
    return fields


def check_result(path: Path) -> list[Path]:
    """The tables that a result names, compared with their checksums; `FormatError` if anything is not as it was written."""
    result = read_object(path, _REMEDY)
    if CHECKSUM not in result:
        raise FormatError(
            f"{str(path)!r} has no {CHECKSUM}: it is from before results had one; continue it with --resume"
        )
    tables = result.get(TABLES, {})
    if not isinstance(tables, dict):
        raise FormatError(f"{str(path)!r}: expected checksums by name as {TABLES}")
    for name, expected in tables.items():
        _check_table(path.parent, name, expected)
    return [path.parent / name for name in tables]


def _check_table(folder: Path, name: str, expected: str) -> None:
    path = folder / name
    if path.name != name:
        raise FormatError(f"{name!r} in {str(folder)!r} leads out of the folder: write the folder again")
    check_plain(path, _REMEDY)
    if not path.exists():
        raise FormatError(f"{str(path)!r} is missing: {_REMEDY}")
    if _checksum(path.read_bytes()) != expected:
        raise FormatError(f"{str(path)!r} is damaged: its checksum is another; {_REMEDY}")


def _checksum(data: bytes) -> str:
    return xxhash.xxh3_128(data).hexdigest()
