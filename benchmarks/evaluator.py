"""Evaluator: hands a second beside eval7 and phevaluator, order against eval7, exact category counts.

python benchmarks/evaluator.py            all of it, about a minute
python benchmarks/evaluator.py --quick    a twentieth of the hands compared with eval7
"""

import argparse
import time
from collections.abc import Callable

import eval7
import numpy as np
from numpy.typing import NDArray
from phevaluator import evaluate_cards

from foldwise.game.cards import card_text
from foldwise.game.hands import evaluator_kernels as kernels
from foldwise.game.hands.evaluator import (
    CATEGORIES,
    CATEGORY_CLASSES,
    CATEGORY_START,
    evaluator_tables,
    rank_hands,
    rank_pairs,
)

# Seven-card hands by category, 133,784,560 in all.
KNOWN_COUNTS = (23294460, 58627800, 31433400, 6461620, 6180020, 4047644, 3473184, 224848, 41584)


def random_hands(num_hands: int, num_cards: int, seed: int) -> NDArray[np.uint8]:
    rng = np.random.default_rng(seed)
    parts = [
        np.argsort(rng.random((min(100_000, num_hands - start), 52)), axis=1)[:, :num_cards].astype(np.uint8)
        for start in range(0, num_hands, 100_000)
    ]
    return np.concatenate(parts)


def best_seconds(call: Callable[[], object], repeats: int) -> float:
    best = float("inf")
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - begin)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick

    begin = time.perf_counter()
    tables = evaluator_tables()
    size = sum(array.nbytes for array in tables)
    print(f"tables: {size / 1024:.0f} KiB, built in {time.perf_counter() - begin:.2f} s")

    hands = random_hands(4_000_000, 7, seed=1)
    rank_hands(hands[:10])
    ours = len(hands) / best_seconds(lambda: rank_hands(hands), 7)
    deck = [eval7.Card(card_text(card)) for card in range(52)]
    peer_hands = [[deck[card] for card in hand] for hand in hands[:200_000].tolist()]
    peer_numbers = hands[:200_000].tolist()
    eval7_rate = len(peer_hands) / best_seconds(lambda: [eval7.evaluate(hand) for hand in peer_hands], 3)
    phe_rate = len(peer_numbers) / best_seconds(lambda: [evaluate_cards(*hand) for hand in peer_numbers], 3)
    board = hands[0, :5].tolist()
    rank_pairs(board)
    pair_seconds = best_seconds(lambda: [rank_pairs(board) for _ in range(1000)], 5) / 1000
    print(f"random seven-card hands, one core: {ours / 1e6:.1f}M a second")
    for name, rate in (("eval7", eval7_rate), ("phevaluator", phe_rate)):
        print(f"  {name} called from Python: {rate / 1e6:.2f}M a second, ours {ours / rate:.0f}x")
    print(
        f"all hole cards on a fixed board: {pair_seconds * 1e6:.1f} us, {1081 / pair_seconds / 1e6:.0f}M hands a second"
    )

    for num_cards in (5, 6, 7):
        sample = random_hands(50_000 if quick else 1_000_000, num_cards, seed=num_cards)
        ranks = rank_hands(sample).astype(np.int64)
        others = np.array([eval7.evaluate([deck[card] for card in hand]) for hand in sample.tolist()])
        order = np.lexsort((others, ranks))
        rank_steps, other_steps = np.diff(ranks[order]), np.diff(others[order])
        same = bool(((rank_steps > 0) == (other_steps > 0)).all() and (other_steps >= 0).all())
        print(f"{len(sample):,} random {num_cards}-card hands in eval7's order: {same}")
        assert same

    counts = np.zeros(7463, np.int64)
    begin = time.perf_counter()
    for highest in range(6, 52):
        kernels.count_seven_card_ranks(tables, highest, counts)
    seconds = time.perf_counter() - begin
    found = tuple(int(counts[s : s + n].sum()) for s, n in zip(CATEGORY_START, CATEGORY_CLASSES))
    print(f"all {counts.sum():,} seven-card hands in {seconds:.2f} s:")
    for name, count, known in zip(CATEGORIES, found, KNOWN_COUNTS):
        print(f"  {name:16} {count:12,} {'as known' if count == known else f'WRONG, known {known:,}'}")
    assert found == KNOWN_COUNTS


if __name__ == "__main__":
    main()
