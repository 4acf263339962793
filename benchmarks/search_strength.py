"""Where search and its tables win from bot:strength: `python benchmarks/search_strength.py STRATEGY [--save]`.

The tables play the bot to the turn, both with the cards they are dealt. From there on the bot has its one hand and the
strategy all hands of its range at once: every action is expanded by its probabilities, all-ins are exact over all rivers,
and where the turn ends some rivers are drawn, the same for every variant. So what happens before the turn is the same for
all. The bot samples the strength of its hand; here its answer is expanded by the exact strength and that sample's spread.

What is won is split by the strategy's largest bet after the flop: none, up to 1.5 pots, more than that.
"""

import argparse
import math
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from papers.record import Cell, add_save, save
from search_roots import made_by

from foldwise.agent.bots import Bot
from foldwise.agent.bots_kernels import SAMPLES
from foldwise.agent.strategy_player import OpenStrategy, StrategyPlayer
from foldwise.game.arrays import Float
from foldwise.game.betting import CALL, FOLD, RAISE, Action, BettingState
from foldwise.game.hands.dealing import Deal, Shoe
from foldwise.game.hands.hole_cards import NUM_PAIRS, pair_number
from foldwise.game.text.match_state import view
from foldwise.matches.scoring.range_ends import HIDDEN_RIVERS, end_value, showdown_on, unseen
from foldwise.matches.statistics import estimate
from foldwise.postprocess.pipeline import Pipeline
from foldwise.search.language import parse_steps
from foldwise.search.modes import bet_menu
from foldwise.search.player import SearchPlayer
from foldwise.search.ranges import PublicState, TableRanges
from foldwise.search.street import without_card

_TURN, _RIVER_CARDS, _NUM_RIVERS = 2, 5, 48
_LARGE = 1.5  # pots
_KINDS = ("no bet", "up to 1.5 pots", "more")


def chance_to_win(board: tuple[int, ...], pair: int) -> float:
    """Of one hand against a random one, ties shared, over all rivers."""
    boards = [board] if len(board) == _RIVER_CARDS else [(*board, card) for card in unseen(board)]
    everything = np.ones(NUM_PAIRS)
    balance = met = 0.0
    for one in boards:
        showdown = showdown_on(one)
        met += float(showdown.fold(everything)[pair])  # 0 on boards that hold one of its cards
        balance += float(showdown.showdown(everything)[pair])
    return 0.5 + 0.5 * balance / met


def bot_answers(betting: BettingState, win: float) -> dict[Action, float]:
    """Probabilities of the actions of bot:strength, whose strength is the mean of `SAMPLES` draws."""
    player = betting.player_to_act
    to_call = min(betting.max_spent, betting.definition.stacks[player]) - betting.spent[player]
    pot, raises, bounds = sum(betting.spent), betting.num_raises, betting.raise_range()
    spread = max(math.sqrt(win * (1.0 - win) / SAMPLES), 1e-6)

    def above(threshold: float) -> float:
        return 0.5 * math.erfc((threshold - win) / (spread * math.sqrt(2.0)))

    call, answers = Action(CALL), {}
    raised = Action(CALL)
    if bounds is not None:
        raised = Action(RAISE, min(max(betting.max_spent + int(0.75 * (pot + to_call)), bounds[0]), bounds[1]))
    if to_call == 0:
        bets = 0.08 + 0.92 * above(0.6) if bounds is not None else 0.0
        answers = {call: 1.0 - bets, raised: bets} if bounds is not None else {call: 1.0}
    else:
        raising = above(0.7 + 0.07 * raises) if bounds is not None else 0.0
        calling = max(above(to_call / (pot + to_call) + 0.05 * (raises - 1)) - raising, 0.0)
        answers = {call: calling, Action(FOLD): 1.0 - raising - calling}
        if bounds is not None:
            answers[raised] = raising
    return {action: share for action, share in answers.items() if share > 1e-6}


class StrengthMatch:
    """A strategy, searching or not, with all its hands against the one hand of bot:strength."""

    def __init__(self, agent: SearchPlayer | TableRanges, rivers: int, least: float, seed: int):
        self.agent, self.rivers, self.least, self.seed = agent, rivers, least, seed

    def won(
        self, number: int, betting: BettingState, board: tuple[int, ...], own: Float, pair: int, seat: int
    ) -> dict[str, float]:
        """Chips won per hand that is here, by kind of our largest bet."""
        self._rng = np.random.default_rng((self.seed, number))
        self._totals: dict[str, float] = defaultdict(float)
        other = np.zeros(NUM_PAIRS)
        other[pair] = 1.0
        own = own * (showdown_on(board).fold(other) > 0.0)
        mass = float(own.sum())
        if mass <= 0.0:
            return {}
        self._number, self._pair, self._seat, self._mass = number, pair, seat, mass
        self._walk(betting, board, own / mass, other, _KINDS[0], 1.0, chance_to_win(board, pair))
        return dict(self._totals)

    def _walk(
        self,
        betting: BettingState,
        board: tuple[int, ...],
        own: Float,
        other: Float,
        kind: str,
        weight: float,
        win: float,
    ) -> None:
        if not own.any() or not other.any():
            return
        ranges = (own, other) if self._seat == 0 else (other, own)
        if betting.finished:
            value = end_value(betting, board, ranges)
            self._totals[kind] += weight * (value if self._seat == 0 else -value)
            return
        if len(board) < betting.definition.board_sizes[betting.round]:
            weight *= _NUM_RIVERS / (self.rivers * HIDDEN_RIVERS)
            for card in self._rng.choice(unseen(board), self.rivers, replace=False).tolist():
                after, theirs = without_card(own, card), without_card(other, card)
                if theirs.any():
                    longer = (*board, card)
                    self._walk(betting, longer, after, theirs, kind, weight, chance_to_win(longer, self._pair))
            return
        player = betting.player_to_act
        if player == self._seat:
            policy = self.agent.rows(PublicState(betting, board, player, self._number))
            branches = [(action, own * row, other) for action, row in zip(policy.actions, policy.rows)]
        else:
            branches = [(action, own, other * share) for action, share in bot_answers(betting, win).items()]
        for action, ours, theirs in branches:
            following = betting.copy()
            following.apply(action)
            stake = weight * float(ours.sum() * theirs.sum()) * following.max_spent
            least, factor = self.least * betting.definition.big_blind, 1.0
            if stake < least:
                if self._rng.random() * least >= stake:
                    continue
                factor = least / stake
            after_kind = kind
            if player == self._seat and action.kind == RAISE:
                pots = (action.raise_to - betting.max_spent) / (2.0 * betting.max_spent)
                after_kind = max(kind, _KINDS[2 if pots > _LARGE else 1], key=_KINDS.index)
            self._walk(following, board, ours, theirs, after_kind, weight * factor, win)


Root = tuple[int, BettingState, tuple[int, ...], Float, int, int]  # what `StrengthMatch.won` takes


def turn_root(table: StrategyPlayer, bot: Bot, deal: Deal, number: int) -> Root | None:
    """Where tables and bot come on a deal, seats by turns; None if the hand ends before the turn."""
    betting, seat = BettingState(table.definition), number % 2
    while not betting.finished and betting.round < _TURN:
        player = betting.player_to_act
        state = view(betting, deal.hole_cards, deal.board, player, number)
        betting.apply((table if player == seat else bot).choose(state))
    if betting.finished:
        return None
    board = tuple(deal.board[: table.definition.board_sizes[_TURN]])
    own = TableRanges(table).follow(betting, board, seat, number).ranges[seat]
    return number, betting, board, own, pair_number(*deal.hole_cards[1 - seat]), seat


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strategy", type=Path)
    parser.add_argument("--variants", nargs="+", default=["none", "search(fast)"])
    parser.add_argument("--hands", type=int, default=200)
    parser.add_argument("--rivers", type=int, default=2)
    parser.add_argument("--least", type=float, default=0.05, help="stake in big blinds below which branches are drawn")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--sizes", nargs=2, metavar=("TURN", "RIVER"), help="bet sizes of searches instead of the mode's"
    )
    parser.add_argument("--record", default="search_strength", help="name of the record that --save writes")
    add_save(parser)
    arguments = parser.parse_args()
    opened = OpenStrategy(arguments.strategy)
    table, bot = opened.player(Pipeline(), arguments.seed), Bot("strength", arguments.seed)
    deals = zip(range(arguments.hands), Shoe(opened.definition, arguments.seed).deals())
    roots = [root for number, deal in deals if (root := turn_root(table, bot, deal, number)) is not None]
    print(f"{len(roots)} roots of {arguments.hands} hands", flush=True)
    rows: list[list[Cell]] = []
    base: Float | None = None
    for text in arguments.variants:
        steps = parse_steps(text)
        agent: SearchPlayer | TableRanges = TableRanges(opened.player(steps.pipeline, arguments.seed))
        if steps.search is not None:
            menu = bet_menu(*arguments.sizes, opened.definition.num_rounds) if arguments.sizes is not None else None
            agent = SearchPlayer(opened.player(steps.pipeline, arguments.seed), steps.pipeline, steps.search, menu=menu)
            agent.warm_up()
            agent.measure()
        match = StrengthMatch(agent, arguments.rivers, arguments.least, arguments.seed)
        start, found = time.process_time(), []
        for done, root in enumerate(roots, 1):
            found.append(match.won(*root))
            if done % 20 == 0 or done == len(roots):
                so_far = estimate(np.array([sum(one.values()) for one in found]), opened.definition.big_blind)
                print(f"{text}: {done} roots, {so_far.mean_mbb:+.0f} ± {so_far.ci95_mbb:.0f} mbb a root", flush=True)
        totals = np.array([sum(one.values()) for one in found])
        if base is None:
            base = totals
        parts = [
            np.mean([one.get(kind, 0.0) for one in found]) * 1000.0 / opened.definition.big_blind for kind in _KINDS
        ]
        whole, difference = (estimate(values, opened.definition.big_blind) for values in (totals, totals - base))
        rows.append(
            [
                text,
                (round(whole.mean_mbb), round(whole.ci95_mbb)),
                (round(difference.mean_mbb), round(difference.ci95_mbb)),
                *(round(part) for part in parts),
                round(time.process_time() - start),
            ]
        )
        print(rows[-1], flush=True)
    if arguments.save:
        menu_text = (
            "" if arguments.sizes is None else " with `{}` on the turn and `{}` on the river".format(*arguments.sizes)
        )
        save(
            arguments.record,
            f"What the strategy wins from bot:strength from the turn on{menu_text}, mbb a root: {len(roots)} turn roots of "
            f"{arguments.hands} hands, {arguments.rivers} rivers an ending, and how much of it by its largest bet after the "
            f"flop; {made_by(opened)}",
            ["player", "mbb a root", "more than the first", *(f"bets: {kind}" for kind in _KINDS), "CPU-s"],
            rows,
            seeds=1,
        )


if __name__ == "__main__":
    main()
