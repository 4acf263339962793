"""Files of hands: ACPC logs, PHH files and poker rooms' histories, read and converted, single files or folders."""

from collections.abc import Sequence
from pathlib import Path

from foldwise.abstraction.storage.whole_file import written_whole
from foldwise.game.definition import GameDefinition, parse_definition
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.game.library import find_definition
from foldwise.matches.plan import PLAN_FILE, load_plan
from foldwise.matches.report.phh import logged_hand, phh_text, phhs_text, read_phh
from foldwise.matches.report.pokerstars import is_pokerstars, read_pokerstars
from foldwise.matches.table.hand import score_line
from foldwise.matches.table.log import LOG_ENCODING, LOG_ERRORS, LoggedHand, header_text, read_log, state_line

LOG, PHH, PHHS = ".log", ".phh", ".phhs"
_HEADER = "# name/game/hands/seed "
_NAMED_GAMES = ("hunl", "limit", "leduc", "kuhn", "two-limit-1", "two-limit-4")
_LIMITS_MS = (600_000, 600_000, 7_000)


def log_definition(log: Path, game: str | None = None, default: str | None = None) -> GameDefinition:
    """The rules of a log: those of `game`, else of the match plan beside it, else of the game its header names; a log that
    does not say its game, or not by a name we know, is of `default` if there is one.
    """
    if game is not None:
        return find_definition(game)
    try:
        return _own_definition(log)
    except DefinitionError:
        if default is None:
            raise
        return find_definition(default)


def _own_definition(log: Path) -> GameDefinition:
    """The rules that a log names itself, or the plan beside it."""
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
        with log.open(encoding=LOG_ENCODING, errors=LOG_ERRORS) as file:
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


def read_hands(source: Path, game: str | None = None) -> list[LoggedHand]:
    """The hands of an ACPC log, a PHH file or a poker room's history, whichever it is; cards may be unknown.

    `game` is that of a log whose header does not say it. Hands of a room and of PHH may be of several games.
    """
    if source.suffix.lower() == LOG:
        hands = list(read_log(source, log_definition(source, game), hidden=True))
        if not hands:
            raise FormatError(f"{source} has no finished hand: give a log with STATE lines")
        return hands
    try:
        text = source.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise DefinitionError(f"{source}: no such file: give a log, a PHH file or a room's hand history") from None
    except UnicodeDecodeError as error:
        raise FormatError(f"{source}: not text ({error}): expected a PHH file or a hand history") from None
    if is_pokerstars(text):
        return list(read_pokerstars(text, str(source)))
    if source.suffix.lower() not in (PHH, PHHS):
        raise FormatError(f"{source}: expected a .log, a .phh or .phhs file, or a hand history of PokerStars")
    return [logged_hand(history, number) for number, history in enumerate(read_phh(text, str(source)))]


def convert_file(source: Path, target: Path, game: str | None = None) -> int:
    """Write the hands of one file in the form that the target's name asks for; returns their number."""
    kind = target.suffix.lower()
    if kind not in (LOG, PHH, PHHS):
        raise DefinitionError(
            f"{source} to {target}: expected a target that ends with .log, .phhs or .phh, or a folder"
        )
    hands = read_hands(source, game)
    if kind == LOG:
        _write_log(hands, source, target)
        return len(hands)
    if kind == PHH and len(hands) != 1:
        raise FormatError(f"{source} has {len(hands)} hands, a .phh file holds one: give a .phhs file")
    with written_whole(target) as file:
        file.writelines([phh_text(hands[0])] if kind == PHH else phhs_text(hands))
    return len(hands)


def one_game(hands: Sequence[LoggedHand], source: Path | str, instead: str) -> GameDefinition:
    """The game of all the hands; `FormatError`, with what to do instead, if there are several games."""
    definition = hands[0].betting.definition
    for number, hand in enumerate(hands, start=1):
        if hand.betting.definition != definition:
            raise FormatError(f"{source}, hand {number}: other stacks, blinds or rules than hand 1: {instead}")
    return definition


def _write_log(hands: Sequence[LoggedHand], source: Path, target: Path) -> None:
    """Write a log, which holds one game; a game that is not built in is written beside it.

    Players change places from hand to hand as the file says, and the score is summed by name.
    """
    instead = "a log is of one game; give a folder as the target, for a log of each game, or a .phhs file"
    definition = one_game(hands, source, instead)
    name = game_name(definition)
    if name is None:
        name = f"{target.stem}.game"
        with written_whole(target.with_name(name)) as file:
            file.write(definition.to_text())
    lines = [state_line(hand) for hand in hands]
    with written_whole(target) as file:
        file.write(header_text(target.stem.replace(" ", "."), name.replace(" ", "."), len(lines), 0, _LIMITS_MS))
        file.writelines(f"{line}\n" for line in lines)
        file.write(_total(lines) + "\n")


def split_by_game(source: Path, target: Path, game: str | None = None) -> int:
    """Write the hands of one file as a log for each game in it, into the folder `target`; returns their number."""
    games: dict[GameDefinition, list[LoggedHand]] = {}
    for hand in read_hands(source, game):
        games.setdefault(hand.betting.definition, []).append(hand)
    target.mkdir(parents=True, exist_ok=True)
    for number, hands in enumerate(games.values(), start=1):
        _write_log(hands, source, target / f"{source.stem}-{number:03d}{LOG}")
    return sum(map(len, games.values()))


def _total(lines: Sequence[str]) -> str:
    totals: dict[str, float] = {}
    for line in lines:
        values, names = line.split(":", 5)[4:]
        for value, name in zip(values.split("|"), names.split("|")):
            totals[name] = totals.get(name, 0.0) + float(value)
    return score_line(list(totals.values()), list(totals))


def convert_folder(source: Path, target: Path, game: str | None = None) -> int:
    """Convert every log of a folder to PHH, or every PHH file to a log; returns the number of hands.

    A match plan is copied too, so that a match folder can be converted there and back.
    """
    logs = sorted(source.glob(f"*{LOG}"))
    histories = sorted(path for path in source.iterdir() if path.suffix in (PHH, PHHS))
    if bool(logs) == bool(histories):
        raise DefinitionError(f"{source}: expected either *.log or *.phhs files in it, to convert one into the other")
    target.mkdir(parents=True, exist_ok=True)
    if (source / PLAN_FILE).is_file() and target.resolve() != source.resolve():
        (target / PLAN_FILE).write_bytes((source / PLAN_FILE).read_bytes())
    ending = PHHS if logs else LOG
    return sum(convert_file(path, target / f"{path.stem}{ending}", game) for path in logs or histories)
