"""The version line a client sends first."""

import re

OUR_VERSION = "2.0.0"
_VERSION = re.compile(rb"VERSION:\s*([+-]?\d+)\.\s*([+-]?\d+)\.\s*([+-]?\d+)")


def read_version(line: bytes) -> tuple[int, int, int] | None:
    """The three numbers, or None if they cannot be read. Leading blanks and anything after them are tolerated."""
    match = _VERSION.match(line.partition(b"\0")[0])
    if match is None:
        return None
    major, minor, revision = (int(number) % 2**32 for number in match.groups())
    return major, minor, revision


def is_supported(version: tuple[int, int, int]) -> bool:
    """Major number 2, minor at most 0; the third number is ignored."""
    return version[0] == 2 and version[1] == 0
