"""`result.json`, `comparison.json` and `tournament.json`: one JSON object that ends with a checksum of the rest."""

import json
from pathlib import Path

from foldwise.abstraction.storage.array_store import check_plain
from foldwise.abstraction.storage.checked_json import CHECKSUM, checked_text
from foldwise.game.errors import FormatError


def check_result(path: Path) -> None:
    """Raise `FormatError` if a result is not as it was written."""
    check_plain(path)
    try:
        text = path.read_text(encoding="utf-8")
        result = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{str(path)!r} is damaged: it is not JSON ({error})") from None
    if not isinstance(result, dict):
        raise FormatError(f"{str(path)!r}: expected one JSON object")
    if CHECKSUM not in result:
        raise FormatError(
            f"{str(path)!r} has no {CHECKSUM}: it is from before results had one; continue it with --resume"
        )
    checked_text(path, text, "continue it with --resume to write it again")
