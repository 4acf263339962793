"""`result.json`, `comparison.json` and `tournament.json`: one JSON object that ends with a checksum of the rest."""

import json
from collections.abc import Mapping
from pathlib import Path

import xxhash

from foldwise.abstraction.storage.array_store import check_plain
from foldwise.abstraction.storage.whole_file import write_whole
from foldwise.game.errors import FormatError

_KEY = "checksum"


def write_result(path: Path, result: Mapping[str, object]) -> None:
    """Write the object and its checksum, whole or not at all."""
    write_whole(path, json.dumps({**result, _KEY: _checksum(result)}, indent=1) + "\n")


def check_result(path: Path) -> None:
    """Raise `FormatError` if a result is not as it was written."""
    check_plain(path)
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{str(path)!r} is damaged: it is not JSON ({error})") from None
    if not isinstance(result, dict):
        raise FormatError(f"{str(path)!r}: expected one JSON object")
    written = result.pop(_KEY, None)
    if written is None:
        raise FormatError(f"{str(path)!r} has no {_KEY}: it is from before results had one; continue it with --resume")
    if written != _checksum(result):
        raise FormatError(
            f"{str(path)!r} is damaged: its {_KEY} is another; continue it with --resume to write it again"
        )


def _checksum(result: Mapping[str, object]) -> str:
    """Of the values, whatever the order of the keys and the white space."""
    return xxhash.xxh3_128(json.dumps(result, sort_keys=True).encode()).hexdigest()
