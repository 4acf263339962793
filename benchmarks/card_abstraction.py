"""Card abstractions of every kind on the real tables: times, masses, order, lookups, and the public flop clusters.

python benchmarks/card_abstraction.py percentile     percentile buckets, nested and not
python benchmarks/card_abstraction.py kmeans         200 turn buckets over 13,960,050 classes; flop; OCHS on the river
python benchmarks/card_abstraction.py hierarchical   60 public clusters over a base of 5,000 flop buckets
"""

import argparse
import resource
import sys
import time

import numpy as np
from numpy.typing import NDArray

from foldwise.abstraction.cards import hierarchical
from foldwise.abstraction.cards.boards import boards
from foldwise.abstraction.cards.card_abstraction import STREETS, CardAbstraction
from foldwise.abstraction.cards.card_building import build_cards
from foldwise.abstraction.cards.card_config import CardConfig, PublicClusters, StreetCards
from foldwise.abstraction.cards.hand_strength import HandStrength
from foldwise.game.cards import cards_text, parse_cards
from foldwise.game.hands.hand_index import hand_index


def random_deals(num_deals: int, seed: int) -> NDArray[np.uint8]:
    rng = np.random.default_rng(seed)
    parts = [np.argsort(rng.random((100_000, 52)), axis=1)[:, :7] for _ in range(num_deals // 100_000)]
    return np.concatenate(parts).astype(np.uint8)


def build(name: str, config: CardConfig, strength: HandStrength) -> CardAbstraction:
    begin, cpu = time.perf_counter(), time.process_time()
    abstraction = build_cards(config, strength)
    print(f"\n{name}: {time.perf_counter() - begin:.1f} s ({time.process_time() - cpu:.1f} CPU s),", end=" ")
    print(f"{abstraction.bytes / 1e6:.0f} MB, fingerprint {abstraction.fingerprint}, peak", end=" ")
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.1f} GB")
    deals = random_deals(300_000, seed=2)
    for street, made in enumerate(abstraction.streets):
        hands = np.ascontiguousarray(deals[:, : (2, 5, 6, 7)[street]])
        abstraction.bucket_hands(street, hands[:2])
        cpu = time.thread_time()
        buckets = abstraction.bucket_hands(street, hands)
        nanoseconds = (time.thread_time() - cpu) / len(hands) * 1e9
        shares = np.bincount(buckets, minlength=made.num_buckets) / len(hands) * made.num_buckets
        print(f"  {STREETS[street]:8} {made.num_buckets:6} buckets, {nanoseconds:5.0f} ns a lookup,", end=" ")
        print(f"mass of a bucket {shares.min():.2f} to {shares.max():.2f} of equal {made.note}")
    return abstraction


def percentile(strength: HandStrength) -> None:
    flat = build("percentile, 10 a street", cards("percentile", 10, "percentile"), strength)
    build("percentile-nested, 5 a street (limit-5)", cards("percentile", 5, "percentile-nested"), strength)
    build("two rounds, 5 nested (two-nl)", cards("percentile", 5, "percentile-nested", 2), strength)
    rng = np.random.default_rng(4)
    broken = 0
    for _ in range(2000):  # a better hand on the same board must not fall into a lower bucket
        size = int(rng.choice([3, 4, 5]))
        dealt = rng.choice(52, 4 + size, replace=False).tolist()
        board, street = dealt[4:], size - 2
        index = hand_index((2, size))
        values = (
            [strength.sums(street, "hs2")[index.index([*hand, *board])] for hand in (dealt[:2], dealt[2:4])]
            if size < 5
            else [strength.river_classes[index.index([*hand, *board])] for hand in (dealt[:2], dealt[2:4])]
        )
        buckets = [flat.bucket(hand, board) for hand in (dealt[:2], dealt[2:4])]
        broken += int(
            (values[0] > values[1] and buckets[0] < buckets[1]) or (values[0] < values[1] and buckets[0] > buckets[1])
        )
    print(f"\norder kept in 2,000 random pairs of hands on one board: {broken} exceptions")
    assert broken == 0


def cards(first: str, buckets: int, rest: str, num_streets: int = 4) -> CardConfig:
    methods = [first] + [rest] * (num_streets - 1)
    return CardConfig.model_validate({"streets": [{"method": method, "buckets": buckets} for method in methods]})


def kmeans(strength: HandStrength) -> None:
    lossless = StreetCards(method="lossless")
    flop = StreetCards(method="kmeans-emd", buckets=200)
    quick = StreetCards(method="kmeans-emd", buckets=200, sample=100_000, restarts=1)
    river = StreetCards(method="kmeans-ochs", buckets=200)
    build("sampled: flop and turn 200 by EMD", CardConfig(streets=[lossless, quick, quick]), strength)
    build("flop 200 by EMD, all classes", CardConfig(streets=[lossless, flop]), strength)
    build(
        "turn 200 by EMD, all classes; river 200 by OCHS", CardConfig(streets=[lossless, quick, flop, river]), strength
    )


def clusters(strength: HandStrength) -> None:
    begin = time.perf_counter()
    config = PublicClusters()
    distances = hierarchical.base_distances(strength, config)
    print(f"base of {config.base_buckets} flop buckets and distances: {time.perf_counter() - begin:.1f} s")
    index = hand_index((3,))
    alike = distances[index.index(parse_cards("AhKs3d")), index.index(parse_cards("AhKs2d"))]
    below = (distances[np.triu_indices(len(distances), 1)] < alike).mean()
    print(f"d(AhKs3d, AhKs2d) = {alike / hierarchical.HANDS_PER_FLOP:.4f}, smaller in {100 * below:.3f}% of all pairs")
    assert below < 0.01
    for seed in (1, 2, 3):
        first = hierarchical.seed_clusters(distances, 60, seed)
        begin = time.perf_counter()
        found = hierarchical.cluster_in_place(distances, first)
        seconds = time.perf_counter() - begin
        sizes = np.bincount(found.labels, minlength=60)
        print(f"seed {seed}: settled {found.settled} in {found.passes} passes, {seconds:.2f} s,", end=" ")
        by_mean = np.bincount(hierarchical.cluster_in_place(distances, first, 100, "mean").labels, minlength=60)
        printed = hierarchical.cluster_at_once(distances, first)
        print(f"sizes {sizes.min()} to {sizes.max()}; by mean distance {by_mean.min()} to {by_mean.max()};", end=" ")
        print(f"as printed {len(set(printed.labels.tolist()))} cluster(s)")
        if seed == 1:
            for cluster in range(4):
                members = [cards_text(boards(3).cards[row].tolist()) for row in np.flatnonzero(found.labels == cluster)]
                print(f"  cluster {cluster}: {' '.join(members)}")
    streets = [
        StreetCards(method="lossless"),
        StreetCards(method="kmeans-emd", buckets=20, restarts=1),
        StreetCards(method="percentile", buckets=20),
        StreetCards(method="percentile", buckets=20),
    ]
    build("hierarchical, 60 x 20", CardConfig(streets=streets, public=config), strength)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    jobs = {"percentile": percentile, "kmeans": kmeans, "hierarchical": clusters}
    parser.add_argument("job", nargs="*", default=[], choices=[*jobs, []], help="all three by default")
    sys.stdout.reconfigure(line_buffering=True)  # long jobs: print each line at once
    strength = HandStrength()
    for job in parser.parse_args().job or jobs:
        jobs[job](strength)


if __name__ == "__main__":
    main()
