"""Checks a folder of ours completely, whatever wrote it: strategy, cards, checkpoint, match, comparison, duels.

Nothing is written or repaired. Every array is read and compared with both its checksums; trees and tables must be safe
for kernels to follow; every hand of every log must be legal, and its values must sum to zero.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from foldwise.abstraction.card_lookup import open_card_lookup
from foldwise.abstraction.cards.card_abstraction import KIND as CARDS_KIND
from foldwise.abstraction.cards.card_abstraction import CardAbstraction
from foldwise.abstraction.storage.array_store import ArrayEntry, check_plain, file_hash, open_array
from foldwise.abstraction.strategy import CARDS, MANIFEST, Strategy, StrategyManifest
from foldwise.game.definition import GameDefinition, parse_definition
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.matches.duplicate.asked import ASKED_FILE, REMEDY
from foldwise.matches.duplicate.cells import CELLS_FOLDER, read_cell
from foldwise.matches.network.block_store import BLOCKS_FILE, JOB_FILE, BlockStore, read_job
from foldwise.matches.plan import MATCHES_FOLDER, PLAN_FILE, RESULT_FILE, MatchPlan, load_plan
from foldwise.matches.report.duel import DUEL_FILE, duel_logs, load_duel
from foldwise.matches.result_file import check_result, read_object
from foldwise.matches.scores import SCORES
from foldwise.matches.scoring.lbr_run import LBR_FILE
from foldwise.matches.scoring.log_scores import check_values
from foldwise.matches.scoring.scorers import boards_path, read_boards
from foldwise.matches.table.hand import score_line
from foldwise.matches.table.log import (
    LOG_ENCODING,
    LOG_ERRORS,
    is_complete,
    parse_state_line,
    seat_values,
    state_lines,
)

CHECKPOINTS = ("checkpoint.json", "distributed.json")
RESULTS = ("comparison.json", "tournament.json", RESULT_FILE)
_MOST_NAMED = 20  # problems of one kind reported per file


class _Arrays(BaseModel):
    """The part common to all our manifests of arrays."""

    model_config = ConfigDict(extra="ignore")

    kind: str = ""
    arrays: dict[str, ArrayEntry] = {}


@dataclass
class FolderCheck:
    """What was found."""

    kinds: list[str] = field(default_factory=list)
    files: set[Path] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)

    @property
    def num_bytes(self) -> int:
        return sum(path.stat().st_size for path in self.files if path.is_file())

    def attempt(self, work: Callable[[], object]) -> None:
        """Run a part of the check; an error is recorded as a problem, and the check continues."""
        try:
            work()
        except (FormatError, DefinitionError) as error:
            self.problems.append(str(error))
        except (OSError, ValidationError, ValueError, KeyError, RecursionError) as error:
            self.problems.append(" ".join(str(error).split())[:300])


def check_folder(folder: Path) -> FolderCheck:
    """Check everything in the folder; raises `DefinitionError` if it is not one of ours."""
    check = FolderCheck()
    for name, work in (
        (MANIFEST, _check_manifest),
        *((name, _check_checkpoint) for name in CHECKPOINTS),
        (PLAN_FILE, _check_match),
        (JOB_FILE, _check_job),
        *((name, _check_result) for name in RESULTS),
        (ASKED_FILE, _check_asked),
        (LBR_FILE, _check_lbr),
        (DUEL_FILE, _check_duel),
    ):
        path = folder / name
        if path.exists():
            check.files.add(path)
            check.attempt(partial(work, check, path))
    if not check.files:
        raise DefinitionError(
            f"{str(folder)!r} is not a folder of ours: expected one of abstract, solve, match, compare, tournament, lbr or "
            "duel"
        )
    _check_kept(check, folder)
    return check


def _check_arrays(check: FolderCheck, path: Path) -> _Arrays:
    """Every array of a manifest, in both checksums."""
    manifest = _Arrays.model_validate(read_object(path, "write the folder again"))
    for entry in manifest.arrays.values():
        check.attempt(partial(_check_array, check, path.parent, entry))
    return manifest


def _check_array(check: FolderCheck, folder: Path, entry: ArrayEntry) -> None:
    path = folder / entry.file
    if path.name != entry.file:
        raise FormatError(f"{entry.file!r} in {str(folder)!r} leads out of the folder: write the folder again")
    check.files.add(path)
    num_bytes = open_array(folder, entry).nbytes
    sha256 = hashlib.sha256()
    with path.open("rb") as stream:
        stream.seek(path.stat().st_size - num_bytes)
        while chunk := stream.read(1 << 24):
            sha256.update(chunk)
    if file_hash(path, num_bytes) != entry.xxh3 or sha256.hexdigest() != entry.sha256:
        raise FormatError(f"{str(path)!r} is damaged: its checksum is not the one in the manifest")


def _check_manifest(check: FolderCheck, path: Path) -> None:
    folder = path.parent
    try:
        manifest = _check_arrays(check, path)
    except FormatError:
        check.kinds.append("arrays")  # of whatever: its kind stands in the manifest
        raise
    names = {CARDS_KIND: "cards", StrategyManifest.model_fields["kind"].default: "strategy"}
    kind = names.get(manifest.kind, manifest.kind or "arrays")
    check.kinds.append(kind)
    if check.problems:
        return
    if kind == "cards":
        CardAbstraction.load(folder)
    elif kind == "strategy":
        strategy = Strategy(folder)
        if strategy.manifest.cards is not None:
            check.files.add(folder / CARDS / MANIFEST)
            _check_arrays(check, folder / CARDS / MANIFEST)
        if strategy.manifest.definition is not None and not check.problems:
            strategy.check_rows(open_card_lookup(strategy).num_buckets)


def _check_checkpoint(check: FolderCheck, path: Path) -> None:
    check.kinds.append("checkpoint")
    _check_arrays(check, path)


def _check_match(check: FolderCheck, path: Path) -> None:
    check.kinds.append("match")
    _check_logs(check, path)


def _check_logs(check: FolderCheck, path: Path) -> None:
    """Every log of the plan: its hands in order, each as rules and cards have it, the same players in all, and its score."""
    plan = load_plan(path.parent)
    definition = parse_definition(plan.definition, source=str(path))
    for index in range(plan.repeat):
        if SCORES[plan.score].board_values:  # its hands are not played: it has values of boards in place of logs
            _check_boards(check, boards_path(plan, path.parent, index), plan)
            continue
        for run in plan.runs(index):
            log = run.log_path(path.parent)
            if not _is_there(check, log, plan):
                continue
            wrong = _wrong_hands(log, definition)
            check.problems += [f"{str(log)!r}: {text}" for text in wrong]
            if not wrong and not is_complete(log):
                check.problems.append(f"{str(log)!r} does not end with a score: the match is not finished")


def _is_there(check: FolderCheck, path: Path, plan: MatchPlan) -> bool:
    """Whether a file of a match is there; it must be, unless the match ends when its interval is narrow enough."""
    if path.exists():
        check.files.add(path)
        return True
    if plan.until_ci_mbb is None:
        check.problems.append(f"{str(path)!r} is missing: the match is not finished, continue with --resume")
    return False


def _check_boards(check: FolderCheck, path: Path, plan: MatchPlan) -> None:
    if _is_there(check, path, plan):
        check.attempt(partial(read_boards, path, plan.hands))


def _wrong_hands(log: Path, definition: GameDefinition) -> list[str]:
    """What is wrong in a log, in words."""
    wrong: list[str] = []
    lines = list(state_lines(log))
    players: tuple[str, ...] = ()
    for place, line in enumerate(lines):
        try:
            hand = parse_state_line(line, definition)
            players = players or hand.names
            if hand.number != place:
                wrong.append(f"hand {hand.number} where hand {place} was expected")
            if sorted(hand.names) != sorted(players):
                wrong.append(f"hand {place}: its players are {hand.names}, those of the first hand {players}")
            check_values(hand)
        except ValueError as error:
            wrong.append(f"hand {place}: {error}")
        if len(wrong) == _MOST_NAMED:
            break
    if not wrong and is_complete(log):
        totals = [sum(values) for values in zip(*seat_values(lines))]
        score = log.read_text(encoding=LOG_ENCODING, errors=LOG_ERRORS).rstrip("\n").rpartition("\n")[2]
        if score != score_line(totals, players):
            wrong.append(f"its score is {score!r}, its hands make {score_line(totals, players)!r}")
    return wrong


def _check_lbr(check: FolderCheck, path: Path) -> None:
    check.kinds.append("lbr")
    _check_arrays(check, path)


def _check_job(check: FolderCheck, path: Path) -> None:
    check.kinds.append("comparison")
    check_plain(path)
    job = read_job(path)
    store = BlockStore(job, None)
    blocks = path.parent / BLOCKS_FILE
    if blocks.exists():
        check.files.add(blocks)
        store.load(blocks)
    if store.missing():
        check.problems.append(
            f"{len(store.missing())} of {len(store.blocks)} blocks are missing: continue with --resume"
        )


def _check_result(check: FolderCheck, path: Path) -> None:
    if path.name != RESULT_FILE and "comparison" not in check.kinds:
        check.kinds.append(path.stem)
    check.files.update(check_result(path))


def _check_asked(check: FolderCheck, path: Path) -> None:
    """Of a comparison or tournament that is played here; its result may be missing yet."""
    read_object(path, REMEDY)
    if not any((path.parent / name).exists() for name in RESULTS):
        check.kinds.append("comparison or tournament")
        check.problems.append(f"{str(path.parent)!r} has no result: it is not finished, continue with --resume")


def _check_duel(check: FolderCheck, path: Path) -> None:
    """Every session's log; a session may end at any hand, so that none needs a score."""
    check.kinds.append("duel")
    game = load_duel(path.parent)
    assert game is not None
    definition = parse_definition(game.definition, source=str(path))
    for log in duel_logs(path.parent):
        check.files.add(log)
        check.problems += [f"{str(log)!r}: {text}" for text in _wrong_hands(log, definition)]


def _check_kept(check: FolderCheck, folder: Path) -> None:
    """The cells and the matches that a comparison or a tournament keeps."""
    for cell in sorted((folder / CELLS_FOLDER).glob("*.npy")):
        check.files.add(cell)
        check.attempt(partial(read_cell, cell))
    for plan in sorted((folder / MATCHES_FOLDER).glob(f"*/{PLAN_FILE}")):
        check.files.add(plan)
        check.attempt(partial(_check_logs, check, plan))
