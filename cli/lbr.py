"""`foldwise lbr`: what a strategy at a table loses at least, in the real game."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from foldwise.cli.offline import StrategyArgument
from foldwise.cli.output import MOST_HANDS, JsonOption, ProgressLine, SeedOption, emit, stdout

if TYPE_CHECKING:
    from foldwise.matches.scoring.lbr_run import LbrResult
    from foldwise.matches.statistics import Estimate


def register(app: typer.Typer) -> None:
    app.command("lbr")(lbr)


def lbr(
    directory: StrategyArgument,
    postprocess: Annotated[str, typer.Option(help="Post-processing of the strategy, as in new(0.2).")] = "none",
    translation: Annotated[
        str, typer.Option(help="How DIR reads bets of other sizes; see 'foldwise play --help'.")
    ] = "pseudo-harmonic",
    bets: Annotated[
        str,
        typer.Option(
            help="fc (no raises), fcpa (pot and all-in), 56 (0.05 x 1.15^k pots and all-in), tree (DIR's own)."
        ),
    ] = "fcpa",
    from_street: Annotated[
        str | None,
        typer.Option("--from", help="Check and call before this street; by default turn, or preflop in shorter games."),
    ] = None,
    hands: Annotated[
        int, typer.Option(help="Hands from each position, on the same deals.", min=2, max=MOST_HANDS)
    ] = 10_000,
    samples: Annotated[int, typer.Option(help="Boards drawn for an equity before the flop.", min=1, max=10**6)] = 1000,
    jobs: Annotated[int | None, typer.Option(help="Threads; default: one a core.", min=1)] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Folder that keeps the values of all deals.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on in that folder; also to play more hands.")] = False,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Local best response: play hands that exploit DIR as it sits at a table, and say what they win.

    The responder knows the strategy, and so the range of hands behind each action; it bets where folds and showdowns pay
    best if both check and call afterwards. What it wins is a lower bound of what a perfect opponent would. Published, in
    mbb/h, with fcpa from the turn: Hyperborean 2014 3,852, Slumbot 2016 4,020, Act1 2016 2,597; folding every hand 750.

    Example: foldwise lbr runs/small --postprocess "new(0.2)" --bets fcpa --from turn --hands 20000

    Example: foldwise lbr runs/small --hands 100000 -o lbr-small --resume
    """
    from foldwise.game.errors import DefinitionError
    from foldwise.matches.scoring.lbr_run import lbr_dict

    if resume and output is None:
        raise DefinitionError("--resume: give the folder to go on in, as in -o DIR --resume")
    line = ProgressLine("lbr")

    def listen(done: int, found: "Estimate") -> None:
        line.update(f"{2 * done:,} hands, {found.mean_mbb:+.0f} ± {found.ci95_mbb:.0f} mbb/h", done / hands)

    settings = {"bets": bets, "from": from_street, "samples": samples, "translation": translation, "seed": seed}
    played, settings = measure(directory, postprocess, settings, hands, jobs, listen, output, resume)
    result = {"strategy": str(directory), **settings, **lbr_dict(played)}
    exact = _exact_mbb(directory, postprocess)
    if exact is not None:
        result["exploitability_mbb"] = exact
        result["gap_mbb"] = exact - played.total.mean_mbb

    def show() -> None:
        total = played.total
        stdout.print(f"lbr wins {total.mean_mbb:+.1f} ± {total.ci95_mbb:.1f} mbb/h ({bets} from {settings['from']} on)")
        for position, found in enumerate(played.positions):
            stdout.print(f"  in position {position}: {found.mean_mbb:+.1f} ± {found.ci95_mbb:.1f}")
        if exact is not None:
            stdout.print(f"the exact best response wins {exact:+.1f}: the gap is {exact - total.mean_mbb:.1f}")
        stdout.print(f"{2 * total.count:,} hands in {played.seconds:.1f} s")

    emit(result, as_json, show)


def measure(
    directory: Path,
    postprocess: str,
    settings: dict[str, Any],
    hands: int,
    jobs: int | None = None,
    listen: Any = None,
    output: Path | None = None,
    resume: bool = False,
) -> tuple["LbrResult", dict[str, Any]]:
    """Local best response against a folder under one post-processing, and all that the result depends on."""
    from foldwise.agent.strategy_player import OpenStrategy
    from foldwise.agent.translation import parse_translation
    from foldwise.matches.duplicate.match import default_jobs
    from foldwise.matches.scoring.lbr_run import run_lbr
    from foldwise.matches.scoring.local_best_response import (
        LbrSettings,
        LocalBestResponse,
        default_street,
        parse_street,
    )
    from foldwise.postprocess.language import parse_pipeline

    opened = OpenStrategy(directory)
    opened.verify()
    pipeline, translation = parse_pipeline(postprocess), parse_translation(settings["translation"])
    street_name, seed = settings["from"] or default_street(opened.definition), settings["seed"]
    street = parse_street(opened.definition, street_name)
    player = opened.player(pipeline, seed, translation)
    response = LocalBestResponse(player, LbrSettings(settings["bets"], street, settings["samples"], seed))
    made_with = {
        **settings,
        "from": street_name,
        "translation": str(translation),
        "postprocess": str(pipeline),
        "probabilities": opened.strategy.manifest.arrays["probabilities"].xxh3,
    }
    result = run_lbr(response, hands, seed % 2**32, jobs or default_jobs(), listen, made_with, output, resume)
    return result, made_with


def add_lbr(
    rows: list[dict[str, Any]], folder: Path, translation: str, hands: int, jobs: int | None, seed: int
) -> None:
    """Put what each variant of a comparison loses to local best response into its row; the deals are the same for all."""
    settings = {"bets": "fcpa", "from": None, "samples": 1000, "translation": translation, "seed": seed}
    line = ProgressLine("lbr")
    for number, row in enumerate(rows):

        def listen(done: int, found: "Estimate", row: dict[str, Any] = row, number: int = number) -> None:
            share = (number + done / hands) / len(rows)
            line.update(f"{row['variant']} {found.mean_mbb:+.0f} ± {found.ci95_mbb:.0f} mbb/h", share)

        total = measure(folder, row["variant"], settings, hands, jobs, listen)[0].total
        row["lbr_mbb"], row["lbr_ci95_mbb"] = total.mean_mbb, total.ci95_mbb
        row["lbr_hands"] = 2 * total.count


def _exact_mbb(directory: Path, postprocess: str) -> float | None:
    """The exact best response in games where every view has a bucket of its own, so that it is one in the real game."""
    from foldwise.abstraction.build import load_abstract_game
    from foldwise.abstraction.strategy import Strategy
    from foldwise.cli.policies import postprocessed_policy
    from foldwise.postprocess.language import parse_pipeline
    from foldwise.solver.response.best_response import ExactResponse

    strategy = Strategy(directory)
    if strategy.manifest.cards is not None:
        return None
    game = load_abstract_game(strategy)
    policy = postprocessed_policy(strategy, game, parse_pipeline(postprocess))
    return ExactResponse(game).exploitability(policy).exploitability_mbb
