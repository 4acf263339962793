"""Shares of the tables and of the flops: every row once, flops left to children, boards drawn among them."""

import numpy as np
import pytest

from foldwise.abstraction.cards.card_abstraction import CardAbstraction, StreetAbstraction
from foldwise.game.errors import DefinitionError
from foldwise.game.hands.evaluator import rank_hand
from foldwise.game.primitives.rng import make_state
from foldwise.solver.distributed import top_kernels
from foldwise.solver.distributed.child import card_game
from foldwise.solver.distributed.flops import FLOPS_LEFT, FlopDeals, cluster_flops, make_flop_tables
from foldwise.solver.distributed.pieces import Piece, assign_clusters, child_piece, top_piece, whole_pieces
from tests.support.clustered_cards import clustered_config


def test_hands_do_not_depend_on_where_batches_are_cut() -> None:
    whole, cut = np.zeros((10, 4), np.uint8), np.zeros((10, 4), np.uint8)
    top_kernels.deal_hands(make_state(3), whole)
    rng = make_state(3)
    top_kernels.deal_hands(rng, cut[:4])
    top_kernels.deal_hands(rng, cut[4:])
    assert np.array_equal(whole, cut)
    assert all(len(set(hand)) == 4 for hand in whole.tolist())


@pytest.mark.parametrize("num_clusters, num_children", [(4, 1), (4, 3), (60, 7), (60, 60), (61, 8)])
def test_assignment_is_a_balanced_partition(num_clusters: int, num_children: int) -> None:
    flops = np.random.default_rng(num_clusters).integers(50, 700, size=num_clusters)
    own = assign_clusters(flops, num_children)
    assert sorted(c for clusters in own for c in clusters) == list(range(num_clusters))
    assert all(1 <= len(clusters) <= -(-num_clusters // num_children) for clusters in own)
    load = [int(flops[list(clusters)].sum()) for clusters in own]
    assert max(load) - min(load) <= flops.max()


def test_assignment_can_be_pinned_and_is_checked() -> None:
    flops = np.array([10, 20, 30])
    assert assign_clusters(flops, 2, ((2,), (1, 0))) == [(2,), (0, 1)]
    for pinned in [((2,), (0,)), ((0, 1, 2),), ((0, 1, 2), ()), ((0, 1), (1, 2))]:
        with pytest.raises(DefinitionError, match="assignment"):
            assign_clusters(flops, 2, pinned)
    for count in (0, 4):
        with pytest.raises(DefinitionError, match="expected 1 to 3"):
            assign_clusters(flops, count)


def test_pieces_hold_every_row_once(cards: CardAbstraction) -> None:
    game, _ = card_game(clustered_config(), cards)
    top, rest = whole_pieces(game)
    whole = np.arange(2.0 * game.num_entries)
    back = np.full_like(whole, -1.0)
    pieces: list[tuple[Piece, Piece]] = [(top_piece(game), top)]
    pieces += [(child_piece(game, clusters), rest) for clusters in ((2, 0), (3,), (1,))]
    assert sum(piece.num_entries for piece, _ in pieces) == game.num_entries
    for piece, side in pieces:
        table = np.full(2 * piece.num_entries, -1.0)
        side.copy_to(piece, 2, whole, table)
        assert (table >= 0).all()
        piece.copy_to(side, 2, table, back)
    assert np.array_equal(back, whole)


def test_flops_left_to_the_children_add_up(cards: CardAbstraction) -> None:
    """F_{n,h} by inclusion and exclusion against counting, 17,296 in all; blocked clusters are over-weighed without it."""
    sizes = cluster_flops(cards)
    assert sizes.sum() == 22_100
    rng = np.random.default_rng(5)
    hands = np.array([rng.choice(52, 4, replace=False) for _ in range(30)] + [[48, 49, 50, 51]], dtype=np.uint8)
    total = np.zeros(len(hands), dtype=np.int64)
    for clusters in ((0,), (1, 3), (2,)):
        deals = FlopDeals(cards, make_flop_tables(cards, clusters), np.array([0, 12]), 3)
        assert len(deals.flops.cards) == sizes[list(clusters)].sum()
        counts = deals.count(hands)
        for hand, count in zip(hands, counts):
            assert count == (~np.isin(deals.flops.cards, hand).any(axis=1)).sum()
        total += counts
        if clusters == (0,):  # flops with an ace, all four of them in hand
            assert counts[-1] == 0 and deals.mean_flops == pytest.approx(sizes[0] * 17_296 / 22_100)
    assert (total == FLOPS_LEFT).all()


def test_boards_are_drawn_uniformly_among_real_flops(cards: CardAbstraction) -> None:
    """A raw flop bucket tells the flop: all of the piece's that the hands leave, equally often, with the right winner."""
    raw = CardAbstraction(
        [StreetAbstraction("raw", 1326, (2,)), StreetAbstraction("raw", 1326 * 22100, (2, 3))], {}, cards.clusters
    )
    deals = FlopDeals(raw, make_flop_tables(cards, (0,)), np.zeros(2, dtype=np.int64), 3)
    hand = [51, 46, 47, 5]
    num = 60_000
    hands = np.tile(np.array(hand, dtype=np.uint8), (num, 1))
    counts = deals.count(hands)
    buckets, rows = np.zeros((num, 2, 2), dtype=np.int32), np.zeros(num, dtype=np.int32)
    deals.draw(make_state(3), hands, counts, buckets, rows)
    drawn = buckets[:, :, 1] % 22_100
    assert np.array_equal(drawn[:, 0], drawn[:, 1])
    flops = {tuple(cards_) for cards_ in deals.flops.cards.tolist() if not set(cards_) & set(hand)}
    numbers = {c * (c - 1) * (c - 2) // 6 + b * (b - 1) // 2 + a: (a, b, c) for a, b, c in flops}
    seen, times = np.unique(drawn[:, 0], return_counts=True)
    assert set(seen.tolist()) == set(numbers) and len(flops) == counts[0]
    expected = num / len(flops)
    assert ((times - expected) ** 2 / expected).sum() < len(flops) + 5 * (2 * len(flops)) ** 0.5
    for walk in range(200):
        flop = numbers[int(drawn[walk, 0])]
        first, second = rank_hand((*hand[:2], *flop)), rank_hand((*hand[2:], *flop))
        assert rows[walk] == 1 + (first > second) - (first < second)


def test_child_buckets_are_the_games(cards: CardAbstraction) -> None:
    """A piece's own bucket numbers, taken back through its clusters, are those the abstraction gives."""
    clusters = (3, 1)
    deals = FlopDeals(cards, make_flop_tables(cards, clusters), np.array([0, 12]), 3)
    hands = np.array([[0, 5, 10, 15]] * 500, dtype=np.uint8)
    buckets, rows = np.zeros((500, 2, 2), dtype=np.int32), np.zeros(500, dtype=np.int32)
    deals.draw(make_state(1), hands, deals.count(hands), buckets, rows)
    assert buckets[:, :, 1].min() >= 0 and buckets[:, :, 1].max() < 24
    possible = set()
    for flop in deals.flops.cards.tolist():
        if not set(flop) & {0, 5, 10, 15}:
            possible.add((cards.bucket((0, 5), flop), cards.bucket((10, 15), flop)))
    for first, second in buckets[:, :, 1].tolist():
        whole = tuple(12 * clusters[b // 12] + b % 12 for b in (first, second))
        assert whole in possible
