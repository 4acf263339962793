"""The folder in which a comparison or a tournament keeps its cells and its matches."""

import shutil
from pathlib import Path

from foldwise.abstraction.storage.whole_file import make_folder
from foldwise.cli.support.outputs import KEPT, check_folder_for
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import DefinitionError
from foldwise.matches.duplicate.asked import ASKED_FILE
from foldwise.matches.duplicate.cells import CELLS_FOLDER, CellStore
from foldwise.matches.network.block_store import BLOCKS_FILE, JOB_FILE
from foldwise.matches.plan import MATCHES_FOLDER


def matches_folder(output: Path | None, logs: bool, score: str) -> Path | None:
    """Where the matches are kept, if anywhere."""
    if not logs:
        return None
    if score == "expectation":
        raise DefinitionError("--logs with --score expectation: no hand is played, so there is no log; leave one out")
    if output is None:
        raise DefinitionError("--logs without a folder to write to: give -o DIR")
    folder = output / MATCHES_FOLDER
    make_folder(folder)
    return folder


def open_output(output: Path | None, result_file: str, resume: bool, overwrite: bool, split: bool = False) -> None:
    """Prepare the folder of a result: a new one, one to continue, or one whose result may be replaced.

    `split`: the work goes to workers, whose blocks are kept in place of cells.
    """
    if resume and overwrite:
        raise DefinitionError("--resume continues what is there, --overwrite starts over: give one")
    if output is None:
        if resume or overwrite:
            raise DefinitionError("--resume and --overwrite need the folder: give -o DIR")
        return
    if output.exists() and not output.is_dir():
        raise DefinitionError(f"output {str(output)!r} is a file: give a folder")
    check_folder_for(output, result_file, ASKED_FILE, JOB_FILE)
    kept = [name for name in (result_file, *KEPT) if (output / name).exists()]
    if resume and not kept:
        raise DefinitionError(f"nothing to resume in {str(output)!r}: leave --resume out")
    if resume and (JOB_FILE in kept) != split:
        how = "leave --broker out, or add --local" if split else "give its --broker"
        where = "on this machine" if split else "by the workers at a broker"
        raise DefinitionError(f"{str(output)!r} holds a comparison that was played {where}: {how}")
    if kept and not resume and not overwrite:
        raise DefinitionError(
            f"{str(output)!r} holds an earlier result ({', '.join(kept)}): add --resume to continue it, --overwrite to "
            "replace it, or give another folder"
        )
    if overwrite:
        for name in (CELLS_FOLDER, MATCHES_FOLDER):
            shutil.rmtree(output / name, ignore_errors=True)
        for name in (ASKED_FILE, JOB_FILE, BLOCKS_FILE):
            (output / name).unlink(missing_ok=True)


def open_cells(output: Path | None, definition: GameDefinition, hands: int, seed: int, score: str) -> CellStore | None:
    """Where finished cells are kept, so that an interrupted command can be resumed."""
    if output is None:
        return None
    return CellStore(output, hands, definition=definition.to_text(), seed=seed, score=score)
