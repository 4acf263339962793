"""JSON objects that end with a checksum of the rest: a changed digit is noticed even where the value is still a legal one."""

import json
from collections.abc import Mapping
from pathlib import Path

import xxhash
from pydantic import BaseModel

from foldwise.abstraction.storage.whole_file import write_whole
from foldwise.game.errors import FormatError

CHECKSUM = "checksum"


def write_checked(path: Path, fields: Mapping[str, object]) -> None:
    """Write an object and its checksum, whole or not at all."""
    write_whole(path, json.dumps({**fields, CHECKSUM: checksum_of(fields)}, indent=1) + "\n")


def write_model(path: Path, model: BaseModel) -> None:
    """Write a model and its checksum, whole or not at all."""
    write_checked(path, json.loads(model.model_dump_json()))


def checked_text(path: Path, text: str, remedy: str) -> str:
    """The text of the object in `path` without its checksum; `FormatError` if it is not as it was written.

    An object from before there were checksums, or what is none at all, is left to the caller.
    """
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(fields, dict) or CHECKSUM not in fields:
        return text
    if fields.pop(CHECKSUM) != checksum_of(fields):
        raise FormatError(f"{str(path)!r} is damaged: its checksum is another; {remedy}")
    return json.dumps(fields)


def checksum_of(fields: Mapping[str, object]) -> str:
    """Of the values, whatever the order of the keys and the white space."""
    return xxhash.xxh3_128(json.dumps(fields, sort_keys=True).encode()).hexdigest()
