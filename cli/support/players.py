"""Players as typed on the command line: folders, packed files and names such as `default` need no `strategy:`."""

from collections.abc import Iterable
from dataclasses import replace

from foldwise.abstraction.named_strategy import is_strategy_name, played_as
from foldwise.agent.mappings.translation import parse_translation
from foldwise.agent.player_spec import PlayerKind, PlayerSpec, check_alias, parse_player
from foldwise.cli.support.search_option import played_steps
from foldwise.cli.support.strategies import strategy_folder
from foldwise.game.errors import DefinitionError


def typed_player(text: str) -> PlayerSpec:
    """The player of a name or of a folder, also `NAME=FOLDER`, with absolute paths."""
    alias, equals, rest = text.partition("=")
    if _is_strategy(text):
        return typed_strategy(text)
    if equals and _is_strategy(rest):
        check_alias(alias)
        return replace(typed_strategy(rest), alias=alias)
    return _resolved(parse_player(text))


def typed_strategy(text: str) -> PlayerSpec:
    """The strategy of `DIR|POST-PROCESSING|TRANSLATION`, which may be preceded by `strategy:` or a name."""
    try:
        spec = parse_player(text)
    except DefinitionError:
        spec = parse_player(f"{PlayerKind.STRATEGY}:{text}")
    if spec.kind != PlayerKind.STRATEGY:
        raise DefinitionError(f"player {text!r} is not a strategy: expected a strategy folder")
    return _resolved(spec)


def typed_players(texts: Iterable[str]) -> list[PlayerSpec]:
    """Several players of one match, comparison or tournament: no two may have the same name."""
    players = list(map(typed_player, texts))
    aliases = [player.alias for player in players if player.alias]
    for alias in aliases:
        if aliases.count(alias) > 1:
            raise DefinitionError(f"two players are called {alias!r}: give each a name of its own")
    return players


def with_options(text: str, postprocess: str | None, translation: str | None) -> PlayerSpec:
    """The player of a name with the post-processing and the translation of the options, if given."""
    spec = typed_player(text)
    if postprocess is None and translation is None:
        return spec
    if spec.kind != PlayerKind.STRATEGY or "|" in text:
        raise DefinitionError(f"--postprocess, --translation: player {str(spec)!r} is not a plain strategy folder")
    return replace(
        spec,
        postprocess=played_steps(_strategy_name(text), postprocess, None),
        translation=parse_translation(translation) if translation is not None else None,
    )


def own_search(text: str) -> str:
    """The search that a player's name brings, where no other was typed behind it; empty if none."""
    own = played_as(_strategy_name(text)).search
    return own if own and "search" not in text.partition("|")[2].lower() else ""


def _strategy_name(text: str) -> str:
    """A strategy's name as it was typed: without NAME=, strategy: and what follows it."""
    typed = text.partition("|")[0]
    if not _is_strategy(typed):
        typed = typed.rpartition("=")[2]
    return typed.removeprefix(f"{PlayerKind.STRATEGY}:")


def _resolved(spec: PlayerSpec) -> PlayerSpec:
    """The player with absolute paths; a packed strategy is unpacked, with progress."""
    if spec.kind == PlayerKind.STRATEGY:
        spec = replace(spec, subject=str(strategy_folder(spec.subject)))
    return spec.resolved()


def _is_strategy(text: str) -> bool:
    return is_strategy_name(text.partition("|")[0])
