"""A flop solved to its end for all hands, by public chance sampling of turns and rivers behind its leaves.

Linear CFR (Brown and Sandholm, AAAI 2019) over the flop's betting, 1,176 hands a player. An iteration draws a turn and a
river common to all leaves; behind a leaf the blueprint goes on, and each hand of either player learns which of several
ways suits it best (`continuations`). All-ins are exact over all turns and rivers. The same calls give the same bits with
any number of threads.

It answers the questions that `search.street` asks of a `solver.subgame.subgame.Subgame`.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from foldwise.game.arrays import Float, Single, aligned_zeros
from foldwise.game.betting import Action, BettingState
from foldwise.game.errors import DefinitionError
from foldwise.game.hands.hole_cards import NUM_PAIRS
from foldwise.game.hands.showdown import RangeShowdown, empty_lane_sums, empty_sums
from foldwise.game.trees.tree_kernels import CHANCE, DECISION, SHOWDOWN
from foldwise.search.flop.continuation_kernels import LeafScratch, value_leaf
from foldwise.search.flop.continuations import ContinuationSource
from foldwise.search.flop.equity import flop_gains
from foldwise.search.flop.equity_kernels import settle_all_in
from foldwise.search.flop.runouts import NUM_TURNS, RUNOUT_WEIGHT, RunoutSource
from foldwise.search.flop.trunk import build_trunk, real_actions
from foldwise.search.flop.trunk_kernels import TrunkTables, go_down, go_up
from foldwise.search.flop.way_kernels import WAYS
from foldwise.search.ranges import TableRanges
from foldwise.solver.subgame.cut import padded
from foldwise.solver.subgame.gadget import Gadget, make_choice
from foldwise.solver.subgame.gadget_kernels import EntryChoice, enter_by_choice, learn_choice
from foldwise.solver.subgame.hand_kernels import FROZEN, Rules, match_hands
from foldwise.solver.subgame.steps import VALUE_RULES, Kind, learning_rules
from foldwise.solver.subgame.subgame_tree import Path
from foldwise.solver.subgame.workspace import Workspace

_FULL_BOARD, _HANDS = 5, 1081
_LEAST_MASS = 1e-300
# Runouts for values outside of the solve, which must not be those it learned from: blocks far behind.
_FRESH_BLOCK = 1 << 20


class FlopSource:
    """What flop searches of one blueprint share: rows behind leaves, and all that depends on the last board."""

    def __init__(self, ranges: TableRanges, workspace: Workspace, threads: int):
        self.ranges = ranges
        self.workspace = workspace
        self.threads = threads
        self.continuations = ContinuationSource(ranges)
        self._kept: tuple[RunoutSource, Single] | None = None

    def on(self, board: tuple[int, ...]) -> tuple[RunoutSource, Single]:
        """Runouts and all-ins of a flop, kept until another one comes."""
        if self._kept is None or self._kept[0].board != board:
            runouts = RunoutSource(self.ranges, board)
            self._kept = (runouts, flop_gains(board, runouts.trunk, self.workspace, self.threads))
        return self._kept


def _make_scratch(most: int) -> LeafScratch:
    """For so many places behind a leaf."""
    size = padded(_HANDS)
    return LeafScratch(
        reach_at=np.zeros(most, np.int32),
        reach=aligned_zeros(most, size * WAYS),
        arriving_at=np.zeros(most, np.int32),
        arriving=aligned_zeros(most, size),
        value=aligned_zeros(most, size),
        way_values=aligned_zeros(most, size * WAYS),
        ends=np.zeros(most, np.int64),
        lanes=empty_lane_sums(_FULL_BOARD, size),
    )


class FlopGame:
    """A flop, two ranges by pair number, and what has been learned about it.

    `gadget`, `frozen` and `extra_sizes` are as in a `Subgame`.
    """

    def __init__(
        self,
        source: FlopSource,
        state: BettingState,
        board: Sequence[int],
        node: int,
        ranges: tuple[Float, Float],
        *,
        gadget: Gadget | None = None,
        frozen: Mapping[Path, Float] | None = None,
        extra_sizes: Mapping[Path, Sequence[int]] | None = None,
        runouts: int = 1,
        schedule: str = "lcfr",
    ):
        """`node` is where the blueprint stands at the flop's root; `runouts` are drawn in each iteration."""
        if len(board) != 3 or state.round != 1 or state.finished:
            raise DefinitionError(f"board {list(board)}: expected a flop and betting on it that is not over")
        self.source = source
        self._runouts, self._gains = source.on(tuple(board))
        self.state = state
        self.iteration = 0
        self.hand_nodes = 0
        self.trunk = build_trunk(source.ranges.player, state, node, extra_sizes)
        self.nodes, self.states, self.paths = self.trunk.nodes, self.trunk.states, self.trunk.paths
        self.samples_per_visit = 1
        self._node_at = {path: at for at, path in enumerate(self.paths)}
        self._schedule = schedule
        self._runouts_each = runouts
        self._behind, self._policies = source.continuations.behind(self.trunk)
        self._leaf_of = np.full(len(self.nodes), -1, np.int32)
        self._leaf_of[self.trunk.leaves] = np.arange(len(self.trunk.leaves))
        self._all_ins = np.flatnonzero(self.nodes["kind"] == SHOWDOWN)
        self.board = self._runouts.trunk
        self._here = slice(self.board.pairs.size)
        self._make_tables()
        self.ranges = (np.asarray(ranges[0], dtype=np.float64), np.asarray(ranges[1], dtype=np.float64))
        given = [one[self.board.pairs] for one in self.ranges]
        self._masses = [max(float(one.sum()), _LEAST_MASS) for one in given]
        self._ranges = np.array([one / mass for one, mass in zip(given, self._masses)], dtype=np.float32)
        other = np.zeros(NUM_PAIRS)
        other[self.board.pairs] = self._ranges[1]
        self._pair_mass = max(float(self._ranges[0] @ RangeShowdown(board).fold(other)[self.board.pairs]), _LEAST_MASS)
        self._choice = make_choice(gadget, self.board.pairs, self.ranges, self._masses)
        for path, rows in (frozen or {}).items():
            self._freeze(path, rows)

    def _make_tables(self) -> None:
        size, num_leaves = padded(self.board.pairs.size), len(self.trunk.leaves)
        rows = self.trunk.num_rows
        ways = (2, num_leaves, WAYS, size)
        self._tables = TrunkTables(
            *(aligned_zeros(rows, size) for _ in range(3)), *(aligned_zeros(*ways) for _ in range(3))
        )
        self._reach = aligned_zeros(len(self.nodes), 2, size)
        self._value = aligned_zeros(len(self.nodes), size)
        self._all_in_values = aligned_zeros(len(self.nodes), size)
        self._leaf_reach = aligned_zeros(num_leaves, WAYS, size)
        self._leaf_values = aligned_zeros(num_leaves, WAYS, size)
        self._total = aligned_zeros(size)
        self._sums = empty_sums(3, np.float32)
        most = int(self._behind.place.max(initial=0)) + 1
        self._scratch = [_make_scratch(most) for _ in range(self.source.threads)]

    def _freeze(self, path: Path, rows: Float) -> None:
        at = self.node_at(path)
        base, count = self._rows(at)
        for table in (self._tables.regrets, self._tables.sums):
            table[base : base + count, self._here] = rows[:, self.board.pairs]
        self.nodes["detail"][at] = FROZEN

    def _rows(self, at: int) -> tuple[int, int]:
        if self.nodes[at]["kind"] != DECISION:
            raise DefinitionError(f"node {at} of the flop: expected a decision")
        return int(self.nodes[at]["base"]), int(self.nodes[at]["num_children"])

    # The tree

    def node_at(self, path: Path) -> int:
        """The node a path from the root leads to; where it ends the street, the leaf."""
        found = self._node_at.get(tuple(path))
        if found is None:
            raise DefinitionError(f"path {path}: the flop has no such sequence of actions")
        return found

    def actions_at(self, at: int) -> list[Action]:
        """Actions of a decision, in the order of its rows."""
        first, count = int(self.nodes[at]["first_child"]), int(self.nodes[at]["num_children"])
        return [self.paths[child][-1] for child in range(first, first + count)]

    def abstract_at(self, path: Path) -> tuple[int, float]:
        """The blueprint's first decision on the turn behind a leaf, and real over abstract pot."""
        at = self.node_at(path)
        assert self.nodes[at]["kind"] == CHANCE
        return int(self.trunk.abstract[at]), float(self.trunk.scale[at])

    @property
    def hand_nodes_per_visit(self) -> float:
        """Nodes times hands in one iteration, which walks for both players."""
        behind = self._runouts_each * len(self._behind.kind) * _HANDS
        return 2.0 * (len(self.nodes) * self.board.pairs.size + behind)

    # Solving

    def run(self, iterations: int) -> None:
        """Iterations of the schedule, each updating both players in turn."""
        for _ in range(iterations):
            rules = learning_rules(self._schedule, self.iteration + 1)
            first = self.iteration * self._runouts_each
            numbers = range(first, first + self._runouts_each)
            for traverser in range(2):
                self._pass(traverser, rules, numbers, self._choice)
            self.hand_nodes += int(self.hand_nodes_per_visit)
            self.iteration += 1

    def _pass(self, traverser: int, rules: Rules, numbers: Sequence[int], choice: EntryChoice) -> None:
        other = 1 - traverser
        self._reach[0, traverser, self._here] = 1.0  # so that a hand outside the range has a strategy too
        self._reach[0, other, self._here] = choice.entering if choice.player == other else self._ranges[other]
        common = (self.nodes, self._leaf_of, self._tables, traverser, rules)
        go_down(*common, self._reach, self._leaf_reach, self._total)
        self._value_leaves(traverser, numbers)
        go_up(*common, self.board, self._sums, self._reach, self._leaf_values, self._all_in_values, self._value)
        if rules.learns and choice.player == traverser:
            learn_choice(choice, self._value[0, self._here], rules)
            enter_by_choice(choice)

    def _value_leaves(self, traverser: int, numbers: Sequence[int]) -> None:
        """Values of leaves, a mean over runouts, and of all-ins; what is added up where does not depend on threads."""
        other, num_leaves = 1 - traverser, len(self._leaf_values)
        tasks = [(number, leaf) for number in numbers for leaf in range(num_leaves)]
        out = np.zeros((len(numbers), *self._leaf_values.shape), np.float32)
        threads = len(self._scratch)

        def work(share: int) -> None:
            scratch = self._scratch[share]
            for at in self._all_ins[share::threads]:
                settle_all_in(
                    self._gains,
                    self._reach[at, other, self._here],
                    np.float32(self.nodes[at]["value"]),
                    self._all_in_values[at, self._here],
                )
            for number, leaf in tasks[share::threads]:
                value_leaf(
                    self._behind,
                    leaf,
                    traverser,
                    self._policies,
                    self._runouts.block(number // NUM_TURNS),
                    number % NUM_TURNS,
                    self._leaf_reach[leaf],
                    scratch,
                    out[number - numbers[0], leaf],
                )

        for block in range(numbers[0] // NUM_TURNS, numbers[-1] // NUM_TURNS + 1):
            self._runouts.block(block)  # made once, and not by two threads at a time
        self.source.workspace.share(work, range(threads))
        self._leaf_values[:] = out.sum(axis=0) * np.float32(RUNOUT_WEIGHT / len(numbers))

    # What was learned

    def strategy(self, at: int = 0) -> Float:
        """Average strategy at a decision, [actions, 1326] by pair number; 0 for hands that clash with the board."""
        base, count = self._rows(at)
        sigma = np.zeros((count, self._tables.sums.shape[1]), np.float32)
        match_hands(self._tables.sums[base : base + count], sigma, np.zeros(sigma.shape[1], np.float32))
        out = np.zeros((count, NUM_PAIRS))
        out[:, self.board.pairs] = sigma[:, self._here]
        return out

    def values(self, player: int, kind: Kind = "average", blocks: int = 1) -> Float:
        """What each hand of a player wins over the whole hand, [1326] in chips times the other's reach as given.

        Estimated on `blocks` times 49 runouts that the solve has not seen. A best response is found on the same ones, so it
        is a little too good.
        """
        first = _FRESH_BLOCK * NUM_TURNS
        nobody = make_choice(None, self.board.pairs, self.ranges, self._masses)
        self._pass(player, VALUE_RULES[kind], range(first, first + blocks * NUM_TURNS), nobody)
        out = np.zeros(NUM_PAIRS)
        out[self.board.pairs] = self._masses[1 - player] * self._value[0, self._here]
        return out

    def exploitability_mbb(self, blocks: int = 8) -> float:
        """Of the average strategies in this game, its leaves included, in thousandths of the big blind."""
        unit = 1000.0 / (self.state.definition.big_blind * self._pair_mass)
        won = 0.0
        for player in range(2):
            mine = self.values(player, "best", blocks)[self.board.pairs] / self._masses[1 - player]
            won += float(self._ranges[player] @ mine)
        return unit * won / 2.0

    def start_from(self, earlier: "FlopGame", iteration: int | None = None) -> None:
        """Start from what an earlier solve of the same flop learned, for the actions and leaves both trees have."""
        for at in np.flatnonzero(self.nodes["kind"] == DECISION).tolist():
            known = earlier._node_at.get(self.paths[at])
            if known is None or self.nodes[at]["detail"] == FROZEN:
                continue
            before, base = earlier.actions_at(known), int(self.nodes[at]["base"])
            for a, action in enumerate(self.actions_at(at)):
                if action in before:
                    row = int(earlier.nodes[known]["base"]) + before.index(action)
                    self._tables.regrets[base + a] = earlier._tables.regrets[row]
                    self._tables.sums[base + a] = earlier._tables.sums[row]
        for at in self.trunk.leaves.tolist():
            known = earlier._node_at.get(self.paths[at])
            if known is not None:
                here, there = self._leaf_of[at], earlier._leaf_of[known]
                self._tables.way_regrets[:, here] = earlier._tables.way_regrets[:, there]
                self._tables.way_sums[:, here] = earlier._tables.way_sums[:, there]
        self.iteration = earlier.iteration if iteration is None else iteration

    # The blueprint's own play

    def play_blueprint(self) -> None:
        """Put the blueprint's own strategy in the place of the average."""
        for at in np.flatnonzero(self.nodes["kind"] == DECISION).tolist():
            base, count = self._rows(at)
            self._tables.sums[base : base + count, self._here] = self.blueprint_rows(at)[:, self.board.pairs]
        self._tables.way_sums[:] = 0.0
        self._tables.way_sums[:, :, 0] = 1.0

    def play_as(self, player: int, solved: "FlopGame") -> None:
        """Put a player's average strategy of another solve of this flop in the place of his own."""
        for at in np.flatnonzero((self.nodes["kind"] == DECISION) & (self.nodes["player"] == player)).tolist():
            base, count = self._rows(at)
            rows = solved.strategy(solved.node_at(self.paths[at]))
            self._tables.sums[base : base + count, self._here] = rows[:, self.board.pairs]

    def blueprint_rows(self, at: int) -> Float:
        """What the blueprint plays at a decision, as stored: [actions, 1326] of this tree.

        Uniform where a node of the other player stands for the decision.
        """
        ranges, node = self.source.ranges, int(self.trunk.abstract[at])
        actions, state = self.actions_at(at), self.states[at]
        record = ranges.player.seat.tree.nodes[node]
        out = np.zeros((len(actions), NUM_PAIRS))
        if int(record["player"]) != state.player_to_act:
            out[:, self.board.pairs] = 1.0 / len(actions)
            return out
        count = int(record["num_children"])
        buckets = ranges.buckets(state.round, self._runouts.board)[self.board.pairs]
        rows = ranges.stored[int(record["base"]) :][: count * int(ranges.num_buckets[node])].reshape(-1, count)
        rows = rows[buckets].astype(np.float64)
        totals = rows.sum(axis=1, keepdims=True)
        rows = np.where(totals > 0.0, rows / np.maximum(totals, 1e-300), 1.0 / count)
        for child, action in enumerate(real_actions(ranges.player, state, node)):
            out[actions.index(action), self.board.pairs] += rows[:, child]
        return out
