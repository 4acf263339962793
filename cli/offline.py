"""`foldwise solve`, `exploitability`, `plot`: from a config to a strategy folder, and how good it is."""

import signal
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from foldwise.cli.output import JsonOption, ProgressLine, against, emit, stdout
from foldwise.game.errors import DefinitionError

if TYPE_CHECKING:
    from foldwise.abstraction.strategy import StrategyManifest
    from foldwise.solver.run import Progress, Run

ConfigArgument = Annotated[Path, typer.Argument(metavar="CONFIG", help="A config file, as in configs/.")]
FolderOption = Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="The folder to write.")]
StrategyArgument = Annotated[Path, typer.Argument(metavar="DIR", help="A strategy folder, as solve writes it.")]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a key of the config; repeatable.")
]


_MOST_CHILDREN_NAMED = 4


def register(app: typer.Typer) -> None:
    app.command("solve")(solve)
    app.command("exploitability")(exploitability)
    app.command("plot")(plot)


def solve(
    config: ConfigArgument,
    output: FolderOption,
    sampler: Annotated[
        str | None,
        typer.Option(
            help="chance, external, outcome, average, pcs, opcs, spcs, cfr, cfr+, lcfr, dcfr, dcfr+, or vector- or "
            "semivector- with average, outcome, external, robust."
        ),
    ] = None,
    iterations: Annotated[int | None, typer.Option(help="Stop after this many iterations.")] = None,
    nodes: Annotated[str | None, typer.Option(help="Stop after this many nodes visited; 1e9 is understood.")] = None,
    seconds: Annotated[float | None, typer.Option(help="Stop after this much solving time.")] = None,
    exploitability: Annotated[float | None, typer.Option(metavar="MBB", help="Stop once this good.")] = None,
    threads: Annotated[int | None, typer.Option(help="Threads that share the tables.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of every random number drawn.")] = None,
    children: Annotated[
        int | None, typer.Option(help="Share the flop clusters of a hierarchical abstraction among so many children.")
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            metavar="auto|local|ADDRESS",
            help="Children on Ray: the cluster of this machine, one of our own, or the one at HOST:PORT. "
            "Without it, they are threads of this process.",
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the folder's last checkpoint.")] = False,
    overrides: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Solve a game and write a strategy folder.

    Ctrl-C saves a checkpoint; --resume goes on from it.

    Example: foldwise solve configs/leduc.toml -o runs/leduc --sampler cfr+ --iterations 1000

    On several machines (docs/distributed.md): foldwise solve configs/hunl-hierarchical.toml -o DIR --children 8 --ray auto
    """
    from foldwise.abstraction.build import build_abstract_game
    from foldwise.abstraction.config import parse_override, read_config
    from foldwise.abstraction.estimate import estimate_size
    from foldwise.abstraction.storage.array_store import check_writable
    from foldwise.solver.config import RunConfig
    from foldwise.solver.distributed.run import DistributedRun, check_settings
    from foldwise.solver.memory_estimate import check_estimate, check_memory, estimate_bytes
    from foldwise.solver.run import Run

    given = {
        "sampler": sampler,
        "iterations": iterations,
        "nodes": _count(nodes),
        "seconds": seconds,
        "exploitability_mbb": exploitability,
        "threads": threads,
        "seed": seed,
    }
    changes: dict[str, Any] = {f"solver.{key}": value for key, value in given.items() if value is not None}
    if children is not None:
        changes["distributed.children"] = children
    changes |= dict(parse_override(text) for text in overrides or [])
    # A stop condition on the command line replaces those of the file.
    stops = ("iterations", "nodes", "seconds", "exploitability_mbb")
    settings = read_config(config, RunConfig, changes)
    if any(given[key] is not None for key in stops):
        kept = {key: getattr(settings.solver, key) if given[key] is not None else None for key in stops}
        settings = settings.model_copy(update={"solver": settings.solver.model_copy(update=kept)})
    if all(getattr(settings.solver, key) is None for key in stops):
        raise DefinitionError(
            f"config {str(config)!r} says not when to stop: give --iterations, --nodes, --seconds or --exploitability"
        )
    distributed = settings.distributed_options.children is not None
    if ray is not None and not distributed:
        raise DefinitionError(
            "--ray without children: give --children N, the number of processes to share the clusters"
        )
    if distributed:
        check_settings(settings, ray)
    _check_output(output, resume, distributed)
    line = ProgressLine(f"solve {settings.name}")
    if ray is None:  # on Ray every child looks after its own machine
        check_memory(estimate_size(settings))
    check_writable(output)
    game = build_abstract_game(settings, lambda stage, share: line.update(stage, share))
    needed = estimate_bytes(game, settings.solver.sampler)
    line.say(f"{game.num_infosets:,} infosets, {game.num_entries:,} infoset-actions, {needed / 1e6:,.0f} MB of memory")
    if not distributed:
        check_estimate(game.name, needed)
    run = DistributedRun(game, settings, output, resume, ray) if distributed else Run(game, settings, output, resume)
    try:
        interrupted = _drive(run, line)
        progress = run.progress()
        manifest = run.save()
    finally:
        run.close()
    boards = game.deals.matrices.boards_counted if game.deals.matrices is not None else None
    result = _result(manifest, settings.solver.sampler) | {"boards_counted": boards} | _children_result(progress)
    emit(result, as_json, lambda: _show(manifest, settings.solver.sampler, boards, output))
    if interrupted:
        line.say(f"saved at iteration {manifest.iterations:,}, go on with --resume")
        raise typer.Exit(130)


def _count(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return int(float(text))
    except (ValueError, OverflowError):
        raise DefinitionError(f"--nodes {text!r}: expected a number, as in 5000000 or 5e6") from None


def _check_output(output: Path, resume: bool, distributed: bool) -> None:
    """A folder of the user's own is not written over; a run of ours is only with --resume or from its beginning."""
    own, other = ("distributed.json", "checkpoint.json") if distributed else ("checkpoint.json", "distributed.json")
    if output.exists() and not output.is_dir():
        raise DefinitionError(f"output {str(output)!r} is a file: give a folder")
    if (output / other).exists():
        raise DefinitionError(
            f"{str(output)!r} holds a run {'without' if distributed else 'with'} children: "
            f"give a new folder, or {'leave --children out' if distributed else 'the number of --children'}"
        )
    is_run = (output / "manifest.json").exists() or (output / own).exists()
    if output.exists() and any(output.iterdir()) and not is_run:
        raise DefinitionError(f"output {str(output)!r} holds other files: give a new folder")
    if resume and not (output / own).exists():
        raise DefinitionError(f"nothing to resume in {str(output)!r}: it has no {own}; leave --resume out")


def _drive(run: "Run", line: ProgressLine) -> bool:
    """Run to the end, or to Ctrl-C or SIGTERM; True where it was interrupted."""
    asked: list[int] = []

    def ask(number: int, _: FrameType | None) -> None:
        asked.append(number)
        run.stop = True

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        for progress in run:
            line.update(_progress_text(progress), progress.share)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return bool(asked)


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
    """Rate, waiting share and memory of each child; their range where there are many."""
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


def _children_result(progress: "Progress") -> dict[str, Any]:
    if not progress.children:
        return {}
    return {
        "children": [asdict(child) for child in progress.children],
        "head_waiting_share": progress.waiting_share,
    }


def _result(manifest: "StrategyManifest", sampler: str) -> dict[str, Any]:
    last = manifest.history[-1]
    return {
        "game": manifest.game,
        "name": manifest.name,
        "sampler": sampler,
        "iterations": manifest.iterations,
        "nodes": manifest.nodes,
        "seconds": manifest.seconds,
        "nodes_per_second": manifest.nodes / manifest.seconds if manifest.seconds else 0.0,
        "infosets": manifest.infosets,
        "reached": manifest.reached,
        "exploitability_mbb": last.exploitability_mbb,
        "mean_regret_mbb": last.mean_regret_mbb,
        "history": [point.model_dump() for point in manifest.history],
    }


def _show(manifest: "StrategyManifest", sampler: str, boards_counted: int | None, output: Path) -> None:
    last = manifest.history[-1]
    stdout.print(f"{manifest.name} by {sampler}: {manifest.iterations:,} iterations, {manifest.nodes:,} nodes")
    rate = manifest.nodes / manifest.seconds / 1e6 if manifest.seconds else 0.0
    stdout.print(f"{manifest.seconds:.1f} s of solving, {rate:.1f}M nodes/s")
    stdout.print(f"{manifest.reached:,} of {manifest.infosets:,} infosets reached")
    if last.exploitability_mbb is not None:
        stdout.print(f"exploitability {last.exploitability_mbb:.6g} mbb{against(boards_counted)}")
    else:
        stdout.print(f"mean positive regret {last.mean_regret_mbb:.6g} mbb (no exact best response; use lbr)")
    stdout.print(f"written to {output}")


def exploitability(
    directory: StrategyArgument,
    postprocess: Annotated[str, typer.Option(help="Post-process the strategy first, as in new(0.2).")] = "none",
    real_cards: Annotated[
        bool, typer.Option("--real-cards", help="The responder sees real cards; hold'em with a small betting tree.")
    ] = False,
    only_time: Annotated[
        bool, typer.Option("--estimate", help="With --real-cards: only say how long it would take.")
    ] = False,
    jobs: Annotated[int | None, typer.Option(help="With --real-cards: threads; default: one a core.", min=1)] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="With --real-cards: keeps finished flops.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="With --real-cards: go on in that folder.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Exact best response against a strategy, in its abstract game.

    Example: foldwise exploitability runs/leduc --postprocess "threshold(0.15)"

    Example: foldwise exploitability runs/20bb --real-cards -o runs/20bb-response --resume
    """
    if real_cards:
        from foldwise.cli.real_cards import real_exploitability

        real_exploitability(directory, postprocess, output, resume, only_time, jobs, as_json)
        return
    if only_time or resume or output is not None or jobs is not None:
        raise DefinitionError("--estimate, --jobs, -o and --resume are for a response with --real-cards: add it")
    from foldwise.abstraction.build import load_abstract_game
    from foldwise.abstraction.strategy import Strategy
    from foldwise.cli.policies import postprocessed_policy
    from foldwise.postprocess.language import parse_pipeline
    from foldwise.solver.response.responses import make_response

    pipeline = parse_pipeline(postprocess)
    strategy = Strategy(directory)
    strategy.verify()
    game = load_abstract_game(strategy)
    response = make_response(game)
    answer = response.exploitability(postprocessed_policy(strategy, game, pipeline))
    result = {
        "exploitability_mbb": answer.exploitability_mbb,
        "best_response_mbb": list(answer.best_response_mbb),
        "value_mbb": answer.value_mbb,
        "boards_counted": answer.boards_counted,
        "postprocess": str(pipeline),
    }

    def show() -> None:
        stdout.print(f"exploitability {answer.exploitability_mbb:.6g} mbb{against(answer.boards_counted)}")
        for player, value in enumerate(answer.best_response_mbb):
            stdout.print(f"best response of player {player} wins {value:.6g} mbb")
        stdout.print(f"value to player 0 {answer.value_mbb:.6g} mbb")

    emit(result, as_json, show)


def plot(
    directories: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Strategy folders.")],
    x: Annotated[str, typer.Option(help="nodes, seconds or iterations.")] = "nodes",
    output: Annotated[Path, typer.Option("-o", "--output", help="The picture to write.")] = Path("convergence.png"),
    as_json: JsonOption = False,
) -> None:
    """Exploitability against nodes, seconds or iterations, on logarithmic axes.

    Runs that differ only in their seed become one curve with its 95% interval.

    Example: foldwise plot runs/leduc-es runs/leduc-as --x seconds -o leduc.png
    """
    from foldwise.abstraction.strategy import Strategy
    from foldwise.cli.pictures import draw_convergence

    if x not in ("nodes", "seconds", "iterations"):
        raise DefinitionError(f"--x {x!r}: expected nodes, seconds or iterations")
    manifests = [Strategy(directory).manifest for directory in directories]
    labels = draw_convergence(manifests, x, output)
    emit({"output": str(output), "curves": labels}, as_json, lambda: stdout.print(f"{output}: {', '.join(labels)}"))
