"""Best responses with real bets: against plain Python, against all pure strategies, and against the abstract game."""

import json
from dataclasses import replace

import numpy as np
import pytest

from foldwise.abstraction.build import build_abstract_game
from foldwise.abstraction.config import read_config
from foldwise.abstraction.deals.joint_deals import EnumeratedViews
from foldwise.agent.following.tracker import make_seat
from foldwise.agent.mappings.translation import TRANSLATIONS
from foldwise.agent.strategy_player import StrategyPlayer
from foldwise.cli.main import main
from foldwise.game.definition import parse_definition
from foldwise.game.errors import DefinitionError
from foldwise.game.library import find_definition
from foldwise.game.trees.tree_kernels import DECISION
from foldwise.matches.scoring.expectation import Expectation
from foldwise.matches.scoring.real_bets import RealBetsResponse
from foldwise.postprocess.pipeline import Pipeline
from foldwise.solver.config import RunConfig
from foldwise.solver.response.best_response import ExactResponse
from tests.oracles.naive_real_bets import NaiveRealBets
from tests.oracles.naive_scoring import TINY_NO_LIMIT
from tests.support.made_strategies import StandInBuckets, made_player, made_seat, short_hunl

KUHN = parse_definition(
    "GAMEDEF\nnolimit\nnumPlayers = 2\nnumRounds = 1\nstack = 9 9\nblind = 1 1\nfirstPlayer = 1\nnumSuits = 1\n"
    "numRanks = 3\nnumHoleCards = 1\nnumBoardCards = 0\nEND GAMEDEF\n",
    "kuhn with nine chips",
)
SHORT = replace(TINY_NO_LIMIT, stacks=(7, 7))


def made(definition, menu, translation="pseudo-harmonic", pipeline="none", seed=3):
    seat = made_seat(definition, menu, seed=seed, pipeline=pipeline, translation=TRANSLATIONS[translation])
    return StrategyPlayer(seat, definition, StandInBuckets(definition.num_hole_cards))


@pytest.mark.parametrize("translation", TRANSLATIONS)
def test_equals_the_response_deal_by_deal(translation):
    """Every mapping, by chance and by the median; several readings are remembered over raises."""
    player = made(KUHN, "f c 1p a", translation)
    expected = [NaiveRealBets(player, "none", position).value() for position in (0, 1)]
    assert RealBetsResponse(player).run().best_response == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "menu, pipeline",
    [
        ("f c 0.5p a | f c 1p | f c", "none"),  # past the abstract cap, and all-ins that the real hand outlives
        ("f c 0.75p | f c a | f c", "threshold(0.2)"),
        ("f c 0.3p 1p | f c", "new(0.3) except first"),
        ("f c 0.4p 0.5p a | f c", "none"),  # two sizes that make the same chips
        ("f c", "purify"),
    ],
)
def test_equals_it_on_two_streets(menu, pipeline):
    player = made(SHORT, menu, pipeline=pipeline)
    expected = [NaiveRealBets(player, pipeline, position).value() for position in (0, 1)]
    assert RealBetsResponse(player).run().best_response == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("position", [0, 1])
def test_no_pure_strategy_wins_more(position):
    """Two chips behind, no raise of a raise: all plans of the responder enumerated, and the best wins exactly that."""
    player = made(replace(KUHN, stacks=(3, 3), max_raises=(1,)), "f c a", "arithmetic")
    oracle = NaiveRealBets(player, "none", position)
    values = [oracle.value_of(plan) for plan in oracle.plans()]
    assert len(values) > 200
    assert RealBetsResponse(player).run().best_response[position] == pytest.approx(max(values), abs=1e-9)


def abstract_and_real(folder, game_text, menu):
    """A random policy of a game with a menu of bets: its exploitability in the abstract game, and with real bets."""
    (folder / "small.game").write_text(game_text)
    definition = parse_definition(game_text)
    bets = [menu] * definition.num_rounds
    (folder / "small.toml").write_text(f'game = "small.game"\n[bets]\nstreets = {bets}\n[solver]\nsampler = "cfr+"\n')
    game = build_abstract_game(read_config(folder / "small.toml", RunConfig, {}))
    stored = np.random.default_rng(5).random(game.num_entries) ** 3
    policy = stored.copy()
    for node in game.tree.nodes[game.tree.nodes["num_children"] > 0]:
        count = int(node["num_children"])
        if node["kind"] == DECISION:
            rows = policy[node["base"] :][: count * game.deals.num_buckets[node["street"], node["player"]]]
            rows[:] = (rows.reshape(-1, count) / rows.reshape(-1, count).sum(axis=1, keepdims=True)).ravel()
    seat = make_seat(game.tree, stored, definition, Pipeline(), 0)
    player = StrategyPlayer(seat, definition, EnumeratedViews(definition, suits_matter=False))
    return ExactResponse(game).exploitability(policy), RealBetsResponse(player).run(), 1000.0 / definition.big_blind


GAMES = {
    "kuhn": find_definition("kuhn"),
    "leduc": find_definition("leduc"),
    "no-limit kuhn": KUHN,
    "no-limit leduc": replace(find_definition("leduc"), limit=False, stacks=(6, 6), raise_sizes=()),
}


@pytest.mark.parametrize("name", GAMES)
def test_equals_the_abstract_response_where_every_bet_is_in_the_menu(name, tmp_path):
    abstract, real, unit = abstract_and_real(tmp_path, GAMES[name].to_text(), "f c *")
    assert [unit * value for value in real.best_response] == pytest.approx(abstract.best_response_mbb, rel=1e-6)
    assert unit * real.value == pytest.approx(abstract.value_mbb, rel=1e-6)
    assert unit * real.exploitability == pytest.approx(abstract.exploitability_mbb, rel=1e-6)


@pytest.mark.parametrize("name", ["no-limit kuhn", "no-limit leduc"])
def test_real_bets_win_at_least_as_much_as_abstract_ones(name, tmp_path):
    abstract, real, unit = abstract_and_real(tmp_path, GAMES[name].to_text(), "f c 1p a")
    gains = unit * np.array(real.best_response) - abstract.best_response_mbb
    assert (gains > -1e-3).all()
    assert gains.sum() > 1.0
    assert unit * real.value == pytest.approx(abstract.value_mbb, rel=1e-6)


def test_wins_at_least_what_any_strategy_wins():
    player, other = made(TINY_NO_LIMIT, "f c 0.5p a"), made(TINY_NO_LIMIT, "f c 1p | f c 0.6p a", seed=4)
    won = Expectation(TINY_NO_LIMIT, (other, player)).exact()
    assert won is not None
    assert (np.array(RealBetsResponse(player).run().best_response) > won).all()


@pytest.mark.parametrize(
    "definition, words",
    [
        (short_hunl(), "hole cards 2, rounds 4, boards 2,598,960"),
        (replace(KUHN, num_board_cards=(1,)), "hole cards 1, rounds 1, boards 3"),
    ],
)
def test_refuses_a_game_with_too_many_cards(definition, words):
    with pytest.raises(DefinitionError, match=words):
        RealBetsResponse(made_player(definition, "f c a | f c"))


def test_refuses_a_game_with_too_many_chips():
    with pytest.raises(DefinitionError, match="more than 1,000 states of betting"):
        RealBetsResponse(made(replace(KUHN, stacks=(2000, 2000)), "f c 1p a"), most_states=1000).run()


def test_the_command_says_what_it_measured(tmp_path, capsys):
    """No-limit Kuhn, solved: the responder gains by real bets alone, and post-processing and translation matter."""
    (tmp_path / "kuhn.game").write_text(KUHN.to_text())
    config = tmp_path / "kuhn.toml"
    config.write_text(
        'game = "kuhn.game"\n[bets]\nstreets = ["f c 1p a"]\n[solver]\nsampler = "cfr+"\niterations = 500\n'
    )
    assert main(["solve", str(config), "-o", str(tmp_path / "solved"), "--json"]) == 0

    def found(*words):
        capsys.readouterr()
        assert main(["exploitability", str(tmp_path / "solved"), *words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    abstract, real = found(), found("--real-bets")
    by_median = found("--real-bets", "--translation", "arithmetic deterministic")
    pure = found("--real-bets", "--postprocess", "purify")
    assert abstract["exploitability_mbb"] < 5 < 50 < real["exploitability_mbb"] < by_median["exploitability_mbb"]
    assert real["value_mbb"] == pytest.approx(abstract["value_mbb"], abs=1e-3)
    assert (real["translation"], by_median["translation"]) == ("pseudo-harmonic", "arithmetic deterministic")
    assert (pure["postprocess"], real["real_bets"]) == ("purify", True)
    assert pure["exploitability_mbb"] != pytest.approx(real["exploitability_mbb"], abs=1.0)
    for result in (real, by_median, pure):
        assert result["exploitability_mbb"] == pytest.approx(sum(result["best_response_mbb"]) / 2.0)
    assert main(["exploitability", str(tmp_path / "solved"), "--real-bets"]) == 0
    assert f"exploitability {real['exploitability_mbb']:.6g} mbb with real bets" in capsys.readouterr().out
