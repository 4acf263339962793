"""The average strategy of a later part of a run, from its last checkpoint and the sums it saved earlier."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.abstraction.build import build_abstract_game
from foldwise.abstraction.config import check_config
from foldwise.abstraction.storage.array_store import (
    check_writable,
    find_entry,
    open_array,
    read_manifest,
    verify_array,
)
from foldwise.abstraction.strategy import Evaluation, StrategyManifest, save_strategy
from foldwise.abstraction.threads import Report
from foldwise.game.errors import FormatError
from foldwise.solver.checkpoint import MANIFEST, CheckpointManifest, check_resumable
from foldwise.solver.config import RunConfig
from foldwise.solver.kept_sums import EarlierSums, array_name, open_sums
from foldwise.solver.regret_kernels import normalise_sums
from foldwise.solver.response.responses import has_response, make_response
from foldwise.solver.run import config_fields


def write_average(source: Path, part: str, output: Path, report: Report | None = None) -> StrategyManifest:
    """Write the strategy folder `output`: the run in `source`, averaged from its `part` on, or from its "start"."""
    saved = read_manifest(source, MANIFEST, CheckpointManifest, "run with a checkpoint")
    settings = {**saved.config, "solver": {**saved.config["solver"], "average_from": part}}
    config = check_config(settings, RunConfig, str(source))
    left_out = _left_out(source, saved, part)
    table_entry = find_entry(source / MANIFEST, saved.arrays, "table")
    verify_array(source, table_entry)
    table = open_array(source, table_entry)
    check_writable(output)
    game = build_abstract_game(config, report)
    check_resumable(source, saved, None, game.fingerprint)
    fields = {
        **config_fields(config),
        "abstraction": saved.abstraction,
        "iterations": saved.iterations,
        "nodes": saved.nodes,
        "seconds": saved.seconds,
        "averaged_from": max(left_out.iterations, config.solver.skip_iterations),
        "history": _history(game, table, left_out, saved),
    }
    return save_strategy(output, game, table, fields, left_out.earlier, left_out.share)


def _left_out(source: Path, saved: CheckpointManifest, part: str) -> EarlierSums:
    if part == "start":
        return EarlierSums()
    if part not in saved.kept:
        found = ", ".join(f"{name} (iteration {kept.iterations:,})" for name, kept in saved.kept.items())
        raise FormatError(
            f"{str(source)!r} keeps no sums of its {part}, but of: {found or 'nothing'}: samplers keep them as they pass a "
            "third, a half and two thirds of --iterations, --nodes or --seconds; continue with --resume or solve again"
        )
    entry = find_entry(source / MANIFEST, saved.arrays, array_name(part))
    verify_array(source, entry)
    return open_sums(source, entry, saved.kept[part], saved.sum_factor)


def _history(
    game: AbstractGame, table: npt.NDArray[Any], left_out: EarlierSums, saved: CheckpointManifest
) -> list[Evaluation]:
    """One evaluation of this average; without an exact response, the run's own points, which are regrets."""
    if not has_response(game):
        return saved.history
    policy = np.empty(game.num_entries)
    normalise_sums(game.tree.nodes, game.deals.num_buckets, table, policy, left_out.earlier, left_out.share)
    return [
        Evaluation(
            iterations=saved.iterations,
            nodes=saved.nodes,
            seconds=saved.seconds,
            exploitability_mbb=make_response(game).exploitability(policy).exploitability_mbb,
        )
    ]
