"""`foldwise lbr`: a lower bound on what a strategy at a table loses in the real game."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NotRequired, TypedDict

import typer

from foldwise.cli.options import (
    MOST_HANDS,
    JsonOption,
    PlayedArgument,
    SeedOption,
    ThreadsOption,
    TranslationOption,
    output_option,
)
from foldwise.cli.support.output import ProgressLine, emit, stdout
from foldwise.cli.support.outputs import check_folder_for
from foldwise.cli.support.requests import holding
from foldwise.cli.support.search_option import SearchOption, played_steps
from foldwise.cli.support.strategies import strategy_folder
from foldwise.game.errors import DefinitionError

if TYPE_CHECKING:
    from foldwise.matches.scoring.lbr_run import LbrResult, PositionSummary
    from foldwise.matches.statistics import Estimate

_RESULT = "lbr.json"
_HANDS = {"hands": 10_000, "vector": 200}  # methods, and hands from each position


@dataclass(frozen=True, kw_only=True)
class LbrRequest:
    directory: PlayedArgument
    postprocess: Annotated[str | None, typer.Option(help="Post-processing of the strategy, as in new(0.2).")] = None
    translation: TranslationOption = "pseudo-harmonic"
    bets: Annotated[
        str,
        typer.Option(
            help="fc (no raises), fcpa (pot and all-in), 56 (0.05 x 1.15^k pots and all-in), 8 (eight of the 56, "
            "0.27 pots to all-in), tree (DIR's own)."
        ),
    ] = "fcpa"
    from_street: Annotated[
        str | None,
        typer.Option("--from", help="Check and call before this street; by default turn, or preflop in shorter games."),
    ] = None
    search: SearchOption = None
    method: Annotated[
        str | None,
        typer.Option(help="hands (one at a time; the default) or vector (all hands at once; the default with search)."),
    ] = None
    hands: Annotated[
        int | None,
        typer.Option(
            help="Hands from each position, on the same deals: by default 10,000; 200 with vector.",
            min=2,
            max=MOST_HANDS,
        ),
    ] = None
    samples: Annotated[int, typer.Option(help="Boards drawn for an equity before the flop.", min=1, max=10**6)] = 1000
    threads: ThreadsOption = None
    output: Annotated[Path | None, output_option("Folder that keeps the values of all deals.")] = None
    resume: Annotated[bool, typer.Option("--resume", help="Continue in that folder, or extend it by more hands.")] = (
        False
    )
    seed: SeedOption = 0
    as_json: JsonOption = False


LbrConditions = TypedDict(
    "LbrConditions",
    {
        "bets": str,
        "from": str,
        "samples": int,
        "translation": str,
        "seed": int,
        "postprocess": str,
        "probabilities": str,
        "method": str,
    },
)


class ExactGap(TypedDict, total=False):
    exploitability_mbb: float
    gap_mbb: float


class LbrReport(LbrConditions):
    strategy: str
    roots: int | None
    lbr_mbb: float
    ci95_mbb: float | None
    sd_mbb: float | None
    hands: int
    positions: "list[PositionSummary]"
    seconds: float
    exploitability_mbb: NotRequired[float]
    gap_mbb: NotRequired[float]


@holding(lambda request: request.output, _RESULT)
def lbr(request: LbrRequest) -> None:
    """Local best response: play hands against DIR as it sits at a table, and print what an exploiter wins.

    The responder knows the strategy, and so the range of hands behind each action; it bets when folds and showdowns pay
    best if both check and call afterwards. What it wins is a lower bound on what a perfect opponent would win. Published, in
    mbb/h, with fcpa from the turn: Hyperborean 2014 3,852, Slumbot 2016 4,020, Act1 2016 2,597; folding every hand 750.

    Example: foldwise lbr runs/small --postprocess "new(0.2)" --bets fcpa --from turn --hands 20000

    Example: foldwise lbr runs/small --hands 100000 -o lbr-small --resume

    Example: foldwise lbr runs/small --search fast --hands 300

    Example: foldwise lbr champion --from preflop --hands 100
    """
    from foldwise.matches.scoring.lbr_run import lbr_summary

    if request.resume and request.output is None:
        raise DefinitionError("--resume: give the folder to continue in, as in -o DIR --resume")
    check_folder_for(request.output, _RESULT)
    steps = played_steps(request.directory, request.postprocess, request.search)
    request = replace(request, directory=strategy_folder(request.directory), postprocess=steps, search=None)
    line = ProgressLine("lbr")

    def listen(done: int, found: "Estimate") -> None:
        share = done / (request.hands or _HANDS[_method(request)])
        line.update(f"{2 * done:,} hands, {found.mean_mbb:+.0f} ± {found.ci95_mbb:.0f} mbb/h", share)

    played, settings, roots = measure(request, listen)
    exact = None if settings["method"] == "vector" else _exact_mbb(request.directory, steps or "none")
    gap = ExactGap()
    if exact is not None:
        gap = ExactGap(exploitability_mbb=exact, gap_mbb=exact - played.total.mean_mbb)
    result: LbrReport = {
        "strategy": str(request.directory),
        **settings,
        "roots": roots,
        **lbr_summary(played),
        **gap,
    }

    def show() -> None:
        total = played.total
        stdout.print(
            f"lbr wins {total.mean_mbb:+.1f} ± {total.ci95_mbb:.1f} mbb/h ({result['bets']} from {result['from']} on)"
        )
        for position, found in enumerate(played.positions):
            stdout.print(f"  in position {position}: {found.mean_mbb:+.1f} ± {found.ci95_mbb:.1f}")
        if exact is not None:
            stdout.print(f"the exact best response wins {exact:+.1f}: the gap is {exact - total.mean_mbb:.1f}")
        stdout.print(f"{2 * total.count:,} hands in {played.seconds:.1f} s")

    emit(result, request.as_json, show)


def _method(request: LbrRequest) -> str:
    from foldwise.search.language import is_search

    searches = is_search(request.postprocess or "")
    method = request.method or ("vector" if searches else "hands")
    if method not in _HANDS:
        raise DefinitionError(f"--method {method!r}: expected {' or '.join(_HANDS)}")
    if searches and method == "hands":
        raise DefinitionError("--method hands with a search: it would solve again for every hand; give --method vector")
    return method


def measure(
    request: LbrRequest, listen: "Callable[[int, Estimate], None] | None" = None
) -> "tuple[LbrResult, LbrConditions, int | None]":
    """Local best response against a strategy, everything the result depends on, and the turns played for all hands."""
    from foldwise.agent.mappings.translation import parse_translation
    from foldwise.agent.strategy_player import OpenStrategy
    from foldwise.matches.duplicate.match import default_jobs
    from foldwise.matches.scoring.lbr_run import run_lbr
    from foldwise.matches.scoring.local_best_response import (
        LbrSettings,
        LocalBestResponse,
        default_street,
        parse_street,
    )
    from foldwise.matches.scoring.vector_response import VectorResponse
    from foldwise.search.agents import make_agent
    from foldwise.search.language import parse_steps

    method = _method(request)
    steps = parse_steps(request.postprocess or "none")
    opened = OpenStrategy(request.directory)
    translation = parse_translation(request.translation)
    street_name = request.from_street or default_street(opened.definition)
    street = parse_street(opened.definition, street_name)
    rules = LbrSettings(request.bets, street, request.samples, request.seed)
    response: LocalBestResponse | VectorResponse
    if method == "hands":
        response = LocalBestResponse(opened.player(steps.pipeline, request.seed, translation), rules)
    else:
        response = VectorResponse(make_agent(opened, steps, request.seed, translation), opened.definition, rules)
    made_with: LbrConditions = {
        "bets": request.bets,
        "from": street_name,
        "samples": request.samples,
        "translation": str(translation),
        "seed": request.seed,
        "postprocess": str(steps),
        "probabilities": opened.strategy.manifest.arrays["probabilities"].xxh3,
        "method": method,
    }
    threads, seed, hands = request.threads or default_jobs(), request.seed % 2**32, request.hands or _HANDS[method]
    kept = {
        key: value for key, value in made_with.items() if (key, value) != ("method", "hands")
    }  # as in older folders
    played = run_lbr(response, hands, seed, threads, listen, kept, request.output, request.resume)
    return played, made_with, response.num_roots if isinstance(response, VectorResponse) else None


def _exact_mbb(directory: Path, postprocess: str) -> float | None:
    """The exact best response, for games where every view has its own bucket, so that it also holds in the real game."""
    from foldwise.abstraction.build import load_abstract_game
    from foldwise.abstraction.strategy import Strategy
    from foldwise.cli.support.policies import postprocessed_policy
    from foldwise.postprocess.language import parse_pipeline
    from foldwise.solver.response.best_response import ExactResponse

    strategy = Strategy(directory)
    if strategy.manifest.cards is not None:
        return None
    game = load_abstract_game(strategy)
    policy = postprocessed_policy(strategy, game, parse_pipeline(postprocess))
    return ExactResponse(game).exploitability(policy).exploitability_mbb
