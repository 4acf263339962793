"""Suit-isomorphic index: sizes, and indexes a second on one core for each street."""

import time

import numpy as np

from foldwise.game.hands.hand_index import HandIndex

SHAPES = [(2,), (2, 3), (2, 3, 1), (2, 3, 1, 1), (2, 4), (2, 5), (3,), (4,), (5,), (3, 1, 1)]


def main() -> None:
    rng = np.random.default_rng(1)
    deals = np.concatenate([np.argsort(rng.random((100_000, 52)), axis=1)[:, :7] for _ in range(10)]).astype(np.uint8)
    print(f"{'shape':14} {'classes':>14} {'index M/s':>10} {'unindex M/s':>12}")
    for shape in SHAPES:
        index = HandIndex(shape)
        hands = np.ascontiguousarray(deals[:, : index.num_cards])
        indexes = index.index_hands(hands)
        fastest = 0.0
        for _ in range(5):
            begin = time.perf_counter()
            index.index_hands(hands)
            fastest = max(fastest, len(hands) / (time.perf_counter() - begin))
        begin = time.perf_counter()
        back = index.unindex_hands(indexes)
        back_rate = len(hands) / (time.perf_counter() - begin)
        assert (index.index_hands(back) == indexes).all()
        print(f"{shape!s:14} {index.size:14,} {fastest / 1e6:10.1f} {back_rate / 1e6:12.2f}")


if __name__ == "__main__":
    main()
