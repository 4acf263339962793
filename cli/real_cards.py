"""`foldwise exploitability --real-cards`: an exact best response that sees real cards, inside the betting abstraction."""

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from foldwise.cli.output import ProgressLine, emit, stdout
from foldwise.game.errors import DefinitionError

if TYPE_CHECKING:
    from foldwise.solver.response.real_response import ResponseProgress

_TIMED_FLOPS = 4


def real_exploitability(
    directory: Path,
    postprocess: str,
    output: Path | None,
    resume: bool,
    only_time: bool,
    jobs: int | None,
    as_json: bool,
) -> None:
    """The response over all 1,755 classes of flops, or with `only_time` over a few to say how long all would take."""
    from foldwise.abstraction.build import is_holdem, load_abstract_game
    from foldwise.abstraction.strategy import Strategy
    from foldwise.cli.policies import postprocessed_policy
    from foldwise.game.library import BluffGame
    from foldwise.postprocess.language import parse_pipeline
    from foldwise.solver.response.real_response import NUM_FLOPS, RealResponse

    if resume and output is None:
        raise DefinitionError("--resume: give the folder to go on in, as in -o DIR --resume")
    pipeline = parse_pipeline(postprocess)
    strategy = Strategy(directory)
    strategy.verify()
    rules = strategy.abstraction_config().find_game()
    if isinstance(rules, BluffGame) or not is_holdem(rules) or rules.run_out_cards:
        raise DefinitionError(
            f"game {strategy.manifest.game!r}: --real-cards is for hold'em dealt from a full deck; without it the best "
            "response of a game without card abstraction is exact already"
        )
    game = load_abstract_game(strategy)
    assert game.cards is not None
    response = RealResponse(game.tree, game.cards, postprocessed_policy(strategy, game, pipeline), rules.num_streets)
    line = ProgressLine("exploitability")

    def listen(progress: "ResponseProgress") -> None:
        left = progress.seconds_left
        if progress.done == _TIMED_FLOPS:
            line.say(f"about {left / 60:.1f} minutes for all {progress.total:,} flops of both players")
        line.update(f"{progress.done:,} of {progress.total:,} flops, {left / 60:.1f} min left")
        times.append(left)

    times: list[float] = []
    stored = strategy.manifest.arrays["probabilities"].xxh3
    fingerprint = hashlib.sha256(f"{strategy.manifest.abstraction} {stored} {pipeline}".encode()).hexdigest()[:16]
    threads = jobs or os.cpu_count() or 1
    if only_time:
        response.run(fingerprint, threads, listen, flops=_TIMED_FLOPS)
        timed = {"estimated_seconds": times[-1], "nodes": len(game.tree.nodes), "threads": threads}
        emit(timed, as_json, lambda: stdout.print(f"about {times[-1] / 60:.1f} minutes with {threads} threads"))
        return
    found = response.run(fingerprint, threads, listen, output, resume)
    assert found is not None
    first, second = found
    unit = 1000.0 / game.unit_chips
    result = {
        "exploitability_mbb": unit * (first + second) / 2.0,
        "best_response_mbb": [unit * first, unit * second],
        "postprocess": str(pipeline),
        "real_cards": True,
        "flops": NUM_FLOPS,
    }

    def show() -> None:
        stdout.print(f"exploitability {result['exploitability_mbb']:.6g} mbb with real cards in the same betting tree")
        for player, value in enumerate((first, second)):
            stdout.print(f"best response of player {player} wins {unit * value:.6g} mbb")

    emit(result, as_json, show)
