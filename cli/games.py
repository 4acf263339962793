"""`foldwise games`: sizes of the built-in games, or of one."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import typer
from rich.table import Table

from foldwise.cli.options import JsonOption
from foldwise.cli.support.output import emit, stdout

if TYPE_CHECKING:
    from foldwise.game.definition import GameDefinition
    from foldwise.game.sizes import GameSize

_FEW_CARDS = 24


@dataclass(frozen=True, kw_only=True)
class GamesRequest:
    name: Annotated[str | None, typer.Argument(help="A game's name, or the path of an ACPC .game file.")] = None
    buckets: Annotated[
        int | None, typer.Option(help="Count nested buckets, this many per street, instead of cards.")
    ] = None
    as_json: JsonOption = False


class GamesResult(TypedDict):
    games: list[dict[str, Any]]


def games(request: GamesRequest) -> None:
    """Sizes of the built-in games, or of one game by street.

    Example: foldwise games limit --buckets 5
    """
    from foldwise.game.cards import cards_text
    from foldwise.game.library import BUILT_IN_NAMES, PokerGame, find_game
    from foldwise.game.sizes import measure

    chosen = BUILT_IN_NAMES if request.name is None else (request.name,)
    sizes = [measure(find_game(game), request.buckets) for game in chosen]
    result = GamesResult(games=[size.as_dict() for size in sizes])
    if request.name is not None:
        found = find_game(request.name)
        result["games"][0]["deck"] = cards_text(found.definition.deck) if isinstance(found, PokerGame) else None

    def show() -> None:
        if request.name is None:
            _show_all(sizes)
            return
        _show_one(sizes[0])
        if isinstance(found, PokerGame):
            stdout.print(_deck_text(found.definition))

    emit(result, request.as_json, show)


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
    table = Table(box=None, header_style="bold")
    for heading in ("game", "players", "streets", "decision nodes", "nodes", "infosets", "suit-distinct", "states"):
        table.add_column(heading, justify="left" if heading == "game" else "right")
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


def _show_one(size: "GameSize") -> None:
    counted = f", {size.buckets} nested buckets a street" if size.buckets else ""
    stdout.print(f"{size.name}: {size.players} players, {size.streets} streets{counted}")
    table = Table(box=None, header_style="bold")
    for heading in ("street", "decision nodes", "nodes", "infosets", "suit-distinct", "infoset-actions", "states"):
        table.add_column(heading, justify="right")
    for street in size.by_street:
        numbers = (
            street.decision_nodes,
            street.nodes,
            street.infosets,
            street.infosets_iso,
            street.infoset_actions,
            street.states,
        )
        table.add_row(str(street.street), *map(_number, numbers))
    totals = (
        size.decision_nodes,
        size.nodes,
        size.infosets,
        size.infosets_iso,
        size.infoset_actions,
        size.states,
    )
    table.add_row("all", *map(_number, totals))
    stdout.print(table)
    if size.note:
        stdout.print(size.note)
