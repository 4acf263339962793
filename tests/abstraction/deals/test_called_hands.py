"""What a called hand is worth before the flop: exact counts over all boards, and the exact deals made from them."""

from itertools import combinations
from pathlib import Path

import eval7
import numpy as np
import numpy.typing as npt
import pytest

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.abstraction.build import build_abstract_game
from foldwise.abstraction.cards.hand_strength import HandStrength
from foldwise.abstraction.config import read_config
from foldwise.abstraction.deals import called_hands as module
from foldwise.abstraction.deals.called_hands import NUM_BOARDS, called_hands, disjoint_pairs
from foldwise.game.hands.hand_index import hand_index
from foldwise.game.hands.hole_cards import PAIR_CARDS, pair_number
from foldwise.solver.config import RunConfig
from foldwise.solver.regret_kernels import normalise_sums
from foldwise.solver.response.best_response import ExactResponse
from foldwise.solver.sampling.vector_sampling import VectorSampling
from tests.support.places import CONFIGS

CONFIG = CONFIGS / "preflop-nl.toml"
DECK = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]


@pytest.fixture(scope="module")
def won() -> npt.NDArray[np.int32]:
    return called_hands()


@pytest.fixture(scope="module")
def games() -> dict[str, AbstractGame]:
    """The game with its 1,326 hands, and with the 169 classes of hands that suits alone tell apart."""
    return {
        method: build_abstract_game(read_config(CONFIG, RunConfig, {"cards.streets": [{"method": method}]}))
        for method in ("none", "lossless")
    }


def pair(text: str) -> int:
    return pair_number(DECK.index(text[:2]), DECK.index(text[2:]))


def test_who_wins_is_antisymmetric_and_never_between_hands_that_share_a_card(won: npt.NDArray[np.int32]) -> None:
    assert won.shape == (1326, 1326)
    assert np.array_equal(won, -won.T)
    assert not won[~disjoint_pairs()].any()
    assert disjoint_pairs().sum() == 1326 * 1225
    assert np.abs(won).max() < NUM_BOARDS == 1_712_304


def test_row_means_are_the_hand_strengths(won: npt.NDArray[np.int32]) -> None:
    """The strength of a hand against a random one, found another way: by ranking all hands on each board."""
    strengths = HandStrength().values(0, "hs")[hand_index((2,)).index_hands(PAIR_CARDS)]
    assert 0.5 + won.sum(axis=1) / (2.0 * 1225 * NUM_BOARDS) == pytest.approx(strengths, abs=1e-12)


def test_known_equities(won: npt.NDArray[np.int32]) -> None:
    """Aces against kings: odds calculators give 81.3 to 82.6, depending on shared suits."""
    equity = [0.5 + won[pair("AsAh"), pair(kings)] / (2 * NUM_BOARDS) for kings in ("KdKc", "KsKd", "KsKh")]
    assert equity == pytest.approx([0.8126, 0.8195, 0.8264], abs=5e-5)


def test_one_pair_of_hands_counted_by_another_evaluator(won: npt.NDArray[np.int32]) -> None:
    hands = [eval7.Card("Ah"), eval7.Card("Kh")], [eval7.Card("2s"), eval7.Card("2c")]
    rest = [eval7.Card(card) for card in DECK if card not in ("Ah", "Kh", "2s", "2c")]
    total, evaluate = 0, eval7.evaluate
    for board in combinations(rest, 5):
        first, second = evaluate([*hands[0], *board]), evaluate([*hands[1], *board])
        total += (first > second) - (first < second)
    assert won[pair("AhKh"), pair("2s2c")] == total


def test_the_table_is_kept_and_a_damaged_one_counted_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = []

    def count(_: object) -> npt.NDArray[np.int32]:
        counted.append(1)
        return np.arange(6, dtype=np.int32).reshape(2, 3)

    monkeypatch.setattr(module, "_count", count)
    first = called_hands(tmp_path)
    assert np.array_equal(called_hands(tmp_path), first) and len(counted) == 1
    (array,) = tmp_path.glob("*/won*.npy")
    data = bytearray(array.read_bytes())
    data[-1] ^= 1
    array.write_bytes(data)
    assert np.array_equal(called_hands(tmp_path), first) and len(counted) == 2


def test_deals_are_exact_on_hands_and_on_classes(games: dict[str, AbstractGame], won: npt.NDArray[np.int32]) -> None:
    hands, classes = (games[method].deals.joint for method in ("none", "lossless"))
    assert hands is not None and classes is not None
    assert np.allclose(hands.fold_matrices[0], disjoint_pairs() / (1326 * 1225), rtol=1e-12, atol=0.0)
    assert np.allclose(hands.settle_matrices[0][0], won / (1326 * 1225 * NUM_BOARDS), rtol=1e-12, atol=0.0)
    assert games["none"].num_infosets == 20 * 1326
    of_class = hand_index((2,)).index_hands(PAIR_CARDS)
    for ours, theirs in zip(
        (classes.fold_matrices[0], classes.settle_matrices[0][0]), (hands.fold_matrices[0], hands.settle_matrices[0][0])
    ):
        grouped = np.zeros((169, 169))
        np.add.at(grouped, np.ix_(of_class, of_class), theirs)
        assert np.allclose(ours, grouped, rtol=1e-9, atol=1e-15)


def test_classes_of_hands_draw_and_learn_as_the_hands_would(games: dict[str, AbstractGame]) -> None:
    """The vector form treats hands of a class alike: the same draws, and the same exploitability after them."""
    found = []
    for method, game in games.items():
        overrides = {"solver.sampler": "vector-outcome", "solver.policy": "wcs", "solver.threads": 1}
        overrides |= {"solver.policy_weight": "both", "cards.streets": [{"method": method}]}
        solver = VectorSampling(game, read_config(CONFIG, RunConfig, overrides).solver)
        solver.advance(40)
        policy = np.empty(game.num_entries)
        normalise_sums(game.tree.nodes, game.deals.num_buckets, solver.table, policy)
        found.append((solver.counts, ExactResponse(game).exploitability(policy)))
    (hand_counts, of_hands), (class_counts, of_classes) = found
    assert np.array_equal(hand_counts, class_counts)
    assert of_hands.exploitability_mbb == pytest.approx(of_classes.exploitability_mbb, rel=1e-9)
    assert of_hands.value_mbb == pytest.approx(of_classes.value_mbb, rel=1e-9, abs=1e-9)
    assert of_hands.exploitability_mbb < 8566.0  # of the uniform strategy
