"""A run of local best response: blocks of deals on all cores, with values kept in a folder so that it can be resumed."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, TypedDict

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from foldwise.abstraction.storage import array_store
from foldwise.game.arrays import Float
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.game.hands.dealing import Shoe
from foldwise.matches.statistics import Estimate, estimate

LBR_FILE: Final = "lbr.json"
_SAVE_SECONDS = 20.0
Listener = Callable[[int, Estimate], None]  # deals done, and what they show so far


class LbrManifest(BaseModel):
    """`lbr.json`: what was played, and how far."""

    model_config = ConfigDict(extra="forbid")

    format_version: int = 1
    kind: str = "foldwise lbr"
    settings: dict[str, Any]  # everything the values of a deal depend on
    deals: int  # played so far
    seconds: float
    arrays: dict[str, array_store.ArrayEntry]


class Responder(Protocol):
    """A responder that plays hand by hand, or all hands at once."""

    definition: GameDefinition

    def values(
        self, deals: npt.NDArray[np.uint8], threads: int, first_number: int, listen: Callable[[int, Float], None] | None
    ) -> Float: ...


@dataclass(frozen=True)
class LbrResult:
    """What the responder won."""

    total: Estimate  # by deal, the mean of both positions
    positions: tuple[Estimate, Estimate]
    seconds: float
    deals: Float  # chips won by deal, the mean of both positions: to compare strategies on the same deals in pairs


def run_lbr(
    response: Responder,
    num_deals: int,
    seed: int,
    threads: int,
    listen: Listener | None = None,
    settings: dict[str, Any] | None = None,
    folder: Path | None = None,
    resume: bool = False,
) -> LbrResult:
    """Play `num_deals` from both positions; `settings` records what a folder's values depend on.

    Deals come from the seed alone, as a dealer draws them, so a run that was stopped continues where it was and one that is
    finished can be extended.
    """
    definition = response.definition
    deals = Shoe(definition, seed).cards(num_deals)
    values, before = np.zeros((0, 2)), 0.0
    if folder is not None:
        values, before = _open(folder, settings or {}, resume)
    first = len(values)
    start = saved = time.monotonic()

    def heard(done: int, found: Float) -> None:
        nonlocal saved
        now = time.monotonic()
        so_far = np.concatenate([values, found[:done]])
        if folder is not None and now - saved > _SAVE_SECONDS:
            _save(folder, settings or {}, so_far, before + now - start)
            saved = now
        kept[0] = so_far
        if listen is not None:
            listen(len(so_far), estimate(so_far.mean(axis=1), definition.big_blind))

    kept: list[Float] = [values]
    try:
        if first < num_deals:
            response.values(deals[first:], threads, first, heard)
    finally:
        if folder is not None and len(kept[0]) > first:
            _save(folder, settings or {}, kept[0], before + time.monotonic() - start)
    everything = kept[0][:num_deals]
    unit = definition.big_blind
    return LbrResult(
        estimate(everything.mean(axis=1), unit),
        (estimate(everything[:, 0], unit), estimate(everything[:, 1], unit)),
        before + time.monotonic() - start,
        everything.mean(axis=1),
    )


class PositionSummary(TypedDict):
    """One position of a run, as JSON."""

    position: int
    lbr_mbb: float
    ci95_mbb: float | None


class LbrSummary(TypedDict):
    """A run, as JSON."""

    lbr_mbb: float
    ci95_mbb: float | None
    sd_mbb: float | None
    hands: int
    positions: list[PositionSummary]
    seconds: float


def lbr_summary(result: LbrResult) -> LbrSummary:
    """A result as JSON."""
    return LbrSummary(
        lbr_mbb=result.total.mean_mbb,
        ci95_mbb=_finite(result.total.ci95_mbb),
        sd_mbb=_finite(result.total.sd_mbb),
        hands=2 * result.total.count,
        positions=[
            PositionSummary(position=position, lbr_mbb=found.mean_mbb, ci95_mbb=_finite(found.ci95_mbb))
            for position, found in enumerate(result.positions)
        ],
        seconds=result.seconds,
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _open(folder: Path, settings: dict[str, Any], resume: bool) -> tuple[Float, float]:
    array_store.check_writable(folder)
    if not (folder / LBR_FILE).exists():
        return np.zeros((0, 2)), 0.0
    if not resume:
        raise DefinitionError(f"{str(folder)!r} already holds a run of lbr: add --resume, or choose another folder")
    manifest = array_store.read_manifest(folder, LBR_FILE, LbrManifest, "folder of an lbr run")
    for key in sorted({*manifest.settings, *settings}):
        if manifest.settings.get(key) != settings.get(key):
            raise FormatError(
                f"{str(folder)!r} was played with {key} = {manifest.settings.get(key)!r}, now it is "
                f"{settings.get(key)!r}: choose another folder"
            )
    entry = array_store.find_entry(folder / LBR_FILE, manifest.arrays, "values")
    array_store.verify_array(folder, entry)
    if len(entry.shape) != 2 or entry.shape[1] != 2:
        raise FormatError(
            f"{str(folder / entry.file)!r} holds {entry.shape}, expected deals x 2: choose another folder"
        )
    return np.array(array_store.open_array(folder, entry)), manifest.seconds


def _save(folder: Path, settings: dict[str, Any], values: Float, seconds: float) -> None:
    entries = {"values": array_store.write_array(folder, f"values-{len(values)}", values)}
    manifest = LbrManifest(settings=settings, deals=len(values), seconds=seconds, arrays=entries)
    array_store.commit_manifest(folder, LBR_FILE, manifest)
    array_store.remove_stale(folder, "values-*.npy", entries)
