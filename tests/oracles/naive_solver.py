"""Slow textbook oracles for solvers: an explicit game tree, CFR, best responses, and the four sampling walks.

Everything is recursion over Python objects and dictionaries keyed by infoset, straight from the papers' definitions.
An infoset is (public node, bucket); its row in the solver's tables is found by `row_of`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.abstract_game import AbstractGame, JointSource, make_abstract_game
from foldwise.abstraction.deals.joint_deals import EnumeratedViews, enumerate_bluff, enumerate_poker
from foldwise.game.library import BluffGame, find_game
from foldwise.game.trees.tree_kernels import CHANCE, DECISION, FOLDED

Infoset = tuple[int, int]
Policy = dict[Infoset, list[float]]
Table = dict[Infoset, list[float]]
Draw = Callable[[], float]


@dataclass
class History:
    """A history after all of chance: who acts at which infoset, or what player 0 gets."""

    player: int  # -1 at an end
    infoset: Infoset
    street: int
    payoff: float
    children: list["History"]

    def payoff_to(self, player: int) -> float:
        return self.payoff if player == 0 else -self.payoff


@dataclass
class NaiveGame:
    """Chance first (every category of the deal), then the players' histories."""

    deals: list[tuple[float, History]]
    infosets: dict[Infoset, tuple[int, int]]  # player, number of actions


def small_game(name: str) -> AbstractGame:
    """Kuhn, Leduc or a round of Bluff for one stake, exactly dealt."""
    game = find_game(name)
    if isinstance(game, BluffGame):
        joint = enumerate_bluff(game.bluff, (-1.0, 1.0))
    else:
        joint = enumerate_poker(EnumeratedViews(game.definition, suits_matter=False))
    return make_abstract_game(name, game.build_tree(), JointSource(joint), game.unit_chips)


def random_policy(game: AbstractGame, seed: int, share_of_zeros: float = 0.0) -> npt.NDArray[np.float64]:
    """Rows that sum to one; with zeros, some actions are never played and parts of the tree never reached."""
    rng = np.random.default_rng(seed)
    policy = np.zeros(game.num_entries)
    nodes = game.tree.nodes
    for at in np.flatnonzero(nodes["kind"] == DECISION):
        for bucket in range(game.deals.num_buckets[nodes[at]["street"], nodes[at]["player"]]):
            entry, n = row_of(game, (int(at), bucket))
            row = rng.exponential(size=n) * (rng.random(n) >= share_of_zeros)
            row[rng.integers(n)] += 0.1
            policy[entry : entry + n] = row / row.sum()
    return policy


def random_table(game: AbstractGame, seed: int, least: float = -np.inf) -> npt.NDArray[np.float64]:
    """Regrets of both signs but at least so large, and sums that are no strategy's: some actions have probability zero."""
    rng = np.random.default_rng(seed)
    table = np.empty(2 * game.num_entries)
    nodes = game.tree.nodes
    for at in np.flatnonzero(nodes["kind"] == DECISION):
        for bucket in range(game.deals.num_buckets[nodes[at]["street"], nodes[at]["player"]]):
            entry, n = row_of(game, (int(at), bucket))
            table[2 * entry : 2 * entry + n] = np.maximum(rng.normal(size=n), least)
            table[2 * entry + n : 2 * (entry + n)] = rng.exponential(size=n)
    return table


def uniform_policy(game: AbstractGame) -> npt.NDArray[np.float64]:
    nodes = game.tree.nodes
    policy = np.zeros(game.num_entries)
    for at in np.flatnonzero(nodes["kind"] == DECISION):
        num_buckets = int(game.deals.num_buckets[nodes[at]["street"], nodes[at]["player"]])
        start, n = row_of(game, (int(at), 0))
        policy[start : start + num_buckets * n] = 1.0 / n
    return policy


def naive_game(game: AbstractGame) -> NaiveGame:
    joint = game.deals.joint
    assert joint is not None
    nodes = game.tree.nodes
    infosets: dict[Infoset, tuple[int, int]] = {}

    def build(at: int, buckets: npt.NDArray[np.int32], outcomes: npt.NDArray[np.float64]) -> History:
        node = nodes[at]
        first, street, player = int(node["first_child"]), int(node["street"]), int(node["player"])
        if node["kind"] == CHANCE:
            return build(first, buckets, outcomes)
        if node["kind"] == DECISION:
            infoset = (at, int(buckets[player, street]))
            children = [build(first + a, buckets, outcomes) for a in range(int(node["num_children"]))]
            infosets[infoset] = (player, len(children))
            return History(player, infoset, street, 0.0, children)
        if node["kind"] == FOLDED:
            payoff = float(node["value"]) * (-1 if player == 0 else 1)
        else:
            payoff = float(node["value"]) * float(outcomes[node["detail"]])
        return History(-1, (at, -1), street, payoff, [])

    deals = [
        (float(joint.probability[c]), build(0, joint.buckets[c], joint.outcomes[joint.outcome_row[c]]))
        for c in range(len(joint.probability))
    ]
    return NaiveGame(deals, infosets)


def row_of(game: AbstractGame, infoset: Infoset) -> tuple[int, int]:
    """(entry of the infoset's first action, number of actions) in arrays of `num_entries`."""
    node = game.tree.nodes[infoset[0]]
    num_actions = int(node["num_children"])
    return int(node["base"]) + infoset[1] * num_actions, num_actions


def policy_of_array(game: AbstractGame, naive: NaiveGame, array: npt.NDArray[np.float64]) -> Policy:
    rows = {infoset: row_of(game, infoset) for infoset in naive.infosets}
    return {infoset: [float(p) for p in array[entry : entry + n]] for infoset, (entry, n) in rows.items()}


def read_table(game: AbstractGame, naive: NaiveGame, table: npt.NDArray[np.floating]) -> tuple[Table, Table]:
    """Regrets and strategy sums from the solver's interleaved table."""
    regrets, sums = {}, {}
    for infoset in naive.infosets:
        entry, n = row_of(game, infoset)
        regrets[infoset] = [float(x) for x in table[2 * entry : 2 * entry + n]]
        sums[infoset] = [float(x) for x in table[2 * entry + n : 2 * entry + 2 * n]]
    return regrets, sums


def matched(regrets: list[float]) -> list[float]:
    """Regret matching (Zinkevich et al. 2007, eq. 8)."""
    positive = [max(r, 0.0) for r in regrets]
    total = sum(positive)
    return [p / total for p in positive] if total > 0 else [1 / len(regrets)] * len(regrets)


def expected_value(naive: NaiveGame, policy: Policy, player: int) -> float:
    def value(history: History) -> float:
        if history.player < 0:
            return history.payoff_to(player)
        return sum(p * value(child) for p, child in zip(policy[history.infoset], history.children))

    return sum(probability * value(root) for probability, root in naive.deals)


def best_response(naive: NaiveGame, policy: Policy, player: int) -> tuple[float, Policy]:
    """Value and a pure strategy: at each infoset the action with the largest sum over its histories."""
    members: dict[Infoset, list[tuple[float, History]]] = {}

    def collect(history: History, reach: float) -> None:
        """`reach`: of chance and the opponent."""
        if history.player == player:
            members.setdefault(history.infoset, []).append((reach, history))
        for a, child in enumerate(history.children):
            collect(child, reach if history.player == player else reach * policy[history.infoset][a])

    for probability, root in naive.deals:
        collect(root, probability)
    choice: dict[Infoset, int] = {}

    def choose(infoset: Infoset) -> int:
        if infoset not in choice:
            totals = [
                sum(reach * value(history.children[a]) for reach, history in members[infoset])
                for a in range(naive.infosets[infoset][1])
            ]
            choice[infoset] = max(range(len(totals)), key=totals.__getitem__)
        return choice[infoset]

    def value(history: History) -> float:
        if history.player < 0:
            return history.payoff_to(player)
        if history.player == player:
            return value(history.children[choose(history.infoset)])
        return sum(p * value(child) for p, child in zip(policy[history.infoset], history.children))

    best = sum(probability * value(root) for probability, root in naive.deals)
    strategy = {}
    for infoset, (owner, num_actions) in naive.infosets.items():
        if owner == player:
            chosen = choose(infoset)
            strategy[infoset] = [float(a == chosen) for a in range(num_actions)]
    return best, strategy


def full_width_update(naive: NaiveGame, sigma: Policy, player: int) -> tuple[Table, Table]:
    """What one iteration of CFR adds for one player: regrets, and his reach times his strategy.

    The strategy part is weighted by chance's probability of the infoset, as samplers that draw deals weigh it in
    expectation: a constant factor of each infoset, which its average does not see.
    """
    regrets = {infoset: [0.0] * n for infoset, (owner, n) in naive.infosets.items() if owner == player}
    sums = {infoset: [0.0] * n for infoset, (owner, n) in naive.infosets.items() if owner == player}

    def walk(history: History, own: float, other: float, chance: float) -> float:
        if history.player < 0:
            return history.payoff_to(player)
        row = sigma[history.infoset]
        if history.player != player:
            return sum(p * walk(child, own, other * p, chance) for p, child in zip(row, history.children))
        values = [walk(child, own * p, other, chance) for p, child in zip(row, history.children)]
        value = sum(p * v for p, v in zip(row, values))
        for a, v in enumerate(values):
            regrets[history.infoset][a] += chance * other * (v - value)
            sums[history.infoset][a] += chance * own * row[a]
        return value

    for probability, root in naive.deals:
        walk(root, 1.0, 1.0, probability)
    return regrets, sums


def own_reaches(naive: NaiveGame, policy: Policy, player: int) -> dict[Infoset, float]:
    """The player's own contribution to reaching each of his infosets, also one chance rarely or never deals."""
    reaches: dict[Infoset, float] = {}

    def walk(history: History, own: float) -> None:
        if history.player == player:
            reaches[history.infoset] = own
        for a, child in enumerate(history.children):
            walk(child, own * policy[history.infoset][a] if history.player == player else own)

    for _, root in naive.deals:
        walk(root, 1.0)
    return reaches


@dataclass
class NaiveSampler:
    """The four sampling walks as recursion, drawing numbers in the order in which the kernels do.

    No discounting, floor or pruning: those are options of the kernels, not of the papers' algorithms.
    """

    regrets: Table
    sums: Table
    draw: Draw
    epsilon: float = 0.5
    tau: float = 1000.0
    beta: float = 0.0
    num_visited: int = 0

    def _pick(self, row: list[float]) -> int:
        uniform, below = self.draw(), 0.0
        for a, p in enumerate(row):
            below += p
            if uniform < below:
                return a
        return max(a for a, p in enumerate(row) if p > 0)

    def chance(self, history: History, reach: tuple[float, float] = (1.0, 1.0)) -> float:
        """Zinkevich et al. 2007, A.4; returns the value to player 0, and leaves out what neither player reaches."""
        self.num_visited += 1
        if history.player < 0:
            return history.payoff
        player, infoset = history.player, history.infoset
        row = matched(self.regrets[infoset])
        own, other = reach[player], reach[1 - player]
        values = []
        for a, child in enumerate(history.children):
            self.sums[infoset][a] += own * row[a]
            below = (own * row[a], other) if player == 0 else (other, own * row[a])
            values.append(self.chance(child, below) if below != (0.0, 0.0) else 0.0)
        value = sum(p * v for p, v in zip(row, values))
        for a, v in enumerate(values):
            self.regrets[infoset][a] += other * (v - value) * (1 if player == 0 else -1)
        return value

    def external(self, history: History, traverser: int) -> float:
        self.num_visited += 1
        if history.player < 0:
            return history.payoff_to(traverser)
        infoset = history.infoset
        row = matched(self.regrets[infoset])
        if history.player != traverser:
            for a, p in enumerate(row):
                self.sums[infoset][a] += p
            return self.external(history.children[self._pick(row)], traverser)
        values = [self.external(child, traverser) for child in history.children]
        value = sum(p * v for p, v in zip(row, values))
        for a, v in enumerate(values):
            self.regrets[infoset][a] += v - value
        return value

    def outcome(self, history: History, traverser: int, q: float = 1.0) -> float:
        """Returns the sampled value given that the walk got here."""
        self.num_visited += 1
        if history.player < 0:
            return history.payoff_to(traverser)
        infoset, n = history.infoset, len(history.children)
        row = matched(self.regrets[infoset])
        if history.player != traverser:
            for a, p in enumerate(row):
                self.sums[infoset][a] += p / q
            return self.outcome(history.children[self._pick(row)], traverser, q)
        a = int(self.draw() * n) if self.draw() < self.epsilon else self._pick(row)
        probability = self.epsilon / n + (1 - self.epsilon) * row[a]
        sampled = self.outcome(history.children[a], traverser, q * probability) / probability
        for b in range(n):
            self.regrets[infoset][b] += ((sampled if a == b else 0.0) - row[a] * sampled) / q
        return row[a] * sampled

    def average(self, history: History, traverser: int, q: float = 1.0) -> float:
        """Gibson et al. 2012, algorithm 1."""
        self.num_visited += 1
        if history.player < 0:
            return history.payoff_to(traverser) / q
        infoset = history.infoset
        row = matched(self.regrets[infoset])
        if history.player != traverser:
            for a, p in enumerate(row):
                self.sums[infoset][a] += p / q
            return self.average(history.children[self._pick(row)], traverser, q)
        values = []
        for a, child in enumerate(history.children):
            denominator = self.beta + sum(self.sums[infoset])
            rho = 1.0
            if denominator > 0:
                rho = min(1.0, max(self.epsilon, (self.beta + self.tau * self.sums[infoset][a]) / denominator))
            walked = rho >= 1.0 or self.draw() < rho
            values.append(self.average(child, traverser, q * rho) if walked else 0.0)
        value = sum(p * v for p, v in zip(row, values))
        for a, v in enumerate(values):
            self.regrets[infoset][a] += v - value
        return value


class BranchingUniform:
    """A number in [0, 1) that is not drawn but decided: each comparison splits its interval, and both sides are run.

    Stands in for a uniform draw in the source of a walk, so that what is enumerated is what the walk itself compares
    with, and the probability of a run is the length of the intervals it went through.
    """

    def __init__(self, script: "Script", low: float):
        self._script, self._scale, self._low, self._high = script, 1.0, low, 1.0

    def _settle(self, limits: list[float]) -> int:
        """Choose one of the pieces into which `limits` cut the interval."""
        cuts = [self._low, *(limit for limit in limits if self._low < limit < self._high), self._high]
        widths = [(high - low) / (self._high - self._low) for low, high in pairwise(cuts)]
        piece = self._script.choose(widths)
        self._low, self._high = cuts[piece], cuts[piece + 1]
        return piece

    def __lt__(self, limit: float) -> bool:
        self._settle([limit / self._scale])
        return self._high * self._scale <= limit

    def __mul__(self, factor: float) -> "BranchingUniform":
        self._scale *= factor
        return self

    def __int__(self) -> int:
        self._settle([k / self._scale for k in range(int(self._scale) + 1)])
        return round(self._low * self._scale)


class Script:
    """The choices of one run; `runs` goes through all of them."""

    def __init__(self, fixed: list[int]):
        self.choices: list[tuple[int, int]] = []  # chosen, number of pieces
        self.probability = 1.0
        self._fixed = fixed

    def choose(self, widths: list[float]) -> int:
        place = len(self.choices)
        chosen = self._fixed[place] if place < len(self._fixed) else 0
        self.choices.append((chosen, len(widths)))
        self.probability *= widths[chosen]
        return chosen

    def uniform(self, low: float = 0.0) -> BranchingUniform:
        return BranchingUniform(self, low)


def runs(run: Callable[[Script], None]) -> Iterator[Script]:
    """Call `run` once for every sequence of choices it can meet, depth first; yields each finished script."""
    fixed: list[int] = []
    while True:
        script = Script(fixed)
        run(script)
        yield script
        left = list(script.choices)
        while left and left[-1][0] == left[-1][1] - 1:
            left.pop()
        if not left:
            return
        fixed = [chosen for chosen, _ in left]
        fixed[-1] += 1


def mean_change(
    table: npt.NDArray[np.float64],
    chances: npt.NDArray[np.float64],
    walk: Callable[[int, npt.NDArray[np.float64], Script], None],
) -> tuple[npt.NDArray[np.float64], int]:
    """The mean change of a table over cases of chance and every choice of `walk(case, table, script)`; and how many runs."""
    change, num_runs, probability = np.zeros_like(table), 0, 0.0
    for case, chance in enumerate(chances):
        after = table.copy()

        def run(script: Script, case: int = case, after: npt.NDArray[np.float64] = after) -> None:
            after[:] = table
            walk(case, after, script)

        for script in runs(run):
            change += chance * script.probability * (after - table)
            probability += chance * script.probability
            num_runs += 1
    assert abs(probability - 1.0) < 1e-12
    return change, num_runs
