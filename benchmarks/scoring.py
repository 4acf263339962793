"""How much a hand tells by each way of scoring: the standard deviation, and the hands an interval takes.

python benchmarks/scoring.py table FOLDER-A FOLDER-B [HANDS] [BOARDS]
    sd of A's result per observation by raw chips, duplicate pairs, all-in expectation, AIVAT with one and with both
    strategies known, and expectation; the reduction against raw; hands (boards) for 95% half-widths of 10, 25, 50 mbb/h.
    Give the same folder twice for self-play. AIVAT's values are made in the folders where they are missing.
python benchmarks/scoring.py roulette FOLDER-A FOLDER-B [BOARDS]
    the same boards with less and less walked: seconds, and what the roulette adds to the standard deviation.
"""

import math
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from foldwise.agent.player import make_player
from foldwise.matches.engine.compiled_match import MemoryMatch, play_in_memory, play_values
from foldwise.matches.scoring.aivat import Aivat
from foldwise.matches.scoring.all_in import expected_values
from foldwise.matches.scoring.expectation import Expectation, match_boards
from foldwise.matches.scoring.scorers import open_with_values
from foldwise.matches.statistics import estimate
from foldwise.matches.table.log import read_log

TARGETS_MBB = (10, 25, 50)


def needed(sd_mbb: float, target_mbb: float) -> int:
    return math.ceil((1.96 * sd_mbb / target_mbb) ** 2)


def print_row(name: str, values_chips: np.ndarray, unit: float, raw_sd: float, cpu_ms: float, hands: int = 1) -> float:
    """One method; `hands`: that one observation stands for."""
    found = estimate(values_chips, unit)
    sd = found.sd_mbb
    counts = " ".join(f"{hands * needed(sd, target):>12,}" for target in TARGETS_MBB)
    # Against raw at the same number of hands: a pair is two.
    reduction = 100 * (1 - sd * math.sqrt(hands) / (raw_sd or sd))
    print(
        f"{name:<28} {found.mean_mbb:>+8.1f} ± {found.ci95_mbb:>7.1f} {sd:>9,.0f} {reduction:>6.1f}% {counts} {cpu_ms:>9.3f}",
        flush=True,
    )
    return sd


def table(folders: list[str], num_hands: int, num_boards: int) -> None:
    (first, first_values), (second, second_values) = (
        open_with_values(folder, 2, lambda *_: None) for folder in folders
    )
    definition = first.definition
    unit = definition.big_blind
    runs = []
    play_values(definition, (first, second), 1, 1000, 1)
    start = time.process_time()
    play_values(definition, (first, second), 1, 50_000, 1)
    played_ms = 1000 * (time.process_time() - start) / 50_000
    with TemporaryDirectory() as name:
        for order in range(2):
            seated = [make_player(f"strategy:{folder}", 10 * order + i) for i, folder in enumerate(folders)][
                :: 1 - 2 * order
            ]
            path = Path(name) / f"{order}.log"
            match = MemoryMatch("m", "game", definition, num_hands, 5, ("A", "B")[:: 1 - 2 * order])
            play_in_memory(match, tuple(seated), path)
            runs.append(list(read_log(path, definition)))
    heads = " ".join(f"{f'{target} mbb/h':>12}" for target in TARGETS_MBB)
    print(f"{'method':<28} {'mean':>8}   {'95%':>7} {'sd':>9} {'less':>7} {heads} {'CPU ms':>9}")
    raw = np.array([[hand.values[hand.names.index("A")] for hand in hands] for hands in runs])
    raw_sd = print_row("raw chips, a hand", raw.ravel(), unit, 0.0, played_ms)
    print_row("duplicate, a pair", raw.mean(axis=0), unit, raw_sd, 2 * played_ms, 2)
    start = time.process_time()
    all_in = np.array([[expected_values(hand)[hand.names.index("A")] for hand in hands] for hands in runs])
    cpu_ms = played_ms + 1000 * (time.process_time() - start) / all_in.size
    print_row("all-in expectation, a hand", all_in.ravel(), unit, raw_sd, cpu_ms)
    print_row("all-in and duplicate, a pair", all_in.mean(axis=0), unit, raw_sd, 2 * cpu_ms, 2)
    for label, aivat in (
        ("AIVAT, A known", Aivat(definition, first, first_values)),
        ("AIVAT, both known", Aivat(definition, first, first_values, second, second_values)),
    ):
        aivat.score(runs[0][0], runs[0][0].names.index("A"))
        start = time.process_time()
        scores = np.array([[aivat.score(hand, hand.names.index("A")) for hand in hands] for hands in runs])
        cpu_ms = 1000 * (time.process_time() - start) / scores.size
        print_row(f"{label}, a hand", scores.ravel(), unit, raw_sd, cpu_ms)
        print_row(f"{label}, a pair", scores.mean(axis=0), unit, raw_sd, 2 * cpu_ms, 2)
    scoring = Expectation(definition, (first, second))
    boards = match_boards(definition, 5, num_boards)
    scoring.board_values(boards[0])
    start = time.process_time()
    values = scoring.values(boards, 2).mean(axis=1)
    print_row("expectation, a board", values, unit, raw_sd, 1000 * (time.process_time() - start) / num_boards)


def roulette(folders: list[str], num_boards: int) -> None:
    first, second = (make_player(f"strategy:{folder}", 0) for folder in folders)
    definition = first.definition
    boards = match_boards(definition, 5, num_boards)
    exact = None
    for least in (0.0, 0.02, 0.05, 0.2, 0.5, 2.0):
        scoring = Expectation(definition, (first, second), least, seed=1)
        scoring.board_values(boards[0])
        start = time.process_time()
        values = scoring.values(boards, 2).mean(axis=1) * 1000.0 / definition.big_blind
        cpu_ms = 1000 * (time.process_time() - start) / num_boards
        exact = values if exact is None else exact
        noise = float(np.sqrt(np.mean((values - exact) ** 2)))
        print(
            f"least {least:5.2f} chips: {cpu_ms:7.1f} CPU ms a board, sd {values.std(ddof=1):6.1f} mbb, noise {noise:6.1f}"
        )


def main() -> None:
    command, *rest = sys.argv[1:]
    numbers = [int(text) for text in rest[2:]]
    if command == "table":
        table(rest[:2], *(numbers + [5000, 200][len(numbers) :]))
    elif command == "roulette":
        roulette(rest[:2], *(numbers or [40]))
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
