"""Random heads-up hands, action by action beside two independent engines: legality, pots, results.

    python benchmarks/rules_oracles.py --hands 10000

No-limit goes beside pokerkit, limit beside OpenSpiel's universal_poker. Differences known and kept out:
- pokerkit's limit game counts the big blind as a bet and so allows four raises before the flop where the ACPC has
  three; limit is compared with universal_poker alone, whose definitions are the ACPC's own.
- pokerkit has no limit of 64 actions a round: where the ACPC allows no more raises for it, they are not compared.
"""

import argparse
import time
from random import Random
from typing import Any

import pokerkit
import pyspiel

from foldwise.game.betting import CALL, CALL_ACTION, FOLD, FOLD_ACTION, RAISE, Action, BettingState
from foldwise.game.cards import cards_text
from foldwise.game.definition import GameDefinition, parse_definition
from foldwise.game.hands.evaluator import rank_hand
from foldwise.game.library import find_definition

SMALL_BLIND, BIG_BLIND = 50, 100
_AUTOMATIONS = (
    pokerkit.Automation.ANTE_POSTING,
    pokerkit.Automation.BET_COLLECTION,
    pokerkit.Automation.BLIND_OR_STRADDLE_POSTING,
    pokerkit.Automation.HOLE_CARDS_SHOWING_OR_MUCKING,
    pokerkit.Automation.HAND_KILLING,
    pokerkit.Automation.CHIPS_PUSHING,
    pokerkit.Automation.CHIPS_PULLING,
)


def no_limit_definition(stacks: tuple[int, int]) -> GameDefinition:
    """The competition's heads-up no-limit game with other stacks."""
    return parse_definition(find_definition("hunl").to_text().replace("20000 20000", f"{stacks[0]} {stacks[1]}"))


def random_action(state: BettingState, rng: Random) -> Action:
    """A legal action; raises are mostly small, so that hands grow long, sometimes all-in."""
    choices = [CALL_ACTION] * 4
    if state.can_fold():
        choices.append(FOLD_ACTION)
    bounds = state.raise_range()
    if bounds is not None:
        low, high = bounds
        choices += [Action(RAISE, low), Action(RAISE, low), Action(RAISE, low + int((high - low) * rng.random() ** 6))]
        choices += [Action(RAISE, high)] if rng.random() < 0.2 else []
    return rng.choice(choices)


def _deal_board(other: Any, board: tuple[int, ...], dealt: int, wanted: int) -> int:
    """Deal the board up to `wanted` cards. Burnt cards stay unknown: the ACPC burns none."""
    while dealt < wanted:
        new = 3 if dealt == 0 else 1
        other.burn_card("??")
        other.deal_board(cards_text(board[dealt : dealt + new]))
        dealt += new
    return dealt


def play_beside_pokerkit(rng: Random) -> int:
    """One no-limit hand; returns the number of states compared. Any difference is an AssertionError."""
    stack = rng.choice((150, 1000, 2000, 20000, rng.randint(101, 3000)))
    stacks = (stack, stack) if rng.random() < 0.7 else (stack, rng.randint(101, 3000))
    definition = no_limit_definition(stacks)
    deck = rng.sample(definition.deck, definition.cards_per_hand)
    holes, board = (tuple(deck[0:2]), tuple(deck[2:4])), tuple(deck[4:])
    state = BettingState(definition)
    # pokerkit gives the first of two players the big blind, as the ACPC's reverse blinds do.
    other = pokerkit.NoLimitTexasHoldem.create_state(
        _AUTOMATIONS, True, 0, (SMALL_BLIND, BIG_BLIND), BIG_BLIND, stacks, 2
    )
    for hole in holes:
        other.deal_hole(cards_text(hole))
    dealt = 0
    compared = 0
    before_round = [0, 0]  # chips put in before the current round: pokerkit counts bets by round
    while not state.finished:
        dealt = _deal_board(other, board, dealt, definition.board_sizes[state.round])
        player = state.player_to_act
        assert other.actor_index == player
        assert other.total_pot_amount == sum(state.spent)
        assert [before_round[p] + other.bets[p] for p in (0, 1)] == state.spent
        assert other.can_check_or_call()
        assert other.can_fold() == state.can_fold()
        bounds = state.raise_range()
        low = other.min_completion_betting_or_raising_to_amount
        high = other.max_completion_betting_or_raising_to_amount
        if not state.at_action_limit():
            theirs = None if low is None else (low + before_round[player], high + before_round[player])
            assert theirs == bounds, (stacks, state.betting_text(), theirs, bounds)
        compared += 1
        action = random_action(state, rng)
        street = state.round
        state.apply(action)
        if action.kind == FOLD:
            other.fold()
        elif action.kind == CALL:
            other.check_or_call()
        else:
            other.complete_bet_or_raise_to(action.raise_to - before_round[player])
        if state.round != street:
            before_round = list(state.spent)
    if state.is_showdown():
        _deal_board(other, board, dealt, 5)
    assert not other.status
    ranks = [rank_hand(hole + board) for hole in holes] if state.is_showdown() else None
    assert list(other.payoffs) == state.settle(ranks), (stacks, state.betting_text())
    return compared + 1


def load_universal_poker(definition: GameDefinition) -> Any:
    """OpenSpiel's game of a limit definition. Its stacks are finite; these are never reached."""

    def words(numbers: tuple[int, ...]) -> str:
        return " ".join(map(str, numbers))

    return pyspiel.load_game(
        "universal_poker",
        {
            "betting": "limit",
            "numPlayers": definition.num_players,
            "numRounds": definition.num_rounds,
            "blind": words(definition.blinds),
            "raiseSize": words(definition.raise_sizes),
            "firstPlayer": words(tuple(player + 1 for player in definition.first_players)),
            "maxRaises": words(definition.max_raises),
            "numSuits": definition.num_suits,
            "numRanks": definition.num_ranks,
            "numHoleCards": definition.num_hole_cards,
            "numBoardCards": words(definition.num_board_cards),
            "stack": words((10_000,) * definition.num_players),
            "bettingAbstraction": "fcpa",
        },
    )


def play_beside_universal_poker(game: Any, definition: GameDefinition, rng: Random) -> int:
    """One limit hand; returns the number of states compared."""
    deck = sorted(definition.deck)
    cards = rng.sample(deck, definition.cards_per_hand)
    num_hole = definition.num_hole_cards
    split = definition.num_players * num_hole
    holes = [tuple(cards[i : i + num_hole]) for i in range(0, split, num_hole)]
    board = tuple(cards[split:])
    state = BettingState(definition)
    other = game.new_initial_state()
    # Its deck has the used ranks and suits only, rank by rank.
    queue = [deck.index(card) for card in cards]
    codes = {FOLD: 0, CALL: 1, RAISE: 2}
    compared = 0

    def deal() -> None:
        while other.is_chance_node():
            other.apply_action(queue.pop(0))

    deal()
    while not state.finished:
        assert other.current_player() == state.player_to_act
        legal = set(other.legal_actions())
        assert 1 in legal
        assert (0 in legal) == state.can_fold(), state.betting_text()
        assert (2 in legal) == (state.raise_range() is not None), state.betting_text()
        assert other.to_struct().pot_size == sum(state.spent)
        compared += 1
        action = random_action(state, rng)
        state.apply(action)
        other.apply_action(codes[action.kind])
        deal()
    assert other.is_terminal()
    ranks = [rank_hand(hole + board) for hole in holes] if state.is_showdown() else None
    assert other.returns() == state.settle(ranks), state.betting_text()
    return compared + 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--hands", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()

    def report(engine: str, game_name: str, states: int, since: float) -> None:
        seconds = time.perf_counter() - since
        print(f"{engine}: {game_name}, {arguments.hands:,} hands, {states:,} states alike, {seconds:.0f} s", flush=True)

    start = time.perf_counter()
    rng = Random(arguments.seed)
    report("pokerkit", "no-limit", sum(play_beside_pokerkit(rng) for _ in range(arguments.hands)), start)
    for name in ("limit", "leduc"):
        start = time.perf_counter()
        definition = find_definition(name)
        game = load_universal_poker(definition)
        states = sum(play_beside_universal_poker(game, definition, rng) for _ in range(arguments.hands))
        report("universal_poker", name, states, start)


if __name__ == "__main__":
    main()
