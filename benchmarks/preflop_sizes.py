"""What opponents' sizes before the flop cost a strategy: `python benchmarks/preflop_sizes.py STRATEGY [--save]`.

Before the flop a bet outside the tree is read as one of the tree's. The opponent opens to each size on the button, or raises
the strategy's own open by each multiple. The answers are means over the readings that are drawn, exact for all hands. Beside
them, what the raise is worth to an opponent whose hands each fold or make it, whichever wins more if the
rest is checked and called down: one step of local best response, so a size that the strategy reads badly stands out.
"""

import argparse

import numpy as np
from papers.record import Cell, add_save, save, significant
from search_roots import made_by

from foldwise.abstraction.named_strategy import find_strategy
from foldwise.agent.mappings.translation import Translation, parse_translation
from foldwise.agent.strategy_player import OpenStrategy
from foldwise.game.arrays import Float
from foldwise.game.betting import CALL, FOLD, RAISE, Action, BettingState
from foldwise.game.definition import GameDefinition
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS
from foldwise.game.hands.showdown import RangeShowdown
from foldwise.postprocess.pipeline import Pipeline
from foldwise.search.ranges import PublicState, TableRanges

OPENS = (2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 8.0)  # big blinds
MULTIPLES = (2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 8.0)  # of the open


class Equities:
    """What every hand wins of a range if both check to the end, a chip at stake, on drawn boards."""

    def __init__(self, num_boards: int, seed: int):
        rng = np.random.default_rng(seed)
        boards = [tuple(rng.choice(52, 5, replace=False).tolist()) for _ in range(num_boards)]
        self._boards = [(RangeShowdown(board), np.isin(PAIR_CARDS, board).any(axis=1)) for board in boards]

    def __call__(self, other: Float) -> Float:
        won, met = np.zeros(NUM_PAIRS), np.zeros(NUM_PAIRS)
        for showdown, seen in self._boards:
            live = np.where(seen, 0.0, other)
            won += showdown.showdown(live)
            met += showdown.fold(live)
        return fold(other) * won / np.maximum(met, 1e-300)


def fold(other: Float) -> Float:
    """How much of a range every hand meets."""
    return RangeShowdown(()).fold(other)


def answers(agent: TableRanges, betting: BettingState, readings: int) -> dict[int, Float]:
    """[1326] by kind of answer, a mean over the readings of `readings` hands."""
    out = {kind: np.zeros(NUM_PAIRS) for kind in (FOLD, CALL, RAISE)}
    for number in range(readings):
        policy = agent.rows(PublicState(betting, (), betting.player_to_act, number))
        for action, row in zip(policy.actions, policy.rows):
            out[action.kind] += row / readings
    return out


def row_of(
    name: str, agent: TableRanges, betting: BettingState, reach: Float, raise_to: int, readings: int, equities: Equities
) -> list[Cell]:
    """Answers to a raise of the player to act, in percent of the agent's hands, and what it wins."""
    me, opponent = betting.player_to_act, 1 - betting.player_to_act
    lost, won = betting.spent[me], betting.spent[opponent]
    after = betting.copy()
    after.apply(Action(RAISE, raise_to))
    found = answers(agent, after, readings)
    kinds = [significant(100 * float(reach @ found[kind]) / float(reach.sum()), 3) for kind in (FOLD, CALL, RAISE)]
    away = reach * found[FOLD]
    values = np.maximum(-lost * fold(reach), won * fold(away) + raise_to * equities(reach - away))
    unit = 1000.0 / (betting.definition.big_blind * float(fold(reach).sum()))
    any_two = unit * float((won * fold(away) - raise_to * fold(reach - away)).sum())
    return [name, *kinds, round(any_two), round(unit * float(values.sum()))]


def opened_by(agent: TableRanges, definition: GameDefinition) -> tuple[BettingState, Float]:
    """The strategy's own most frequent open, and its hands that make it."""
    betting = BettingState(definition)
    policy = agent.rows(PublicState(betting, (), betting.player_to_act, 0))
    shares = [row.sum() if action.kind == RAISE else 0.0 for action, row in zip(policy.actions, policy.rows)]
    most = int(np.argmax(shares))
    betting.apply(policy.actions[most])
    return betting, policy.rows[most]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strategy")
    parser.add_argument("--translations", nargs="+", default=["pseudo-harmonic"])
    parser.add_argument("--readings", type=int, default=300, help="hands whose readings are averaged")
    parser.add_argument("--boards", type=int, default=1000, help="on which hands are checked down")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--record", default="preflop_sizes", help="name of the record that --save writes")
    add_save(parser)
    arguments = parser.parse_args()
    opened, equities = OpenStrategy(find_strategy(arguments.strategy)), Equities(arguments.boards, arguments.seed)
    rows: list[list[Cell]] = []
    for text in arguments.translations:
        translation: Translation = parse_translation(text)
        agent = TableRanges(opened.player(Pipeline(), arguments.seed, translation))
        start = BettingState(opened.definition)
        raised, reach = opened_by(agent, opened.definition)
        cases = [
            (f"opens to {size:g} big blinds", start, np.ones(NUM_PAIRS), round(size * opened.definition.big_blind))
            for size in OPENS
        ]
        cases += [
            (
                f"raises an open of {raised.max_spent} {multiple:g} times",
                raised,
                reach,
                round(multiple * raised.max_spent),
            )
            for multiple in MULTIPLES
        ]
        for name, betting, other, raise_to in cases:
            row = row_of(name, agent, betting, other, raise_to, arguments.readings, equities)
            rows.append([row[0], text, *row[1:]])
            print(*rows[-1], sep="\t", flush=True)
    if arguments.save:
        columns = [
            "opponent",
            "translation",
            "folds, %",
            "calls, %",
            "raises, %",
            "any two cards, nothing after, mbb/h",
        ]
        save(
            arguments.record,
            f"Answers to raises before the flop and what these win; {made_by(opened)}",
            [*columns, "each hand folds or raises, mbb/h"],
            rows,
            seeds=1,
        )


if __name__ == "__main__":
    main()
