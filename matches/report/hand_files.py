"""Files of hands: what game a log is of, and conversion between ACPC logs and PHH files, one by one or by folders."""

from collections.abc import Sequence
from pathlib import Path

from foldwise.abstraction.storage.whole_file import written_whole
from foldwise.game.definition import GameDefinition, parse_definition
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.game.library import find_definition
from foldwise.matches.plan import PLAN_FILE, load_plan
from foldwise.matches.report.phh import history_definition, log_line, phh_text, phhs_text, read_phh
from foldwise.matches.table.hand import score_line
from foldwise.matches.table.log import header_text, read_log

LOG, PHH, PHHS = ".log", ".phh", ".phhs"
_HEADER = "# name/game/hands/seed "
_NAMED_GAMES = ("hunl", "limit", "leduc", "kuhn", "two-limit-1", "two-limit-4")
_LIMITS_MS = (600_000, 600_000, 7_000)


def log_definition(log: Path, game: str | None = None) -> GameDefinition:
    """The rules a log was played by: of `game`, else of the match plan beside it, else of the game its header names."""
    if game is not None:
        return find_definition(game)
    if (log.parent / PLAN_FILE).is_file():
        return parse_definition(load_plan(log.parent).definition, source=PLAN_FILE)
    name = _header_game(log)
    beside = log.parent / name
    if name.endswith(".game") and beside.is_file():
        return find_definition(str(beside))
    try:
        return find_definition(name)
    except DefinitionError:
        raise DefinitionError(f"{log}: its header names the game {name!r}, which is unknown: give --game") from None


def _header_game(log: Path) -> str:
    try:
        with log.open(encoding="latin-1") as file:
            line = file.readline().rstrip("\r\n")
    except FileNotFoundError:
        raise DefinitionError(f"{log}: no such log: give a match folder or an ACPC log") from None
    words = line.removeprefix(_HEADER).split(" ")
    if not line.startswith(_HEADER) or len(words) < 4:
        raise DefinitionError(f"{log}: no header that names its game: give --game")
    return words[-3]


def game_name(definition: GameDefinition) -> str | None:
    """The built-in name of a game, if it has one."""
    return next((name for name in _NAMED_GAMES if find_definition(name) == definition), None)


def log_to_phh(log: Path, target: Path, game: str | None = None) -> int:
    """Write the hands of a log as PHH; returns their number. `.phh` holds one hand, `.phhs` any number."""
    hands = list(read_log(log, log_definition(log, game)))
    if not hands:
        raise FormatError(f"{log} has no finished hand: give a log with STATE lines")
    single = target.suffix.lower() == PHH
    if single and len(hands) != 1:
        raise FormatError(f"{log} has {len(hands)} hands, a .phh file holds one: give a .phhs file")
    with written_whole(target) as file:
        file.writelines([phh_text(hands[0])] if single else phhs_text(hands))
    return len(hands)


def phh_to_log(source: Path, target: Path) -> int:
    """Write the hands of a PHH file as an ACPC log; returns their number.

    A log is of one game: a game that is not built in is written beside it. Players change places from hand to hand as
    the file says, and the score is summed by name.
    """
    try:
        text = source.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{source}: not text ({error}): expected a PHH file") from None
    histories = read_phh(text, str(source))
    definition = history_definition(histories[0])
    for number, history in enumerate(histories, start=1):
        if history_definition(history) != definition:
            raise FormatError(
                f"{source}, hand {number}: other stacks, blinds or rules than hand 1: a log is of one game; "
                "convert such hands to separate logs"
            )
    lines = [log_line(history, index) for index, history in enumerate(histories)]
    name = game_name(definition)
    if name is None:
        name = f"{target.stem}.game"
        target.with_name(name).write_text(definition.to_text(), encoding="utf-8")
    with written_whole(target, "latin-1") as file:
        file.write(header_text(target.stem.replace(" ", "."), name.replace(" ", "."), len(lines), 0, _LIMITS_MS))
        file.writelines(f"{line}\n" for line in lines)
        file.write(_total(lines) + "\n")
    return len(lines)


def _total(lines: Sequence[str]) -> str:
    totals: dict[str, float] = {}
    for line in lines:
        values, names = line.split(":", 5)[4:]
        for value, name in zip(values.split("|"), names.split("|")):
            totals[name] = totals.get(name, 0.0) + float(value)
    return score_line(list(totals.values()), list(totals))


def convert_folder(source: Path, target: Path, game: str | None = None) -> int:
    """Convert every log of a folder to PHH, or every PHH file to a log; returns the number of hands.

    A match plan goes along, so that a converted match folder becomes one again.
    """
    logs = sorted(source.glob(f"*{LOG}"))
    histories = sorted(path for path in source.iterdir() if path.suffix in (PHH, PHHS))
    if bool(logs) == bool(histories):
        raise DefinitionError(f"{source}: expected either *.log or *.phhs files in it, to convert one into the other")
    target.mkdir(parents=True, exist_ok=True)
    if (source / PLAN_FILE).is_file() and target.resolve() != source.resolve():
        (target / PLAN_FILE).write_bytes((source / PLAN_FILE).read_bytes())
    if logs:
        return sum(log_to_phh(log, target / f"{log.stem}{PHHS}", game) for log in logs)
    return sum(phh_to_log(path, target / f"{path.stem}{LOG}") for path in histories)
