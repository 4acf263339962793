"""`foldwise games`: sizes of the built-in games, or of one."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

from foldwise.cli.options import JsonOption
from foldwise.cli.support.output import emit, stdout, text_table

if TYPE_CHECKING:
    from foldwise.game.definition import GameDefinition
    from foldwise.game.sizes import GameSize, StreetSize

_FEW_CARDS = 24


@dataclass(frozen=True, kw_only=True)
class GamesRequest:
    name: Annotated[str | None, typer.Argument(help="A game's name, or the path of an ACPC .game file.")] = None
    buckets: Annotated[
        int | None, typer.Option(help="Count nested buckets, this many per street, instead of cards.")
    ] = None
    as_json: JsonOption = False


class GamesResult(TypedDict):
    games: list["GameSize"]


def games(request: GamesRequest) -> None:
    """Sizes of the built-in games, or of one game by street.

    Example: foldwise games limit --buckets 5
    """
    from foldwise.game.library import BUILT_IN_NAMES, PokerGame, find_game
    from foldwise.game.sizes import measure

    found = [find_game(name) for name in (BUILT_IN_NAMES if request.name is None else (request.name,))]
    sizes = [measure(game, request.buckets) for game in found]

    def show() -> None:
        if request.name is None:
            _show_all(sizes)
            return
        _show_one(sizes[0])
        if isinstance(found[0], PokerGame):
            stdout.print(_deck_text(found[0].definition))

    emit(GamesResult(games=sizes), request.as_json, show)


def _deck_text(definition: "GameDefinition") -> str:
    """What is dealt: the cards by name if there are few."""
    from foldwise.game.cards import cards_text

    deck = sorted(definition.deck, reverse=True)
    names = " ".join(cards_text([card]) for card in deck) if len(deck) <= _FEW_CARDS else "the full deck"
    board = ", ".join(map(str, definition.num_board_cards))
    return f"deck of {len(deck)}: {names}; {definition.num_hole_cards} to each player, board cards by street {board}"


def _number(count: int | None) -> str:
    if count is None:
        return "-"
    return f"{count:,}" if count < 10**9 else f"{count:.3g}".replace("e+", "e")


def _show_all(sizes: "list[GameSize]") -> None:
    table = text_table(
        ("game", "players", "streets", "decision nodes", "nodes", "infosets", "suit-distinct", "states"), ("game",)
    )
    for size in sizes:
        table.add_row(
            size.name,
            str(size.players),
            str(size.streets),
            *map(_number, (size.decision_nodes, size.nodes, size.infosets, size.infosets_iso, size.states)),
        )
    stdout.print(table)
    for size in sizes:
        if size.note:
            stdout.print(f"{size.name}: {size.note}")


def _counts(part: "GameSize | StreetSize") -> list[str]:
    counts = (part.decision_nodes, part.nodes, part.infosets, part.infosets_iso, part.infoset_actions, part.states)
    return [_number(count) for count in counts]


def _show_one(size: "GameSize") -> None:
    counted = f", {size.buckets} nested buckets a street" if size.buckets else ""
    stdout.print(f"{size.name}: {size.players} players, {size.streets} streets{counted}")
    table = text_table(
        ("street", "decision nodes", "nodes", "infosets", "suit-distinct", "infoset-actions", "states"), ()
    )
    for street in size.by_street:
        table.add_row(str(street.street), *_counts(street))
    table.add_row("all", *_counts(size))
    stdout.print(table)
    if size.note:
        stdout.print(size.note)
