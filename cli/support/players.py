"""Players as typed on the command line: a strategy's folder, a packed file or `default` needs no `strategy:`."""

from collections.abc import Iterable
from dataclasses import replace

from foldwise.abstraction.named_strategy import is_strategy_name
from foldwise.agent.mappings.translation import parse_translation
from foldwise.agent.player_spec import PlayerKind, PlayerSpec, check_alias, parse_player
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


def with_options(spec: PlayerSpec, postprocess: str | None, translation: str | None) -> PlayerSpec:
    """The player with the post-processing and the translation of the options, if given."""
    if postprocess is None and translation is None:
        return spec
    if spec.kind != PlayerKind.STRATEGY or spec.postprocess or spec.translation is not None:
        raise DefinitionError(f"--postprocess, --translation: player {str(spec)!r} is not a plain strategy folder")
    return replace(
        spec,
        postprocess=postprocess or "",
        translation=parse_translation(translation) if translation is not None else None,
    )


def _resolved(spec: PlayerSpec) -> PlayerSpec:
    """The player with absolute paths; a packed strategy is unpacked, with progress."""
    if spec.kind == PlayerKind.STRATEGY:
        spec = replace(spec, subject=str(strategy_folder(spec.subject)))
    return spec.resolved()


def _is_strategy(text: str) -> bool:
    return is_strategy_name(text.partition("|")[0])
