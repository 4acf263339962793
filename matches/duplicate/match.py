"""Duplicate matches: every seed from both sides, over sockets or in memory, in parallel, with one result.

The logs are the record: results are computed from them, so a resumed match gives the same result as an unbroken one.
"""

import multiprocessing
import os
import queue
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from contextlib import nullcontext, suppress
from itertools import cycle, islice
from pathlib import Path

from foldwise.abstraction.storage.checked_json import write_checked
from foldwise.agent.bots import Bot
from foldwise.agent.player import Faults
from foldwise.agent.player_spec import PlayerSpec
from foldwise.agent.strategy_player import StrategyPlayer
from foldwise.game.arrays import Float
from foldwise.game.definition import GameDefinition, parse_definition
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.matches.duplicate.clean_start import clean_start, hearing_interrupts, without_interrupts
from foldwise.matches.duplicate.processes import play_over_tcp
from foldwise.matches.duplicate.search_reports import report_path, search_summary, write_report
from foldwise.matches.engine.compiled_match import MemoryMatch, play_in_memory
from foldwise.matches.plan import PLAN_FILE, RESULT_FILE, MatchPlan, Run
from foldwise.matches.results import Effort, MatchResult, match_result, narrow_enough
from foldwise.matches.scores import SCORES
from foldwise.matches.scoring.scorers import Scorer, chips_scorer, make_scorer, score_boards
from foldwise.matches.statistics import pair_values
from foldwise.matches.table.log import HandListener, hand_number, state_lines
from foldwise.matches.table.log_tail import LogTail
from foldwise.search.players import make_player

_REPORT_SECONDS = 2.0
Listener = Callable[[str, float], None]  # what is done, and the share of the planned hands
RunListener = Callable[[Run], HandListener]  # who listens to a run's hands


def play_match(
    plan: MatchPlan, folder: Path, jobs: int, listen: Listener, listen_hands: RunListener | None = None
) -> MatchResult:
    """Play the missing part of a match in its folder; write and return the result."""
    definition = parse_definition(plan.definition, source=PLAN_FILE)
    if definition.num_players != 2:
        raise DefinitionError(f"game {plan.game!r} is for {definition.num_players} players: a match is between two")
    if SCORES[plan.score].board_values:
        result = score_boards(plan, definition, folder, jobs, listen)
        write_checked(folder / RESULT_FILE, result)
        return result
    scorer = make_scorer(plan, definition, jobs, listen)
    start = time.monotonic()
    hands_before = _count_hands(plan, folder, plan.repeat)
    faults = Faults()
    num_matches = 0
    matches: list[Float] = []

    def report() -> None:
        hands = _count_hands(plan, folder, plan.repeat)
        rate = (hands - hands_before) / max(time.monotonic() - start, 1e-3)
        listen(f"{hands:,} hands, {rate:,.0f} hands/s", hands / (2 * plan.hands * plan.repeat))

    while num_matches < plan.repeat and not narrow_enough(plan, matches, definition.big_blind):
        # With a target the interval is checked after each round of matches that fills the cores; without one, one round.
        size = max(1, jobs // 2) if plan.until_ci_mbb is not None else plan.repeat
        indices = range(num_matches, min(num_matches + size, plan.repeat))
        runs = [run for index in indices for run in plan.runs(index)]
        faults += _play_runs(plan, runs, folder, jobs, report, listen_hands)
        num_matches = indices.stop
        matches += [pairs_by_position(plan, folder, index, definition, scorer) for index in indices]
    chips = None
    if plan.all_in_ev or plan.score != "chips":
        chips = [pairs_by_position(plan, folder, index, definition) for index in range(num_matches)]
    effort = Effort(time.monotonic() - start, hands_before, faults)
    result = match_result(plan, definition, matches, chips, effort)
    searched = search_summary(plan, folder, num_matches)
    if searched is not None:
        result["search"] = searched
    write_checked(folder / RESULT_FILE, result)
    return result


def _count_hands(plan: MatchPlan, folder: Path, num_matches: int) -> int:
    paths = [run.log_path(folder) for index in range(num_matches) for run in plan.runs(index)]
    return sum(sum(1 for _ in state_lines(path)) for path in paths if path.exists())


def _play_runs(
    plan: MatchPlan,
    runs: list[Run],
    folder: Path,
    jobs: int,
    report: Callable[[], None],
    listen_hands: RunListener | None,
) -> Faults:
    """Play runs, `jobs` at a time; returns the players' faults. One that breaks off stops the others."""
    stop = threading.Event()
    tails: list[LogTail] = []
    with clean_start() if plan.over == "memory" else nullcontext(), _pool(plan, jobs) as pool:
        direct = listen_hands if isinstance(pool, ThreadPoolExecutor) and plan.over == "memory" else None
        if listen_hands is not None and direct is None:  # other processes write the logs
            tails = [LogTail(run.log_path(folder), listen_hands(run)) for run in runs]
        faults, finished = Faults(), False
        try:
            waiting = _submit(plan, runs, folder, jobs, pool, stop, direct)
            while waiting:
                done, waiting = wait(waiting, timeout=_REPORT_SECONDS, return_when=FIRST_COMPLETED)
                faults = sum((future.result() for future in done), faults)
                report()
                for tail in tails:
                    tail.read()
            finished = True
        finally:  # an interrupt or a broken run: what is finished stays in the logs
            stop.set()
            if isinstance(pool, ProcessPoolExecutor) and not finished:
                for process in multiprocessing.active_children():  # one that was just starting has not heard Ctrl-C
                    _interrupt(process.pid)
            pool.shutdown(wait=True, cancel_futures=True)
    return faults


def _interrupt(pid: int | None) -> None:
    if pid is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGINT)


def _submit(
    plan: MatchPlan,
    runs: list[Run],
    folder: Path,
    jobs: int,
    pool: Executor,
    stop: threading.Event,
    listen: RunListener | None,
) -> set[Future[Faults]]:
    """Begin the runs, each as its pool and the way it is played ask for."""
    if plan.over == "tcp":
        cores = _cores(jobs)
        return {pool.submit(_play_tcp_run, run, folder, stop, cores) for run in runs}
    if isinstance(pool, ThreadPoolExecutor):
        return {pool.submit(_play_memory_run, run, folder, stop, listen and listen(run)) for run in runs}
    with without_interrupts():
        return {pool.submit(_play_in_process, run, folder) for run in runs}


def _plays_compiled(spec: PlayerSpec) -> bool:
    return isinstance(make_player(spec, 0), Bot | StrategyPlayer)


def _pool(plan: MatchPlan, jobs: int) -> Executor:
    """Threads where the work is done by other processes or by the compiled engine, which runs without the GIL;
    processes for players written in Python.
    """
    if plan.over == "tcp" or all(map(_plays_compiled, plan.players)):
        return ThreadPoolExecutor(jobs)
    return ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"))


def _cores(jobs: int) -> "queue.SimpleQueue[int]":
    """A processor for each of `jobs` simultaneous runs, cycling over those this process may use."""
    available = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    cores: queue.SimpleQueue[int] = queue.SimpleQueue()
    for core in islice(cycle(available), jobs):
        cores.put(core)
    return cores


def _play_tcp_run(run: Run, folder: Path, stop: threading.Event, cores: "queue.SimpleQueue[int]") -> Faults:
    core = cores.get()
    try:
        return play_over_tcp(run, folder, stop, core)
    finally:
        cores.put(core)


def _play_memory_run(
    run: Run, folder: Path, stop: threading.Event | None, listen: HandListener | None = None
) -> Faults:
    plan = run.plan
    definition = parse_definition(plan.definition, source=PLAN_FILE)
    match = MemoryMatch(run.name, plan.game, definition, plan.hands, run.seed, run.names())
    specs = zip(run.players(), run.player_seeds())
    players = tuple(make_player(spec, seed) for spec, seed in specs)
    faults = play_in_memory(match, players, run.log_path(folder), stop, listen)
    for seat, player in enumerate(players):
        write_report(player, report_path(folder, run.name, seat))
    return faults


def _play_in_process(run: Run, folder: Path) -> Faults:
    """In a process of the pool: no event can be passed to it, so a run hears the interrupt itself."""
    with hearing_interrupts():
        return _play_memory_run(run, folder, None)


def seat_table(run: Run, folder: Path, definition: GameDefinition, scorer: Scorer = chips_scorer) -> list[list[float]]:
    """Values of a run's log by hand and seat; raises `FormatError` unless every hand is there exactly once."""
    by_seat = []
    for expected, line in enumerate(state_lines(run.log_path(folder))):
        number = hand_number(line)
        if number != expected:
            raise FormatError(f"{run.log_path(folder)}: hand {number} where {expected} was expected: a damaged log")
        first = (number + (run.order == "BA")) % 2
        values = scorer(run, line, first)
        by_seat.append(values if number % 2 == 0 else values[::-1])
    if len(by_seat) != run.plan.hands:
        raise FormatError(f"{run.log_path(folder)}: {len(by_seat)} hands, expected {run.plan.hands}: use --resume")
    return by_seat


def pairs_by_position(
    plan: MatchPlan, folder: Path, index: int, definition: GameDefinition, scorer: Scorer = chips_scorer
) -> Float:
    """[pairs, 2]: A's values in positions 0 and 1 of each pair of hands of one duplicate match."""
    first, second = (seat_table(run, folder, definition, scorer) for run in plan.runs(index))
    return pair_values(first, second)


def default_jobs() -> int:
    return os.cpu_count() or 1
