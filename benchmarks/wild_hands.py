"""Random legal hands against random raisers through the tracker: not one illegal or missing action.

    python benchmarks/wild_hands.py [HANDS] [STRATEGY-FOLDER...]

Without folders, made-up strategies over several abstractions play, each with random rows: caps, streets without raises,
sizes below the least raise, all-in only, short and deep stacks. Opponents: bot:random (raises of any size), bot:raise
(a min-raise war on every street) and a mixture with raises one chip below all-in.
"""

import random
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from foldwise.agent.bots import Bot
from foldwise.agent.player import Player
from foldwise.agent.strategy_player import OpenStrategy, StrategyPlayer
from foldwise.game.betting import CALL, RAISE, Action
from foldwise.game.hands.dealing import Shoe
from foldwise.game.library import find_definition
from foldwise.game.text.match_state import MatchState
from foldwise.matches.table.hand import Hand
from foldwise.postprocess.pipeline import Pipeline
from tests.support.made_strategies import made_player

MENUS = {
    "usual": ("f c 0.5p 1p a | f c 1p a | f c a | f c",),
    "one raise, no all-in": ("f c 1p | f c",),
    "no raises": ("f c",),
    "all-in only": ("f c a",),
    "raises preflop only": ("f c 1p 3p a | f c 3p a | f c", "f c", "f c", "f c"),
}


class EdgeRaiser:
    """Raises nine times in ten: smallest, largest, one chip from either, or anything."""

    def __init__(self, seed: int):
        self._random = random.Random(seed)

    def choose(self, state: MatchState) -> Action:
        bounds = state.betting.raise_range()
        if bounds is None or self._random.random() < 0.1:
            return Action(CALL)
        low, high = bounds
        return Action(
            RAISE,
            self._random.choice([low, high, min(low + 1, high), max(low, high - 1), self._random.randint(low, high)]),
        )


def play(player: StrategyPlayer, opponent: Player, num_hands: int, seed: int) -> tuple[int, int]:
    """(decisions, hands in which the abstract and the real betting differ); raises at the first illegal action."""
    definition = player.definition
    decisions = drifted = 0
    for number, deal in zip(range(num_hands), Shoe(definition, seed).deals()):
        hand = Hand(definition, deal, number)
        has_drifted = False
        while not hand.betting.finished:
            position = hand.betting.player_to_act
            state = hand.state(position)
            if position == number % 2:
                answer = player.answer(state)
                record = player.seat.tree.nodes[answer.node]
                assert (record["kind"], record["player"], record["street"]) == (0, position, hand.betting.round)
                has_drifted = has_drifted or player.seat.tree.spent[answer.node].tolist() != hand.betting.spent
                action = answer.action
                decisions += 1
            else:
                action = opponent.choose(state)
            hand.apply(action)  # raises IllegalActionError
        drifted += has_drifted
    return decisions, drifted


def main() -> None:
    num_hands = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    hunl = find_definition("hunl")
    players = [
        (f"{name}, {stack // 100} big blinds", made_player(replace(hunl, stacks=(stack, stack)), *texts, seed=stack))
        for name, texts in MENUS.items()
        for stack in (500, 2000, 20000)
    ]
    if len(sys.argv) > 2:
        players = [(folder, OpenStrategy(Path(folder)).player(Pipeline(), 1)) for folder in sys.argv[2:]]
    opponents: list[tuple[str, Player]] = [
        ("bot:random", Bot("random", 1)),
        ("bot:raise", Bot("raise", 2)),
        ("edge raiser", EdgeRaiser(3)),
    ]
    share = -(-num_hands // (len(players) * len(opponents)))
    total_hands = total_decisions = 0
    start = time.perf_counter()
    for name, player in players:
        for other, opponent in opponents:
            decisions, drifted = play(player, opponent, share, 17 + total_hands)
            total_hands += share
            total_decisions += decisions
            print(f"{name} against {other}: {share} hands, {decisions} decisions, {drifted} hands drifted")
    seconds = time.perf_counter() - start
    print(f"{total_hands} hands, {total_decisions} decisions, no illegal or missing action, {seconds:.0f} s")


if __name__ == "__main__":
    main()
