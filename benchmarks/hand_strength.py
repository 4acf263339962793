"""Hand strength of all four streets: time and memory of the tables, and a check of their values.

python benchmarks/hand_strength.py             tables from the cache, or built into it
python benchmarks/hand_strength.py --fresh     tables built into a temporary folder, timed
"""

import argparse
import json
import resource
import tempfile
import time
from itertools import combinations
from pathlib import Path

import eval7
import numpy as np

from foldwise.abstraction.cards.boards import boards
from foldwise.abstraction.cards.hand_strength import STRENGTH_UNIT, HandStrength, scale
from foldwise.game.cards import card_text, parse_cards
from foldwise.game.hands.hand_index import hand_index
from foldwise.game.hands.hole_cards import PAIR_CARDS

BEST_RESPONSE_TO_ALWAYS_CALL = 1163.48  # mb/h in limit hold'em: Johanson et al., IJCAI 2011
GOLDEN = Path(__file__).parent.parent / "tests" / "golden" / "preflop_strength.txt"


def check_eval7(strength: HandStrength, seed: int) -> None:
    """Random hands of each street against all opponents and boards (a sample of the boards before the flop)."""
    rng = np.random.default_rng(seed)
    deck = [eval7.Card(card_text(card)) for card in range(52)]
    for street, num_hands in ((3, 20), (2, 6), (1, 1)):
        worst = 0.0
        for _ in range(num_hands):
            cards = rng.choice(52, (2, 5, 6, 7)[street], replace=False).tolist()
            hand, board = cards[:2], cards[2:]
            rest = [card for card in range(52) if card not in cards]
            finals = []
            for runout in combinations(rest, 5 - len(board)):
                full = [deck[card] for card in (*board, *runout)]
                ours = eval7.evaluate([*full, deck[hand[0]], deck[hand[1]]])
                left = [deck[card] for card in rest if card not in runout]
                theirs = [eval7.evaluate([*full, a, b]) for a, b in combinations(left, 2)]
                finals.append(sum(1.0 if ours > t else 0.5 if ours == t else 0.0 for t in theirs) / len(theirs))
            place = hand_index((2, len(board))).index(cards)
            for metric, power in (("hs", 1), ("hs2", 2)):
                expected = float(np.mean(np.array(finals) ** power))
                worst = max(worst, abs(strength.sums(street, metric)[place] / scale(street, metric) - expected))
        print(f"street {street}: {num_hands} random hands, largest difference from eval7's enumeration {worst:.1e}")
        assert worst < 1e-6


def always_call_value(strength: HandStrength) -> float:
    """1000 (E(2e - 1)+ before the flop + flop + 2 turn + 2 river), e the hand's equity on the street."""
    total = 0.0
    for street, bets in ((0, 1), (1, 1), (2, 2)):
        edge = np.maximum(2 * strength.values(street, "hs") - 1, 0)
        total += bets * float(np.average(edge, weights=strength.masses(street)))
    rivers, strengths = boards(5), strength.river_boards
    edges = sum(
        float(
            rivers.orbits[start : start + 4096]
            @ np.maximum(2.0 * strengths[start : start + 4096] / STRENGTH_UNIT - 1, 0).sum(axis=1)
        )
        for start in range(0, len(strengths), 4096)
    )
    total += 2 * edges / (rivers.orbits.sum() * 1081)
    return 1000 * total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fresh", action="store_true")
    with tempfile.TemporaryDirectory() as temporary:
        strength = HandStrength(Path(temporary) if parser.parse_args().fresh else None)
        begin, cpu = time.perf_counter(), time.process_time()
        strength.masses(0)
        first, first_cpu = time.perf_counter() - begin, time.process_time() - cpu
        classes = strength.river_classes.size
        seconds, all_cpu = time.perf_counter() - begin, time.process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"preflop, flop and turn: {first:.1f} s ({first_cpu:.1f} CPU s); with {classes:,} river classes:")
        print(f"  {seconds:.1f} s ({all_cpu:.1f} CPU s), peak memory {peak:.2f} GB")

        index = hand_index((2,))
        for hand, known in (("AsAd", 0.8520), ("7s2d", 0.3458)):
            value = strength.values(0, "hs")[index.index(parse_cards(hand))]
            print(f"{hand} against a random hand: {value:.6f} (known {known})")
            assert abs(value - known) < 1e-4
        golden = sorted(tuple(map(int, line.split()[1:])) for line in GOLDEN.read_text().splitlines() if line[0] != "#")
        ours = zip(strength.masses(0), strength.sums(0, "hs"), strength.sums(0, "hs2"))
        assert golden == sorted(tuple(int(number) for number in row) for row in ours)
        assert strength.masses(1).sum() == 1326 * 19600 and strength.masses(2).sum() == 1326 * 230300
        assert np.bincount(index.index_hands(PAIR_CARDS)).tolist() == strength.masses(0).tolist()
        value = always_call_value(strength)
        print(f"best response to always-call in limit: {value:.2f} mb/h (published {BEST_RESPONSE_TO_ALWAYS_CALL})")
        assert abs(value - BEST_RESPONSE_TO_ALWAYS_CALL) < 0.005
        check_eval7(strength, seed=1)
        print(
            json.dumps(
                {"seconds": round(seconds, 1), "without_river_classes": round(first, 1), "peak_gb": round(peak, 2)}
            )
        )


if __name__ == "__main__":
    main()
