"""How a player is written: parsed once on input, printed in one form.

    player   = [ name "=" ] ( "bot:" word | "strategy:" strategy | "python:" file ":" class | "cmd:" program )
    strategy = ( folder | packed file | "default" | "champion" ) { "|" step } [ "|" translation ]

The last part of a strategy is a translation if it parses as one; everything before it is post-processing, which stays
text here and is parsed when the player is made. `champion` brings a search and post-processing of its own
(`abstraction.named_strategy`): steps that begin with a search replace both, other steps the post-processing. Examples:
`bot:call`, `strategy:runs/small|threshold(0.1)|purify`, `big=strategy:runs/big|new(0.2)|geometric`.
"""

import re
import shlex
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path

from foldwise.abstraction.named_strategy import PlayedAs, find_strategy, played_as
from foldwise.agent.mappings.translation import DEFAULT_TRANSLATION, TRANSLATIONS, Translation, parse_translation
from foldwise.agent.postprocessing.python_rules import resolve_rules
from foldwise.agent.program import program_words, resolve_program
from foldwise.game.errors import DefinitionError
from foldwise.game.python_file import PYTHON, resolve_name

PLAYER_FORMS = "bot:NAME, strategy:DIR, python:FILE.py:CLASS or cmd:PROGRAM, with NAME= before it to name it"
_SEARCH = re.compile(r"\s*search\b", re.IGNORECASE)  # as search.language reads it, which agents know nothing of
_ALIAS = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,39}")


class PlayerKind(StrEnum):
    BOT = "bot"
    STRATEGY = "strategy"
    PYTHON = "python"
    PROGRAM = "cmd"


@dataclass(frozen=True)
class PlayerSpec:
    """A player's name, parsed."""

    kind: PlayerKind
    subject: str  # a bot's name, a strategy's folder, FILE.py:CLASS, or a program with its arguments
    postprocess: str = ""  # of a strategy; empty: as solved
    translation: Translation | None = None  # of a strategy; None: the default
    alias: str = ""  # its name in tables, logs and reports

    def __str__(self) -> str:
        """The text `parse_player` reads as this spec."""
        parts = [f"{self.kind}:{self.subject}"]
        if self.postprocess or self.translation is not None:
            parts.append(self.postprocess)
        if self.translation is not None:
            parts.append(str(self.translation))
        return (f"{self.alias}=" if self.alias else "") + "|".join(parts)

    @property
    def folder(self) -> Path:
        """A strategy's folder; a packed strategy, such as `default`, is unpacked on first use."""
        assert self.kind == PlayerKind.STRATEGY
        return find_strategy(self.subject)

    def short(self) -> str:
        """For display: the alias, or the name without folder paths and without the default translation."""
        if self.alias:
            return self.alias
        if self.kind == PlayerKind.PROGRAM:
            return f"{self.kind}:{shlex.join(Path(word).name for word in shlex.split(self.subject))}"
        subject = self.subject if self.kind == PlayerKind.BOT else Path(self.subject).name
        translation = "" if self.translation in (None, DEFAULT_TRANSLATION) else str(self.translation)
        return "|".join(filter(None, (f"{self.kind}:{subject}", self.postprocess, translation)))

    def resolved(self) -> "PlayerSpec":
        """The same with absolute paths: players may be started in another folder."""
        if self.kind == PlayerKind.PROGRAM:
            return replace(self, subject=resolve_program(self.subject))
        if self.kind == PlayerKind.PYTHON:
            return replace(self, subject=resolve_name("player", f"{PYTHON}{self.subject}").removeprefix(PYTHON))
        if self.kind == PlayerKind.STRATEGY:
            return replace(self, subject=str(self.folder.resolve()), postprocess=resolve_rules(self.postprocess))
        return self


def parse_player(text: str) -> PlayerSpec:
    """The spec of a player's name; `DefinitionError` if it is not one."""
    head, colon, rest = text.partition(":")
    alias, equals, kind = head.rpartition("=")
    if not colon or kind not in set(PlayerKind) or not rest.strip():
        raise DefinitionError(f"player {text!r}: expected {PLAYER_FORMS}")
    if equals:
        check_alias(alias)
    if kind == PlayerKind.STRATEGY:
        folder, *steps = rest.split("|")
        if not folder.strip():
            raise DefinitionError(f"player {text!r}: expected a folder after strategy:")
        translation = _translation(steps[-1]) if steps else None
        if translation is not None:
            steps.pop()
        return PlayerSpec(PlayerKind.STRATEGY, folder, _all_steps(folder, steps), translation, alias)
    if kind == PlayerKind.PROGRAM:
        program_words(rest)
    return PlayerSpec(PlayerKind(kind), rest, alias=alias)


def as_player(player: PlayerSpec | str) -> PlayerSpec:
    """A spec as it is, or the spec of a name: for functions that accept either."""
    return player if isinstance(player, PlayerSpec) else parse_player(player)


def check_alias(alias: str) -> None:
    """Raise `DefinitionError` for a name that a log cannot hold."""
    if _ALIAS.fullmatch(alias) is None:
        raise DefinitionError(
            f"name {alias!r} of a player: expected up to 40 of a to z, A to Z, digits, dots, _, + and -"
        )


def _all_steps(folder: str, steps: list[str]) -> str:
    """The steps given, with what the strategy's name brings in front of them."""
    if steps and _SEARCH.match(steps[0]):
        return "|".join(steps).strip(" |")
    own = played_as(folder)
    given = "|".join(steps).strip(" |")
    return given if own == PlayedAs() else own.steps(given or None)


def _translation(text: str) -> Translation | None:
    """A translation, or None for another step; `DefinitionError` for what looks like a mistyped translation."""
    try:
        return parse_translation(text)
    except DefinitionError:
        if text.replace(" ", "").replace("-", "").isalpha() and get_close_matches(text.strip(), TRANSLATIONS):
            raise
        return None
