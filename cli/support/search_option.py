"""`--search`: the short way to put a search in front of a player's post-processing.

A name such as `champion` brings a search and post-processing of its own: an option takes the place of its part. A search
that was typed, in a player's name or as post-processing, is not replaced: which of the two was meant is not known.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from foldwise.abstraction.named_strategy import played_as
from foldwise.game.errors import DefinitionError

if TYPE_CHECKING:
    from foldwise.agent.player_spec import PlayerSpec

SearchOption = Annotated[
    str | None,
    typer.Option(
        "--search", help="off (unless the strategy's name brings one), or solve turn and river: fast, normal or deep."
    ),
]

AUTO = "auto"
# For players at a table, where search wins more (docs/search.md).
SeatSearchOption = Annotated[
    str,
    typer.Option(
        "--search",
        help="Solve turn and river while playing: off, fast, normal or deep; auto is what the strategy's name brings, "
        "else fast in no-limit hold'em, else off.",
    ),
]


def played_steps(name: str | Path, postprocess: str | None, search: str | None) -> str:
    """What is done to the rows of a strategy of this name: its own parts, or the options where they are given."""
    from foldwise.search.language import is_search

    mode = None if search == AUTO else search
    if postprocess is not None and is_search(postprocess):
        return with_search(postprocess, mode)
    own = played_as(name)
    return with_search(own.steps(postprocess, own.search if mode is None else "off"), mode)


def seat_steps(name: str | Path, folder: Path, postprocess: str | None, search: str) -> str:
    """The same for a seat at a table, where search is on unless turned off."""
    steps = played_steps(name, postprocess, search)
    return with_search(steps, seat_mode(search, folder, steps)) if search == AUTO else steps


def seat_mode(mode: str, folder: Path, postprocess: str) -> str | None:
    """What `auto` comes to for a strategy; a search that is named in its post-processing stands."""
    from foldwise.abstraction.strategy import Strategy
    from foldwise.game.definition import parse_definition
    from foldwise.search.language import is_search
    from foldwise.search.modes import MODES
    from foldwise.search.settings import OFF, seat_search

    if mode not in (AUTO, OFF, *MODES):
        raise DefinitionError(f"--search {mode!r}: expected {AUTO}, {OFF}, {', '.join(MODES)}")
    if mode != AUTO:
        return mode
    if is_search(postprocess):
        return None
    definition = Strategy(folder).manifest.definition
    if definition is None:
        return None
    return seat_search(mode, parse_definition(definition, source=str(folder)))


def with_search(postprocess: str, mode: str | None) -> str:
    """The post-processing text with the option's search in front of it; None: the option is not given."""
    from foldwise.search.language import is_search
    from foldwise.search.modes import MODES

    if mode is None:
        return postprocess
    if mode not in ("off", *MODES):
        raise DefinitionError(f"--search {mode!r}: expected off, {', '.join(MODES)}")
    if is_search(postprocess):
        raise DefinitionError(f"--search {mode} together with {postprocess!r}: give one of them")
    if mode == "off":
        return postprocess
    return f"search({mode})" if postprocess.strip() in ("", "none") else f"search({mode}) | {postprocess}"


def searching(spec: "PlayerSpec", mode: str | None, own_search: str = "") -> "PlayerSpec":
    """The player with the option's search, unless it is off; `own_search` came with the player's name."""
    from foldwise.agent.player_spec import PlayerKind

    if mode not in (None, AUTO) and own_search:
        spec = replace(spec, postprocess=spec.postprocess.removeprefix(own_search).strip(" |"))
    if mode is not None and spec.kind == PlayerKind.STRATEGY:
        mode = seat_mode(mode, spec.folder, spec.postprocess)
    if mode in (None, AUTO) or (mode == "off" and spec.kind != PlayerKind.STRATEGY):
        return spec
    if spec.kind != PlayerKind.STRATEGY:
        raise DefinitionError(f"--search {mode}: player {str(spec)!r} is not a strategy")
    return replace(spec, postprocess=with_search(spec.postprocess, mode))
