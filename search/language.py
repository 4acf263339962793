"""`search(...)` in front of a player's post-processing: `search(fast) | threshold(0.05)`.

    player steps = [ "search" "(" [ mode ] { "," option } ")" [ "|" pipeline ] ] | pipeline
    option       = "gadget" "=" ( "unsafe" | "resolve" | "combined" ) | ( "flop" | "turn" | "river" ) "=" ( mode | "off" )
                 | "work" "=" number
    mode         = "fast" | "normal" | "deep"

The rest is the language of `postprocess.language`, which knows nothing of search. Case and spaces do not matter.
"""

import re
from typing import Final, NamedTuple

from foldwise.game.errors import DefinitionError
from foldwise.postprocess.language import PipelineError, expand_sweep, parse_pipeline, split_variants
from foldwise.postprocess.pipeline import Pipeline
from foldwise.search.gadgets import GADGETS
from foldwise.search.modes import MODES
from foldwise.search.settings import OFF, SearchSettings

_HEAD = re.compile(r"\s*search\b", re.IGNORECASE)
_CALL = re.compile(r"\s*search\s*\(([^()]*)\)\s*(\||$)?", re.IGNORECASE)
_CHOICES: Final = {"gadget": GADGETS, "flop": (*MODES, OFF), "turn": (*MODES, OFF), "river": (*MODES, OFF)}

_WORK = "work"
_NAMES = "gadget=, flop=, turn=, river= or work="


class PlayerSteps(NamedTuple):
    """What is done to a player's rows: a search, if any, and the post-processing after it."""

    search: SearchSettings | None
    pipeline: Pipeline

    def __str__(self) -> str:
        if self.search is None:
            return str(self.pipeline)
        return f"{self.search} | {self.pipeline}" if self.pipeline.steps else str(self.search)


def is_search(text: str) -> bool:
    """Whether a post-processing text begins with a search."""
    return _HEAD.match(text) is not None


def parse_steps(text: str) -> PlayerSteps:
    """`"search(fast, gadget=resolve) | new(0.2)"`; `PipelineError` points at the character that cannot be read."""
    if not is_search(text):
        return PlayerSteps(None, parse_pipeline(text))
    match = _CALL.match(text)
    if match is None:
        raise PipelineError(text, len(text.rstrip()), "expected search(MODE), as in search(fast)")
    if match[2] is None:
        raise PipelineError(text, match.end(), "expected '|' or the end after search(...)")
    settings = _settings(text, match.start(1), match[1])
    rest = text[match.end() :]
    if match[2] != "|":
        return PlayerSteps(settings, Pipeline())
    try:
        return PlayerSteps(settings, parse_pipeline(rest))
    except PipelineError as error:
        raise PipelineError(text, match.end() + error.position, error.complaint) from None


def parse_variants(text: str) -> list[PlayerSteps]:
    """A comma-separated list of variants, sweeps expanded."""
    return [parse_steps(single) for variant in split_variants(text) for single in expand_sweep(variant)]


def inside_search(text: str) -> SearchSettings | None:
    """The settings of what stands in search(...), as in `fast, flop=fast`; None for `off`."""
    return None if text == OFF else _settings(text, 0, text)


def _settings(text: str, start: int, inside: str) -> SearchSettings:
    found: dict[str, str] = {}
    work, at = 1.0, start
    for number, part in enumerate(inside.split(",")) if inside.strip() else ():
        position = at + len(part) - len(part.lstrip())
        name, equals, value = (word.strip().lower() for word in part.partition("="))
        if not equals:
            name, value = "mode", name
        allowed = tuple(MODES) if name == "mode" else _CHOICES.get(name, ())
        if (not allowed and name != _WORK) or (name == "mode" and number > 0):
            raise PipelineError(text, position, f"expected a mode first, then {_NAMES}, got {part.strip()!r}")
        if name in found:
            raise PipelineError(text, position, f"expected each option of search once, got {name!r} again")
        if name == _WORK:
            work = _number(text, position, value)
        elif value not in allowed:
            raise PipelineError(text, position, f"expected {name} to be one of {', '.join(allowed)}, got {value!r}")
        found[name] = value
        at += len(part) + 1
    found.pop(_WORK, None)
    try:
        return SearchSettings(**found, work=work)
    except DefinitionError as error:
        raise PipelineError(text, start, str(error)) from None


def _number(text: str, position: int, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise PipelineError(text, position, f"expected {_WORK} to be a number, got {value!r}") from None
