"""`foldwise spot`: a turn or a river solved from two ranges."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NotRequired, TypedDict

import typer

from foldwise.cli.options import JsonOption, OverwriteOption
from foldwise.cli.support.interrupts import stopped_by_signals
from foldwise.cli.support.output import ProgressLine, emit, stdout
from foldwise.cli.support.outputs import check_picture
from foldwise.cli.support.strategies import typed_folder
from foldwise.game.errors import DefinitionError, FormatError

if TYPE_CHECKING:
    from foldwise.solver.subgame.spot import Spot, SpotProgress, SpotSolver

_RANKS = "AKQJT98765432"
_DEFAULT_ITERATIONS = 200


@dataclass(frozen=True, kw_only=True)
class SpotRequest:
    file: Annotated[str | None, typer.Argument(metavar="[FILE]", help="A JSON file, or - for standard input.")] = None
    strategy: Annotated[
        Path | None,
        typer.Option(metavar="DIR", callback=typed_folder, help="Instead of FILE: ranges and bet sizes of a strategy."),
    ] = None
    betting: Annotated[str | None, typer.Option(help="With --strategy: the betting so far, as in r300c/cc/.")] = None
    board: Annotated[str | None, typer.Option(help="With --strategy: the board, as in AsKd2c9s.")] = None
    turn: Annotated[
        str | None, typer.Option(metavar="BETS", help="With --strategy: other bets on the turn, as in 'f c 1p a'.")
    ] = None
    river: Annotated[str | None, typer.Option(metavar="BETS", help="With --strategy: other bets on the river.")] = None
    iterations: Annotated[
        int | None,
        typer.Option(min=1, help=f"Stop after this many iterations; without --seconds, {_DEFAULT_ITERATIONS}."),
    ] = None
    seconds: Annotated[float | None, typer.Option(min=0.0, help="Stop after this much solving time.")] = None
    threads: Annotated[int | None, typer.Option(min=1, help="Threads; default: one per core.")] = None
    schedule: Annotated[str, typer.Option(help="dcfr, dcfr+, lcfr, cfr+ or cfr.")] = "dcfr"
    rivers: Annotated[
        int, typer.Option(help="Rivers walked at a time on a turn, a divisor of 48; each iteration walks all of them.")
    ] = 8
    png: Annotated[Path | None, typer.Option("--png", metavar="FILE", help="Draw the strategy, 13 by 13.")] = None
    overwrite: OverwriteOption = False
    as_json: JsonOption = False


class SpotPoint(TypedDict):
    iterations: int
    seconds: float
    exploitability_mbb: float
    exploitability_pot_percent: float


class SpotResult(TypedDict):
    exploitability_mbb: float
    exploitability_pot_percent: float
    best_response_mbb: Sequence[float]
    value_mbb: float
    iterations: int
    seconds: float
    hand_nodes_per_second: float
    nodes: int
    actions: list[str]
    frequencies: list[float]
    strategy: dict[str, list[float]]
    values: dict[str, float]
    opponent_values: dict[str, float]
    history: list[SpotPoint]
    png: NotRequired[str]


def spot(request: SpotRequest) -> None:
    """Solve a turn or a river: what the player to act does with each hand, and what each hand is worth.

    The file has the keys board, pot, stacks, ranges and bets; in a pair, the first entry is for the player who acts first:

    {"board": "4s8hTc9h2s", "pot": 500, "stacks": [19750, 19750], "ranges": ["22+, AKs, 0.5(QQ)", {"AsKs": 0.74}],
    "bets": {"river": "f c 0.5p 1p a | f c 1p a | f c"}}

    Ctrl-C prints what is solved so far. Example: foldwise spot river.json --iterations 500 --png river.png

    Example: foldwise spot --strategy runs/small --betting r300c/cr600c/ --board AsKd2c9s --turn "f c 1p a | f c a"
    """
    from foldwise.solver.samplers import FULL_WIDTH
    from foldwise.solver.subgame.spot import SpotSolver

    png, iterations = request.png, request.iterations
    if request.schedule not in FULL_WIDTH:
        raise DefinitionError(f"--schedule {request.schedule!r}: expected one of {', '.join(FULL_WIDTH)}")
    check_picture(png, request.overwrite)
    if png is not None and not png.parent.is_dir():
        raise DefinitionError(f"--png {str(png)!r}: no folder {str(png.parent)!r}: make it first or give another file")
    if iterations is None and request.seconds is None:
        iterations = _DEFAULT_ITERATIONS
    threads = request.threads or len(os.sched_getaffinity(0))
    solver = SpotSolver(_find(request), threads, request.schedule, request.rivers)
    line = ProgressLine("spot")
    line.say(f"{len(solver.game.nodes):,} nodes, {solver.game.num_bytes / 1e6:,.0f} MB of tables")
    history, interrupted = _drive(solver, iterations, request.seconds, line)
    result = _result(solver, history)
    if png is not None:
        _draw(solver, history[-1], png)
        result["png"] = str(png)
    emit(result, request.as_json, lambda: _show(solver, history[-1], png))
    if interrupted:
        raise typer.Exit(130)


def _find(request: SpotRequest) -> "Spot":
    """The spot from a file, or from a strategy and a typed betting."""
    typed = {
        "--betting": request.betting,
        "--board": request.board,
        "--turn": request.turn,
        "--river": request.river,
    }
    if request.strategy is None:
        given = [name for name, text in typed.items() if text is not None]
        if request.file is None or given:
            raise DefinitionError(
                f"{given[0]} without --strategy: give --strategy DIR"
                if given
                else "spot: give a FILE, - or --strategy DIR"
            )
        return _read(request.file)
    if request.file is not None or request.betting is None or request.board is None:
        raise DefinitionError("--strategy: give --betting and --board with it, and no FILE")
    from foldwise.search.strategy_spot import strategy_spot

    return strategy_spot(request.strategy, request.betting, request.board, request.turn, request.river)


def _read(file: str) -> "Spot":
    from foldwise.solver.subgame.spot import read_spot

    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise FormatError(f"spot {file!r}: {error.strerror}: give the path of a JSON file, or - to read it") from None
    except UnicodeDecodeError:
        raise FormatError(f"spot {file!r} is not text: expected a JSON file") from None
    return read_spot(text, file)


def _drive(
    solver: "SpotSolver", iterations: int | None, seconds: float | None, line: ProgressLine
) -> tuple[list["SpotProgress"], bool]:
    """Solve to the end or to Ctrl-C; the measurements, and whether it was interrupted."""
    history: list[SpotProgress] = []

    def stop() -> None:
        solver.stop = True

    with stopped_by_signals(stop) as received:
        for progress in solver.run(iterations, seconds):
            shares = [1.0 * solver.iterations / iterations] if iterations is not None else []
            shares += [solver.seconds / seconds] if seconds else []
            line.update(f"{solver.iterations:,} iterations", min(1.0, max(shares, default=0.0)))
            if progress is not None:
                history.append(progress)
                line.say(f"{progress.iterations:,} iterations, {progress.pot_percent:.3f}% of the pot exploitable")
    return history, bool(received)


def _result(solver: "SpotSolver", history: "Sequence[SpotProgress]") -> SpotResult:
    last = history[-1]
    return SpotResult(
        exploitability_mbb=last.exploitability.exploitability_mbb,
        exploitability_pot_percent=last.pot_percent,
        best_response_mbb=last.exploitability.best_response_mbb,
        value_mbb=last.value_mbb,
        iterations=last.iterations,
        seconds=last.seconds,
        hand_nodes_per_second=solver.game.hand_nodes / last.seconds if last.seconds else 0.0,
        nodes=len(solver.game.nodes),
        actions=_actions(solver),
        frequencies=solver.frequencies(),
        strategy=solver.strategy(),
        values=solver.values(solver.actor),
        opponent_values=solver.values(1 - solver.actor),
        history=[
            SpotPoint(
                iterations=point.iterations,
                seconds=point.seconds,
                exploitability_mbb=point.exploitability.exploitability_mbb,
                exploitability_pot_percent=point.pot_percent,
            )
            for point in history
        ],
    )


def _actions(solver: "SpotSolver") -> list[str]:
    return [action.text(limit=False) for action in solver.game.actions]


def _show(solver: "SpotSolver", last: "SpotProgress", png: Path | None) -> None:
    actions = _actions(solver)
    shares = ", ".join(f"{name} {100 * share:.1f}%" for name, share in zip(actions, solver.frequencies()))
    stdout.print(f"the player to act: {shares} (amounts are chips over the whole hand)")
    _show_grid(actions, solver.class_rows())
    rate = solver.game.hand_nodes / last.seconds / 1e6 if last.seconds else 0.0
    stdout.print(f"{last.iterations:,} iterations, {last.seconds:.1f} s of solving, {rate:.0f}M hand-nodes/s")
    stdout.print(
        f"value to the player to act {last.value_mbb:+.1f} mbb, exploitability "
        f"{last.exploitability.exploitability_mbb:.2f} mbb, {last.pot_percent:.3f}% of the pot"
    )
    _show_values(solver)
    if png is not None:
        stdout.print(f"written to {png}")


def _show_grid(actions: list[str], rows: dict[str, list[float]]) -> None:
    """Each class with the most frequent of fold, call and raise (all sizes together), in percent."""
    for i, high in enumerate(_RANKS):
        cells = []
        for j, low in enumerate(_RANKS):
            name = high + low if i == j else (high + low + "s" if i < j else low + high + "o")
            if name not in rows:
                cells.append(f"{name:<3} -   ")
                continue
            totals = dict.fromkeys("fcr", 0.0)
            for action, share in zip(actions, rows[name]):
                totals[action[0]] += share
            kind = max(totals, key=lambda kind: totals[kind])
            cells.append(f"{name:<3} {kind}{100 * totals[kind]:<3.0f}")
        stdout.print(" ".join(cells).rstrip())


def _show_values(solver: "SpotSolver") -> None:
    """The hands worth most and least to the player to act."""
    values = sorted(solver.values(solver.actor).items(), key=lambda item: -item[1])
    shown = values if len(values) <= 10 else values[:5] + values[-5:]
    stdout.print("worth in mbb: " + ", ".join(f"{hand} {value:+.0f}" for hand, value in shown))


def _draw(solver: "SpotSolver", last: "SpotProgress", output: Path) -> None:
    from foldwise.cli.support.comparison_pictures import draw_strategy_grid
    from foldwise.game.cards import cards_text

    actions = _actions(solver)
    title = f"{cards_text(solver.spot.board)}, pot {solver.spot.pot}, exploitability {last.pot_percent:.2f}% of it"
    draw_strategy_grid(actions, [action[0] for action in actions], solver.class_rows(), title, output)
