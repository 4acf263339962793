"""`foldwise abstract`: the card abstraction of a config, what a hand looks like in it, and how large the game is."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NotRequired, TypedDict

import typer

from foldwise.cli.options import ConfigArgument, JsonOption, OverwriteOption, SetOption, output_option
from foldwise.cli.support.output import ProgressLine, emit, record_fields, stdout, text_table
from foldwise.cli.support.outputs import check_manifest, check_picture
from foldwise.cli.support.requests import holding
from foldwise.game.errors import DefinitionError

if TYPE_CHECKING:
    from foldwise.abstraction.cards.card_abstraction import CardAbstraction
    from foldwise.abstraction.cards.explain import HandReport
    from foldwise.solver.config import RunConfig

STREETS = ("preflop", "flop", "turn", "river")


@dataclass(frozen=True, kw_only=True)
class AbstractRequest:
    config: ConfigArgument
    output: Annotated[Path | None, output_option("The folder to write.")] = None
    estimate: Annotated[bool, typer.Option("--estimate", help="Only print how large the game and its tables are.")] = (
        False
    )
    show: Annotated[str | None, typer.Option("--show", metavar="HAND", help="Explain a hand, as in AhKh.")] = None
    board: Annotated[str, typer.Option("--board", help="The board for --show, as in Qh7c2d.")] = ""
    png: Annotated[
        Path | None, typer.Option("--png", metavar="FILE", help="Draw the preflop grid by strength and by bucket.")
    ] = None
    overwrite: OverwriteOption = False
    overrides: SetOption = None
    as_json: JsonOption = False


class StreetResult(TypedDict):
    street: str
    classes: int
    buckets: int


class AbstractResult(TypedDict):
    streets: list[StreetResult]
    seconds: float
    bytes: int
    fingerprint: str
    hand: NotRequired["HandReport"]
    png: NotRequired[str]


@holding(lambda request: request.output)
def abstract(request: AbstractRequest) -> None:
    """Build the card abstraction of a config, or explain it.

    Exact hand strength is computed once and kept; an abstraction that already exists is reused.

    Example: foldwise abstract hunl-small -o runs/cards

    Example: foldwise abstract hunl-small --show AhKh --board Qh7h2c
    """
    from foldwise.abstraction.build import config_cards, load_cards
    from foldwise.abstraction.cards.card_abstraction import KIND as CARDS_KIND
    from foldwise.abstraction.config import parse_override, read_config
    from foldwise.abstraction.shipped_configs import find_config
    from foldwise.solver.config import RunConfig

    settings = read_config(
        find_config(request.config), RunConfig, dict(parse_override(text) for text in request.overrides or [])
    )
    if request.estimate:
        _estimate(settings, request.as_json)
        return
    output, png = request.output, request.png
    check_picture(png, request.overwrite)
    if output is not None:
        check_manifest(output, CARDS_KIND)
    wanted = config_cards(settings)
    if wanted is None:
        raise DefinitionError(
            f"config {settings.name!r}: {settings.game!r} has no card abstraction: its deals are all kept apart"
        )
    if output is None and request.show is None and png is None:
        raise DefinitionError("abstract: give -o DIR to write, --show HAND or --png FILE to look, or --estimate")
    line = ProgressLine(f"abstract {settings.name}")
    start = time.perf_counter()
    cards = load_cards(wanted, lambda stage, share: line.update(stage, share))
    if output is not None:
        _save(cards, output, request.overwrite)
    seconds = time.perf_counter() - start
    result = AbstractResult(
        streets=[
            StreetResult(street=name, classes=street.classes, buckets=street.num_buckets)
            for name, street in zip(STREETS, cards.streets)
        ],
        seconds=seconds,
        bytes=cards.bytes,
        fingerprint=cards.fingerprint,
    )
    report: HandReport | None = None
    if request.show is not None:
        from foldwise.abstraction.cards.explain import explain_hand

        report = explain_hand(cards, request.show, request.board)
        result["hand"] = report
    if png is not None:
        from foldwise.cli.support.pictures import draw_preflop_grid

        draw_preflop_grid(cards, png)
        result["png"] = str(png)

    def print_it() -> None:
        if report is not None:
            _print_hand(report)
        else:
            _print_streets(cards, seconds)
        if output is not None:
            stdout.print(f"written to {output}")
        if png is not None:
            stdout.print(f"drawn to {png}")

    emit(result, request.as_json, print_it)


def _save(cards: "CardAbstraction", output: Path, overwrite: bool) -> None:
    from foldwise.abstraction.cards.card_abstraction import CardAbstraction
    from foldwise.game.errors import FormatError

    if output.exists() and not output.is_dir():
        raise DefinitionError(f"output {str(output)!r} is a file: give a folder")
    if output.exists() and any(output.iterdir()):
        try:
            if CardAbstraction.load(output).fingerprint == cards.fingerprint:
                return  # built already
        except FormatError:
            if not (output / "manifest.json").exists():
                raise DefinitionError(f"output {str(output)!r} holds other files: give a new folder") from None
        if not overwrite:
            raise DefinitionError(
                f"{str(output)!r} holds another card abstraction: add --overwrite to replace it, or give another folder"
            )
    cards.save(output)


def _print_streets(cards: "CardAbstraction", seconds: float) -> None:
    table = text_table(("street", "classes", "buckets"), ("street",))
    for name, street in zip(STREETS, cards.streets):
        table.add_row(name, f"{street.classes:,}", f"{street.num_buckets:,}")
    stdout.print(table)
    stdout.print(f"{cards.bytes / 1e6:,.1f} MB in {seconds:.1f} s, fingerprint {cards.fingerprint}")


def _print_hand(report: "HandReport") -> None:
    stdout.print(f"{report.hand} on {report.board or 'no board'}")
    table = text_table(("street", "E[HS]", "E[HS^2]", "bucket", "of", "also in it"), ("street", "also in it"))
    for street in report.streets:
        table.add_row(
            street.street,
            f"{street.hs:.4f}",
            f"{street.hs2:.4f}",
            str(street.bucket),
            str(street.num_buckets),
            " ".join(street.neighbours),
        )
    stdout.print(table)


def _estimate(settings: "RunConfig", as_json: bool) -> None:
    from foldwise.abstraction.build import config_cards
    from foldwise.abstraction.clustering_costs import clustering_seconds
    from foldwise.abstraction.estimate import estimate_size
    from foldwise.solver.config_costs import expected_seconds
    from foldwise.solver.limits import disk_bytes

    size = estimate_size(settings, settings.solver.entry_bytes)
    on_disk, seconds = disk_bytes(settings, size), expected_seconds(settings.solver, size.table_bytes)
    cards = config_cards(settings)
    clustering = None if cards is None else clustering_seconds(cards)

    def print_it() -> None:
        table = text_table(("street", "decision nodes", "nodes", "buckets", "infosets", "infoset-actions"), ("street",))
        for street in size.streets:
            numbers = (
                street.decision_nodes,
                street.nodes,
                street.buckets,
                street.infosets,
                street.infoset_actions,
            )
            table.add_row(street.street, *(f"{number:,}" for number in numbers))
        stdout.print(table)
        stdout.print(
            f"{size.infosets:,} infosets, {size.infoset_actions:,} infoset-actions: "
            f"{size.table_bytes / 1e9:.3f} GB of solver tables, {size.tree_bytes / 1e9:.3f} GB of tree"
        )
        time_text = "" if seconds is None else f", about {seconds / 60:,.1f} minutes of solving"
        stdout.print(f"up to {on_disk / 1e9:.3f} GB of disk while it is solved{time_text}")
        if clustering:
            stdout.print(
                f"about {clustering / 60:,.1f} CPU-minutes of clustering cards before it, unless they are kept"
            )

    numbers = {"disk_bytes": on_disk, "seconds": seconds, "clustering_seconds": clustering}
    emit({**record_fields(size), **numbers}, as_json, print_it)
