"""Post-processing of a player that searches: on the rows before the turn alone, or on its solutions too."""

from dataclasses import replace

import numpy as np
import pytest

from foldwise.game.betting import CALL_ACTION, RAISE, BettingState
from foldwise.matches.scoring.local_best_response import LbrSettings, bet_set
from foldwise.matches.scoring.vector_response import VectorResponse
from foldwise.search.language import parse_steps
from foldwise.search.modes import MODES, Budget
from foldwise.search.player import SearchPlayer
from foldwise.search.ranges import PublicState
from tests.support.made_strategies import made_player, short_hunl

BOARD = (0, 14, 23, 37, 45)
MENU = "f c 1p | f c"


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    mode = replace(MODES["fast"], turn=Budget(0.0, 2, 2), river=Budget(0.0, 3, 3))
    monkeypatch.setitem(MODES, "fast", mode)


def searching(text, chips=1000):
    steps = parse_steps(text)
    table = made_player(short_hunl(chips), MENU, seed=2, pipeline=str(steps.pipeline))
    player = SearchPlayer(table, steps.pipeline, steps.search, threads=1)
    player.measure()
    return player


def at_street(player, street):
    betting = BettingState(player.definition)
    while betting.round < street:
        betting.apply(CALL_ACTION)
    return PublicState(betting, BOARD[: player.definition.board_sizes[street]], betting.player_to_act, 0)


def is_pure(rows):
    """Whether every hand that is here plays one action, or shares ties evenly."""
    live = rows[:, rows.sum(axis=0) > 0.0]
    return bool(np.allclose(live.max(axis=0) * (live > 0.0).sum(axis=0), 1.0))


@pytest.mark.parametrize(
    "text, pure",
    [
        ("search(fast)", (False, False, False, False)),
        ("search(fast) | purify", (True, True, True, True)),
        ("search(fast) | purify except turn+river", (True, True, False, False)),
        ("search(fast) | purify except preflop+flop", (False, False, True, True)),
    ],
)
def test_a_rule_shapes_the_streets_it_is_for(text, pure):
    player = searching(text)
    assert tuple(is_pure(player.rows(at_street(player, street)).rows) for street in range(4)) == pure


def test_each_of_eight_sizes_is_solved_with_its_exact_amount(monkeypatch):
    """Local best response from the turn: whatever it bets is in the tree that answers it."""
    player = searching("search(fast)", 4000)
    asked = []
    monkeypatch.setattr(player, "_complain", lambda error: pytest.fail(f"a solve failed: {error}"))
    rows = player.rows

    def noted(state):
        policy = rows(state)
        actions = [action for _, action in state.betting.actions[state.betting.round]]
        if state.betting.round >= 2 and actions and actions[-1].kind == RAISE:
            search = player.solution(state)
            before = search.subgame.node_at(search.path[:-1])
            known = actions[-1] in search.subgame.actions_at(before)
            asked.append((search.subgame.states[before], actions[-1].raise_to, known))
        return policy

    monkeypatch.setattr(player, "rows", noted)
    response = VectorResponse(player, player.definition, LbrSettings("8", 2), rivers=1, least=0.2)
    response.deal_value(BOARD, 0, 0)
    assert all(known for *_, known in asked)
    assert {2, 3} == {state.round for state, *_ in asked}
    for street in (2, 3):
        state = next(state for state, *_ in asked if state.round == street and not state.actions[street])
        sizes = {raise_to for other, raise_to, _ in asked if other == state}
        assert sizes == set(response.raises(state)) and len(sizes) > 4
    assert len(bet_set("8").fractions) + 1 == 8
