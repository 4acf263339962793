"""`foldwise solve`: from a config to a strategy folder."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, TypedDict

import typer

from foldwise.cli.options import ConfigArgument, JsonOption, OverwriteOption, SetOption, output_option
from foldwise.cli.support.interrupts import Interruption, stopped_by_signals
from foldwise.cli.support.output import ProgressLine, against, emit, stdout
from foldwise.cli.support.outputs import STRATEGY_KIND, check_manifest
from foldwise.cli.support.requests import holding
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.solver.samplers import samplers_by_needs

if TYPE_CHECKING:
    from foldwise.abstraction.strategy import Evaluation, StrategyManifest
    from foldwise.solver.config import RunConfig
    from foldwise.solver.distributed.batch import ChildProgress
    from foldwise.solver.run import Progress, SolverRun

_STOPS = ("iterations", "nodes", "seconds", "exploitability_mbb")
_MOST_CHILDREN_NAMED = 4


@dataclass(frozen=True, kw_only=True)
class SolveRequest:
    config: ConfigArgument
    output: Annotated[Path, output_option("The folder to write.")]
    sampler: Annotated[
        str | None,
        typer.Option(
            help="; ".join(f"for {needs}: {', '.join(names)}" for needs, names in samplers_by_needs().items())
            + "; or python:FILE.py:NAME."
        ),
    ] = None
    iterations: Annotated[int | None, typer.Option(help="Stop after this many iterations.")] = None
    nodes: Annotated[str | None, typer.Option(help="Stop after this many nodes visited; 1e9 is understood.")] = None
    seconds: Annotated[float | None, typer.Option(help="Stop after this much solving time.")] = None
    exploitability: Annotated[
        float | None, typer.Option(metavar="MBB", help="Stop once exploitability is at most this many mbb.")
    ] = None
    threads: Annotated[int | None, typer.Option(help="Threads that share the tables.")] = None
    seed: Annotated[int | None, typer.Option(help="Seed of every random number drawn.")] = None
    children: Annotated[
        int | None, typer.Option(help="Share the flop clusters of a hierarchical abstraction among this many children.")
    ] = None
    ray: Annotated[
        str | None,
        typer.Option(
            metavar="auto|local|ADDRESS",
            help="Children on Ray: the cluster of this machine, one of our own, or the one at HOST:PORT. "
            "Without it, they are threads of this process.",
        ),
    ] = None
    resume: Annotated[bool, typer.Option("--resume", help="Continue from the folder's last checkpoint.")] = False
    overwrite: OverwriteOption = False
    overrides: SetOption = None
    as_json: JsonOption = False


class SolveResult(TypedDict):
    game: str
    name: str
    sampler: str
    iterations: int
    nodes: int
    seconds: float
    nodes_per_second: float
    infosets: int
    reached: int
    exploitability_mbb: float | None
    mean_regret_mbb: float | None
    history: "list[Evaluation]"
    boards_counted: int | None
    children: NotRequired["tuple[ChildProgress, ...]"]
    head_waiting_share: NotRequired[float]


@holding(lambda request: request.output)
def solve(request: SolveRequest) -> None:
    """Solve a game and write a strategy folder.

    Ctrl-C saves a checkpoint; --resume continues from it.

    Example: foldwise solve leduc -o runs/leduc --sampler cfr+ --iterations 1000

    On several machines (docs/distributed.md): foldwise solve hunl-hierarchical -o DIR --children 8 --ray auto
    """
    from foldwise.abstraction.build import build_abstract_game
    from foldwise.abstraction.estimate import estimate_size
    from foldwise.abstraction.storage.array_store import check_writable
    from foldwise.solver.distributed.run import DistributedRun, check_settings
    from foldwise.solver.limits import check_disk, check_memory
    from foldwise.solver.memory_estimate import check_estimate, estimate_bytes
    from foldwise.solver.run import SolverRun

    output, resume, ray = request.output, request.resume, request.ray
    settings = _settings(request)
    distributed = settings.distributed_options.children is not None
    if ray is not None and not distributed:
        raise DefinitionError(
            "--ray without children: give --children N, the number of processes to share the clusters"
        )
    if distributed:
        check_settings(settings, ray)
    _check_output(output, resume, request.overwrite, distributed)
    line = ProgressLine(f"solve {settings.name}")
    if ray is None:  # on Ray each child checks its own machine
        size = estimate_size(settings, settings.solver.entry_bytes)
        check_memory(settings, size)
        check_disk(settings, size, output)
    check_writable(output)
    game = build_abstract_game(settings, lambda stage, share: line.update(stage, share))
    needed = estimate_bytes(game, settings.solver)
    line.say(f"{game.num_infosets:,} infosets, {game.num_entries:,} infoset-actions, {needed / 1e6:,.0f} MB of memory")
    if not distributed:
        check_estimate(game.name, needed)
    run = (
        DistributedRun(game, settings, output, resume, ray)
        if distributed
        else SolverRun(game, settings, output, resume)
    )
    try:
        interrupted = _drive(run, line)
        progress = run.progress()
        manifest = run.save()
    finally:
        run.close()
    boards = game.deals.matrices.boards_counted if game.deals.matrices is not None else None
    result = _result(manifest, progress, settings.solver.sampler, boards)
    emit(result, request.as_json, lambda: _show(result, output))
    if interrupted:
        raise Interruption(f"saved at iteration {manifest.iterations:,}; continue with the same command and --resume")


def _settings(request: SolveRequest) -> "RunConfig":
    """The config with the command line's changes: a stop condition given there replaces all those of the file."""
    from foldwise.abstraction.config import parse_override, read_config
    from foldwise.abstraction.shipped_configs import find_config
    from foldwise.solver.config import RunConfig
    from foldwise.solver.milestones import check_plan

    given = {
        "sampler": request.sampler,
        "iterations": request.iterations,
        "nodes": _count(request.nodes),
        "seconds": request.seconds,
        "exploitability_mbb": request.exploitability,
        "threads": request.threads,
        "seed": request.seed,
    }
    changes: dict[str, Any] = {f"solver.{key}": value for key, value in given.items() if value is not None}
    if request.children is not None:
        changes["distributed.children"] = request.children
    changes |= dict(parse_override(text) for text in request.overrides or [])
    settings = read_config(find_config(request.config), RunConfig, changes)
    if any(given[key] is not None for key in _STOPS):
        kept = {key: getattr(settings.solver, key) if given[key] is not None else None for key in _STOPS}
        settings = settings.model_copy(update={"solver": settings.solver.model_copy(update=kept)})
    if all(getattr(settings.solver, key) is None for key in _STOPS):
        raise DefinitionError(
            f"config {request.config!r} does not say when to stop: "
            "give --iterations, --nodes, --seconds or --exploitability"
        )
    check_plan(settings.solver)
    return settings


def _count(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return int(float(text))
    except (ValueError, OverflowError):
        raise DefinitionError(f"--nodes {text!r}: expected a number, as in 5000000 or 5e6") from None


def _check_output(output: Path, resume: bool, overwrite: bool, distributed: bool) -> None:
    """Refuse to write into a folder that is not ours, and to replace a run unless asked to."""
    own, other = ("distributed.json", "checkpoint.json") if distributed else ("checkpoint.json", "distributed.json")
    if output.exists() and not output.is_dir():
        raise DefinitionError(f"output {str(output)!r} is a file: give a folder")
    if (output / other).exists():
        raise DefinitionError(
            f"{str(output)!r} holds a run {'without' if distributed else 'with'} children: "
            f"give a new folder, or {'leave --children out' if distributed else 'the number of --children'}"
        )
    check_manifest(output, STRATEGY_KIND)
    is_run = (output / "manifest.json").exists() or (output / own).exists()
    if output.exists() and any(output.iterdir()) and not is_run:
        raise DefinitionError(f"output {str(output)!r} holds other files: give a new folder")
    if resume and overwrite:
        raise DefinitionError("--resume continues a run, --overwrite starts it over: give one")
    if resume and not (output / own).exists():
        raise DefinitionError(f"nothing to resume in {str(output)!r}: it has no {own}; leave --resume out")
    if is_run and not resume and not overwrite:
        raise DefinitionError(
            f"{str(output)!r} holds {_held(output)}: add --resume to continue it, --overwrite to start over, "
            "or give another folder"
        )


def _held(output: Path) -> str:
    """A description of the run in a folder."""
    from foldwise.abstraction.strategy import Strategy

    try:
        manifest = Strategy(output).manifest
    except (DefinitionError, FormatError, OSError):
        return "an unfinished run"
    return f"a strategy of {manifest.game} ({manifest.name}, {manifest.iterations:,} iterations)"


def _drive(run: "SolverRun", line: ProgressLine) -> bool:
    """Run to the end, or to Ctrl-C or SIGTERM; True if it was interrupted."""

    def stop() -> None:
        run.stop = True

    with stopped_by_signals(stop) as received:
        for progress in run:
            line.update(_progress_text(progress), progress.share)
    return bool(received)


def _progress_text(progress: "Progress") -> str:
    parts = [f"{progress.iterations:,} iterations", f"{progress.nodes_per_second / 1e6:.1f}M nodes/s"]
    last = progress.last
    if last is not None and last.exploitability_mbb is not None:
        parts.append(f"exploitability {last.exploitability_mbb:.4g} mbb")
    elif last is not None and last.mean_regret_mbb is not None:
        parts.append(f"mean positive regret {last.mean_regret_mbb:.4g} mbb")
    if progress.children:
        parts.append(_children_text(progress))
    return ", ".join(parts)


def _children_text(progress: "Progress") -> str:
    """Rate, waiting share and memory of each child; their ranges if there are many."""
    children = progress.children
    rates = [child.nodes_per_second / 1e6 for child in children]
    waits = [100.0 * child.waiting_share for child in children]
    sizes = [child.memory_bytes / 1e6 for child in children]
    if len(children) <= _MOST_CHILDREN_NAMED:
        each = [f"{rate:.1f}M/s wait {wait:.0f}% {size:,.0f} MB" for rate, wait, size in zip(rates, waits, sizes)]
        return f"children [{' | '.join(each)}], head waits {100 * progress.waiting_share:.0f}%"
    return (
        f"{len(children)} children [{min(rates):.1f} to {max(rates):.1f}M/s, wait {min(waits):.0f} to {max(waits):.0f}%, "
        f"{min(sizes):,.0f} to {max(sizes):,.0f} MB], head waits {100 * progress.waiting_share:.0f}%"
    )


def _result(
    manifest: "StrategyManifest", progress: "Progress", sampler: str, boards_counted: int | None
) -> SolveResult:
    last = manifest.history[-1]
    result = SolveResult(
        game=manifest.game,
        name=manifest.name,
        sampler=sampler,
        iterations=manifest.iterations,
        nodes=manifest.nodes,
        seconds=manifest.seconds,
        nodes_per_second=manifest.nodes / manifest.seconds if manifest.seconds else 0.0,
        infosets=manifest.infosets,
        reached=manifest.reached,
        exploitability_mbb=last.exploitability_mbb,
        mean_regret_mbb=last.mean_regret_mbb,
        history=manifest.history,
        boards_counted=boards_counted,
    )
    if progress.children:
        result["children"] = progress.children
        result["head_waiting_share"] = progress.waiting_share
    return result


def _show(result: SolveResult, output: Path) -> None:
    stdout.print(
        f"{result['name']} by {result['sampler']}: {result['iterations']:,} iterations, {result['nodes']:,} nodes"
    )
    stdout.print(f"{result['seconds']:.1f} s of solving, {result['nodes_per_second'] / 1e6:.1f}M nodes/s")
    stdout.print(f"{result['reached']:,} of {result['infosets']:,} infosets reached")
    if result["exploitability_mbb"] is not None:
        stdout.print(f"exploitability {result['exploitability_mbb']:.6g} mbb{against(result['boards_counted'])}")
    else:
        stdout.print(f"mean positive regret {result['mean_regret_mbb']:.6g} mbb (no exact best response; use lbr)")
    stdout.print(f"written to {output}")
