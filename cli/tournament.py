"""`foldwise tournament`: the cross table of all pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

from foldwise.cli.options import (
    BoardsOption,
    HandsOption,
    JsonOption,
    LogsOption,
    OverOption,
    OverwriteOption,
    ResumeOption,
    ScoreOption,
    SeedOption,
    ThreadsOption,
    output_option,
)
from foldwise.cli.support.output import ProgressLine, emit, plus_minus, stdout, text_table
from foldwise.cli.support.outputs import KEPT
from foldwise.cli.support.requests import holding
from foldwise.game.errors import DefinitionError

if TYPE_CHECKING:
    from foldwise.agent.player_spec import PlayerSpec
    from foldwise.matches.duplicate.comparison import Table


_HANDS = 20_000  # if neither --hands nor --boards is given
_BOARDS = 200
_RESULT = "tournament.json"


@dataclass(frozen=True, kw_only=True)
class TournamentRequest:
    players: Annotated[list[str], typer.Argument(metavar="PLAYER...", help="Players as in match, or folders.")]
    hands: HandsOption = None
    boards: BoardsOption = None
    game: Annotated[str | None, typer.Option(help="The game; by default that of the first strategy, else hunl.")] = None
    score: ScoreOption = "chips"
    over: OverOption = "memory"
    threads: ThreadsOption = None
    output: Annotated[Path | None, output_option("Folder for JSON and CSV.")] = None
    logs: LogsOption = False
    resume: ResumeOption = False
    overwrite: OverwriteOption = False
    seed: SeedOption = 0
    as_json: JsonOption = False


class CrossTableCell(TypedDict):
    mean_mbb: float
    ci95_mbb: float


class TournamentResult(TypedDict):
    players: list[str]
    game: str
    seed: int
    score: str
    hands: int
    cells: list[list[CrossTableCell | None]]


@holding(lambda request: request.output, _RESULT, *KEPT)
def tournament(request: TournamentRequest) -> None:
    """The cross table of all pairs: what each row wins from each column, on the same deals.

    Example: foldwise tournament bot:call bot:strength runs/tiny "strategy:runs/small|new(0.2)"
    """
    from foldwise.cli.support.players import typed_players
    from foldwise.matches.duplicate.comparison import cross_table
    from foldwise.matches.scoring.scorers import check_score

    players = typed_players(request.players)
    for pair in combinations(players, 2):
        check_score(request.score, pair)
    if len(players) < 2:
        raise DefinitionError(f"tournament of {len(players)}: give two players or more")
    table = _table(players, request)
    cells = cross_table(table, players, ProgressLine("tournament").update)
    result = TournamentResult(
        players=list(map(str, players)),
        game=table.game,
        seed=request.seed,
        score=request.score,
        hands=2 * table.hands,
        cells=[
            [None if cell is None else CrossTableCell(mean_mbb=cell.mean_mbb, ci95_mbb=cell.ci95_mbb) for cell in row]
            for row in cells
        ],
    )
    if request.output is not None:
        _write(request.output, result)
    emit(result, request.as_json, lambda: _show(result))


def _table(players: "Sequence[PlayerSpec]", request: TournamentRequest) -> "Table":
    from foldwise.abstraction.storage.array_store import check_writable
    from foldwise.cli.support.counts import counted_by, hands_or_boards
    from foldwise.cli.support.kept_matches import matches_folder, open_cells, open_output
    from foldwise.cli.support.table_game import players_game
    from foldwise.matches.duplicate.asked import keep_asked, player_text
    from foldwise.matches.duplicate.comparison import Table
    from foldwise.matches.duplicate.match import default_jobs

    if request.over not in ("tcp", "memory"):
        raise DefinitionError(f"--over {request.over!r}: expected tcp or memory")
    game, definition = players_game(request.game, players)
    open_output(request.output, _RESULT, request.resume, request.overwrite)
    if request.output is not None:
        check_writable(request.output)
    default = _BOARDS if request.score == "expectation" else _HANDS
    hands, seed = hands_or_boards(request.hands, request.boards, request.score, default), request.seed % 2**32
    if request.output is not None:
        asked = {
            "players": list(map(player_text, players)),
            "--game": game,
            counted_by(request.score): hands,
            "--score": request.score,
            "--seed": seed,
        }
        keep_asked(request.output, _RESULT, asked, request.resume)
    return Table(
        game=game,
        definition=definition,
        hands=hands,
        seed=seed,
        over=request.over,
        jobs=request.threads or default_jobs(),
        folder=matches_folder(request.output, request.logs, request.score),
        score=request.score,
        cells=open_cells(request.output, definition, hands, seed, request.score),
    )


def _show(result: TournamentResult) -> None:
    from foldwise.agent.player_spec import parse_player
    from foldwise.matches.report.report import num_hands_text

    title = f"row's mbb/h, {num_hands_text(result['hands'], result['score'])} a cell, by {result['score']}"
    names = [parse_player(player).short() for player in result["players"]]
    text = text_table(("", *names, "average"), ("",), title)
    for name, row in zip(names, result["cells"]):
        played = [cell["mean_mbb"] for cell in row if cell is not None]
        shown = ["" if cell is None else plus_minus(cell["mean_mbb"], cell["ci95_mbb"]) for cell in row]
        text.add_row(name, *shown, f"{sum(played) / len(played):+.1f}")
    stdout.print(text)


def _write(output: Path, result: TournamentResult) -> None:
    from foldwise.matches.result_file import write_result

    rows: list[list[object]] = [["player", "opponent", "mean_mbb", "ci95_mbb", "hands"]]
    for player, row in zip(result["players"], result["cells"]):
        for opponent, cell in zip(result["players"], row):
            if cell is not None:
                rows.append([player, opponent, cell["mean_mbb"], cell["ci95_mbb"], result["hands"]])
    write_result(output / _RESULT, result, {"tournament.csv": rows})
