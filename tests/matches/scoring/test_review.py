"""Reviews: a strategy finds no fault with what it does alone, values are those of the tables, mistakes cost chips."""

import json
from dataclasses import replace

import numpy as np
import pytest

from foldwise.agent.strategy_player import OpenStrategy
from foldwise.cli.main import main
from foldwise.game.betting import BettingState
from foldwise.game.cards import parse_cards
from foldwise.game.hands.hole_cards import pair_number
from foldwise.game.library import find_definition
from foldwise.game.text.match_state import MatchState, read_action
from foldwise.matches.report.hand_import import import_hands
from foldwise.matches.scoring.aivat_values import fit_values
from foldwise.matches.scoring.review import BlueprintJudge, Review, SearchJudge, review_hand, review_hands
from foldwise.matches.table.log import parse_state_line
from foldwise.postprocess.pipeline import Pipeline
from foldwise.search.modes import find_mode
from foldwise.search.ranges import TableRanges
from foldwise.solver.subgame.subgame import Subgame

HUNL = find_definition("hunl")


@pytest.fixture(scope="module")
def opened(holdem_strategy):
    return OpenStrategy(holdem_strategy)


@pytest.fixture(scope="module")
def judge(opened):
    values = fit_values(opened.definition, opened.player(Pipeline(), 0).seat, opened.lookup, num_boards=20)
    return BlueprintJudge(opened, values)


def state_of(betting: str, hand: str, board: str = "") -> MatchState:
    past = BettingState(HUNL)
    for text in betting.replace("/", "").replace("c", " c").replace("f", " f").replace("r", " r").split():
        past.apply(read_action(text, 0, HUNL)[0])
    holes = [(), ()]
    holes[past.player_to_act] = parse_cards(hand)
    return MatchState(past.player_to_act, 0, past, holes, parse_cards(board))


def action(text):
    return read_action(text, 0, HUNL)[0]


def test_values_are_those_of_the_tables(judge, opened):
    """At the root each child's value is read from its row; a fold costs the small blind."""
    state = state_of("", "AsAh")
    choice = judge.judge(state, action("c"))
    decision, _ = judge.player.explain(state)
    tree = judge.player.seat.tree
    first = int(tree.nodes[0]["first_child"])
    for text, value in zip(choice.actions, choice.values):
        if text == "f":
            assert value == -50.0
            continue
        child = first + decision.actions.index(text)
        row = judge._values.starts[child] + decision.bucket
        assert value == pytest.approx(float(judge._values.values[1, row]))
    assert sum(choice.probabilities) == pytest.approx(1.0)
    assert choice.chosen_value == choice.values[choice.actions.index("c")]


def test_folding_aces_is_a_mistake_and_calling_them_is_not(judge):
    line = "STATE:0:r20000f:AsAh|7c2d:-100|100:Ann|Bob"
    (ann,) = review_hand(parse_state_line(line, HUNL), [judge], ["Ann"])
    assert (ann.best, ann.done) == ("c", "f")
    assert ann.given_up_bb > 20
    called = "STATE:0:r20000c///:AsAh|7c2d/3s4s9d/Jc/Kd:20000|-20000:Ann|Bob"
    (ann,) = review_hand(parse_state_line(called, HUNL), [judge], ["Ann"])
    assert ann.given_up_bb == 0.0


def test_bets_between_two_sizes_are_worth_a_mixture(judge):
    """A raise to 2,000 between 300 (1 pot) and 20,000 (99.5 pots): 9.5 pots, by the pseudo-harmonic mapping."""
    state = state_of("", "KsQs")
    small, large = (judge.judge(state, action(text)).chosen_value for text in ("r300", "r20000"))
    found = judge.judge(state, action("r2000"))
    assert "r2000" not in found.actions
    share = (99.5 - 9.5) * (1 + 1.0) / ((99.5 - 1.0) * (1 + 9.5))
    expected = share * small * 2100 / 400 + (1 - share) * large * 2100 / 20100
    assert found.chosen_value == pytest.approx(expected, rel=1e-6)


def test_unknown_cards_are_passed_over(judge):
    hidden = import_hands("# STATE:4:r300f:AcAd|:-100|100:Ann|Bob\n", "x").hands[0]
    assert [decision.name for decision in review_hand(hidden, [judge])] == ["Ann"]


def test_what_a_review_says_does_not_depend_on_the_others_cards(judge):
    one = parse_state_line("STATE:0:r300c/cr600f:AsAh|7c2d/3s4s9d:-300|300:Ann|Bob", HUNL)
    other = parse_state_line("STATE:0:r300c/cr600f:AsAh|KcKd/3s4s9d:-300|300:Ann|Bob", HUNL)
    assert list(review_hand(one, [judge], ["Ann"])) == list(review_hand(other, [judge], ["Ann"]))


def test_dearest_come_first(judge):
    lines = ["STATE:0:r20000f:AsAh|7c2d:-100|100:Ann|Bob", "STATE:1:f:7c2d|AsAh:50|-50:Bob|Ann"]
    found = review_hands([parse_state_line(line, HUNL) for line in lines], [judge])
    costs = [decision.given_up_bb for decision in found.dearest(10)]
    assert costs == sorted(costs, reverse=True)
    assert found.given_up_bb == pytest.approx(sum(costs))
    assert {one.name for one in found.statistics} == {"Ann", "Bob"}
    good = replace(found.decisions[0], given_up_bb=0.0)
    assert Review([[good]], []).dearest(10) == []  # what gave up nothing is no mistake


def test_search_judges_the_river(opened):
    """With the nuts on the river, facing an all-in, calling is worth more than folding, by exactly what is in the pot."""
    state = state_of("r300c/r600c/r1800c/r20000", "KsQs", "AsJsTs2d3c")
    assert state.betting.round == 3
    choice = SearchJudge(opened, "fast").judge(state, action("f"))
    assert choice.method == "search"
    assert choice.values[choice.actions.index("f")] == pytest.approx(-state.betting.spent[state.position])
    assert choice.values[choice.actions.index("c")] == pytest.approx(20000.0, rel=1e-3)
    assert choice.probabilities[choice.actions.index("c")] > 0.99
    assert SearchJudge(opened, "fast").judge(state_of("r300c/", "KsQs", "AsJsTs"), action("c")) is None


@pytest.mark.parametrize("board, betting", [("AsJsTs2d3c", "r300c/cc/cc/"), ("AsJsTs2d", "r300c/cc/")])
def test_action_values_add_up_to_the_values(opened, board, betting):
    """The mean of the action values by the average strategy is the value `Subgame.values` gives."""
    state = state_of(betting, "KdQd", board)
    ranges = TableRanges(opened.player(Pipeline(), 0)).follow(state.betting, state.board, state.position, 0, ()).ranges
    game = Subgame(state.betting, state.board, ranges, find_mode("fast").menu(state.betting))
    game.run(5)
    rows, by_action = game.strategy(0), game.action_values()
    mixed = (rows * by_action).sum(axis=0)
    assert np.allclose(mixed, game.values(state.position), rtol=1e-3, atol=1e-2 * abs(mixed).max())
    assert by_action[:, pair_number(*parse_cards("KdQd"))].any()


def test_command(holdem_strategy, tmp_path, capsys):
    log = tmp_path / "x.log"
    log.write_text("# name/game/hands/seed x hunl 1 0\nSTATE:0:r20000f:AsAh|7c2d:-100|100:Ann|Bob\n")
    assert main(["review", str(log), "--strategy", str(holdem_strategy), "--player", "Ann", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["hands"], result["decisions"]) == (1, 1)
    assert result["mistakes"][0]["done"] == "f"
    assert result["given_up_bb"] == pytest.approx(result["mistakes"][0]["given_up_bb"])
    assert [one["name"] for one in result["players"]] == ["Ann", "Bob"]
    assert main(["review", str(log)]) == 0
    assert "VPIP" in capsys.readouterr().out
    for words, message in (
        (["--player", "Zoe"], "expected one of Ann, Bob"),
        (["--search", "fast"], "give --strategy"),
        (["--search", "wild"], "expected off, fast"),
    ):
        assert main(["review", str(log), *words]) == 2
        assert message in capsys.readouterr().err
