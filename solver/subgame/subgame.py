"""Solving the rest of a hand from any public state on the turn or the river, with any two ranges.

Discounted CFR (Brown and Sandholm, AAAI 2019) over every hand both players can hold: no card abstraction, exact
showdowns, exact exploitability. Bet sizes are the caller's. Values are counterfactual, so a hand of range zero has a
strategy too. The same calls give the same bits with any number of threads.
"""

import weakref
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from foldwise.game.arrays import Counts, Float, Single, aligned_zeros
from foldwise.game.betting import Action, BettingState
from foldwise.game.errors import DefinitionError
from foldwise.game.hands.hole_cards import NUM_PAIRS, PAIR_CARDS
from foldwise.game.hands.showdown import RangeShowdown, empty_sums, make_board, make_lane_board
from foldwise.game.hands.showdown_kernels import ShowdownBoard
from foldwise.game.hands.showdown_lane_kernels import LaneBoard
from foldwise.game.trees.tree import BetMenu
from foldwise.game.trees.tree_kernels import CHANCE, DECISION
from foldwise.solver.full_width.schedules import Schedule
from foldwise.solver.response.best_response import Exploitability
from foldwise.solver.samplers import load_rule
from foldwise.solver.subgame.cut import (
    board_tasks,
    children,
    cut_blocks,
    cut_river,
    cut_trunk,
    cut_turn,
    gather_leaves,
    make_block_frames,
    num_groups,
    number_actions,
    padded,
    piece_tasks,
    subtree_depth,
)
from foldwise.solver.subgame.gadget import Gadget, make_choice
from foldwise.solver.subgame.gadget_kernels import EntryChoice
from foldwise.solver.subgame.hand_kernels import FROZEN, match_hands
from foldwise.solver.subgame.steps import NUM_STEPS, VALUE_RULES, Kind, schedule_steps
from foldwise.solver.subgame.subgame_kernels import (
    NUM_COUNTERS,
    TAKEN,
    Passes,
    Pieces,
    SubgameFrames,
    SubgameScratch,
    Tasks,
    Trunk,
    help_passes,
    lead_passes,
    walk_subtree,
)
from foldwise.solver.subgame.subgame_tree import Nodes, Path, build_subtree
from foldwise.solver.subgame.subtree_kernels import Blocks
from foldwise.solver.subgame.workspace import Workspace

Board = TypeVar("Board", ShowdownBoard, LaneBoard)

_RIVER_CARDS = 5
_NUM_RIVERS = 48
_HIDDEN_RIVERS = 44  # possible river cards once both hands and the turn are known
_LEAST_MASS = 1e-300
_ITERATIONS_A_CALL = 64  # between two of which an interrupt is heard


def _make_scratch(nodes: Nodes, blocks: Blocks, num_hands: int) -> SubgameScratch:
    depth, max_actions = subtree_depth(nodes), int(nodes["num_children"].max())
    frames = SubgameFrames(
        node=np.zeros(depth, dtype=np.int32),
        action=np.zeros(depth, dtype=np.int32),
        reach_at=np.zeros((depth, 2), dtype=np.int32),
        reach=aligned_zeros(depth, 2, num_hands),
        sigma=aligned_zeros(depth, max_actions, num_hands),
        value=aligned_zeros(depth + 1, max_actions, num_hands),
        total=aligned_zeros(num_hands),
    )
    return SubgameScratch(
        frames, make_block_frames(blocks, _RIVER_CARDS, num_hands), empty_sums(_RIVER_CARDS, np.float32)
    )


class Subgame:
    """A public state on the turn or the river, two ranges by pair number, and what has been learned about it.

    `schedule` is a name of `samplers.FULL_WIDTH` or one's own. `gadget` lets the opponent choose at the root.
    `frozen` maps paths (actions from the root, on its street) to rows [actions, 1326] that are played there by all hands
    and never change. `extra_sizes` maps paths on the root's street to raise-to amounts beyond the menu. `workspace` is
    memory to share with other subgames.

    `rivers` is how many of a turn's 48 river cards an iteration walks, a divisor of 48: public chance sampling (Johanson
    et al., AAMAS 2012) without replacement, so that every river has its turn once in 48 / rivers iterations, in an order
    that depends on the number of the iteration alone. What a river has learned is discounted by its own visits.
    """

    def __init__(
        self,
        state: BettingState,
        board: Sequence[int],
        ranges: tuple[Float, Float],
        menu: BetMenu,
        threads: int = 1,
        *,
        schedule: str | Schedule = "dcfr",
        gadget: Gadget | None = None,
        frozen: Mapping[Path, Float] | None = None,
        extra_sizes: Mapping[Path, Sequence[int]] | Iterable[tuple[Path, Sequence[int]]] = (),
        workspace: Workspace | None = None,
        rivers: int = _NUM_RIVERS,
    ):
        _check(state, board, ranges)
        if rivers < 1 or _NUM_RIVERS % rivers:
            raise DefinitionError(f"{rivers} rivers an iteration: expected a divisor of {_NUM_RIVERS}, such as 12")
        self.state = state
        self.iteration = 0
        self.hand_nodes = 0  # public nodes visited, times the hands of the traverser
        self.subtree = build_subtree(state, menu, dict(extra_sizes))
        self.nodes, self.states, self.paths = self.subtree.nodes, self.subtree.states, self.subtree.paths
        self._node_at: dict[Path, int] = {}
        for at, path in enumerate(self.paths):
            self._node_at.setdefault(path, at)
        self.actions = self.actions_at(0)
        self._schedule: Schedule = load_rule(schedule) if isinstance(schedule, str) else schedule
        self._workspace = workspace or Workspace()

        self._on_river = len(board) == _RIVER_CARDS
        self.board, boards, lane_boards, self.river_cards = _boards_below(tuple(board))
        num_boards = len(self.river_cards)
        num_hands, num_trunk_hands = padded(boards.pairs.shape[1]), padded(self.board.pairs.size)
        self._here = slice(self.board.pairs.size)  # of a vector of the trunk, the hands there are
        if self._on_river:
            leaves = cut_river(self.nodes)
            runs = [range(leaf, leaf + 1) for leaf in range(leaves.node.size)]
            self._tasks = self._sampled_tasks = piece_tasks(self.nodes, leaves)
        else:
            leaves = cut_turn(self.nodes)
            runs = gather_leaves(self.nodes, leaves)
            self._tasks, self._sampled_tasks = (board_tasks(runs, count) for count in (num_boards, rivers))
        self.samples_per_visit = (
            1 if self._on_river else _NUM_RIVERS // rivers
        )  # iterations until all rivers were walked
        tables = self._borrow_tables(num_boards, num_hands, num_trunk_hands)
        trunk_blocks = cut_trunk(self.nodes, leaves)
        leaf_of = leaves.number[trunk_blocks.node]
        self._trunk = Trunk(
            blocks=trunk_blocks,
            leaf_at=np.array([np.argmax(leaf_of == leaf) for leaf in range(leaves.node.size)], dtype=np.int32),
            regrets=tables[0],
            sums=tables[1],
            board=_one_board(lane_boards, 0) if self._on_river else make_lane_board(self.board),
            frames=make_block_frames(trunk_blocks, len(board), num_trunk_hands),
            leaf_values=aligned_zeros(num_groups(num_boards), leaves.node.size, num_trunk_hands),
        )
        self._pieces = Pieces(
            leaf_nodes=leaves.node,
            blocks=cut_blocks(self.nodes, leaves, runs),
            regrets=tables[2],
            sums=tables[3],
            boards=boards,
            lane_boards=lane_boards,
            to_trunk=_places(self.board, boards),
        )
        self._scratch = [_make_scratch(self.nodes, self._pieces.blocks, num_hands) for _ in range(threads)]
        self.ranges = (np.asarray(ranges[0], dtype=np.float64), np.asarray(ranges[1], dtype=np.float64))
        given = [one[self.board.pairs] for one in self.ranges]
        self._masses = [max(float(one.sum()), _LEAST_MASS) for one in given]
        self._ranges = np.array([one / mass for one, mass in zip(given, self._masses)])
        self._pair_mass = self._mass(board)
        self._choice = make_choice(gadget, self.board.pairs, self.ranges, self._masses)
        for path, rows in (frozen or {}).items():
            self._freeze(path, rows)

    def _borrow_tables(self, num_boards: int, num_hands: int, num_trunk_hands: int) -> list[Single]:
        """Regrets and sums of the root's street, and behind it of every board, where a river has the same twice."""
        counts = number_actions(self.nodes)
        trunk = (counts[0], num_trunk_hands)
        below = (num_boards, counts[1] if len(counts) > 1 else 0, num_hands)
        sizes = [int(np.prod(shape)) for shape in (trunk, below)]
        lent = self._workspace.lend(2 * sum(sizes))
        weakref.finalize(self, self._workspace.take_back, lent)
        parts = np.split(lent[: 2 * sum(sizes)], np.cumsum([sizes[0], sizes[0], sizes[1]]))
        tables = [part.reshape(shape) for part, shape in zip(parts, (trunk, trunk, below, below))]
        self.num_bytes = 4 * 2 * sum(sizes)
        return [*tables[:2], tables[0][None], tables[1][None]] if self._on_river else tables

    def _mass(self, board: Sequence[int]) -> float:
        """Probability that two hands drawn from the ranges share no card."""
        other = np.zeros(NUM_PAIRS)
        other[self.board.pairs] = self._ranges[1]
        showdown = RangeShowdown(board)
        if not np.any(showdown.meets(other)[self.board.pairs] & (self._ranges[0] > 0.0)):
            raise DefinitionError(
                "two ranges of which no two hands can be held at once: give each at least one more hand"
            )
        return max(float(self._ranges[0] @ showdown.fold(other)[self.board.pairs]), _LEAST_MASS)

    def _freeze(self, path: Path, rows: Float) -> None:
        at = self.node_at(path)
        node = self.nodes[at]
        base, num_actions = int(node["base"]), int(node["num_children"])
        if node["kind"] != DECISION or node["street"] != self.nodes[0]["street"]:
            raise DefinitionError(f"a decision frozen after {path}: expected one on the street of the root")
        if rows.shape != (num_actions, NUM_PAIRS) or not np.isfinite(rows).all() or rows.min() < 0.0:
            raise DefinitionError(
                f"rows of shape {rows.shape} frozen after {path}: expected {num_actions} actions of {NUM_PAIRS} weights, "
                "none below 0"
            )
        for table in (self._trunk.regrets, self._trunk.sums):
            table[base : base + num_actions, self._here] = rows[:, self.board.pairs]
        self.nodes["detail"][at] = FROZEN

    # The tree

    def node_at(self, path: Path) -> int:
        """The node a path from the root leads to; where it ends a street, the one at which the card is dealt."""
        found = self._node_at.get(tuple(path))
        if found is None:
            raise DefinitionError(f"path {path}: the subgame has no such sequence of actions")
        return found

    def child(self, at: int, action: Action) -> int:
        """The node after an action; at a node where a card is dealt, after the card."""
        return self.node_at((*self.paths[at], action))

    def actions_at(self, at: int) -> list[Action]:
        """Actions of a decision, in the order of its rows; at a node where a card is dealt, those after it."""
        return [self.paths[child][-1] for child in children(self.nodes, self._decision(at))]

    def _decision(self, at: int) -> int:
        node = self.nodes[at]
        return int(node["first_child"]) if node["kind"] == CHANCE else at

    def _in_trunk(self, at: int) -> bool:
        return bool(self.nodes[at]["street"] == self.nodes[0]["street"])

    def _board_of(self, river: int | None) -> int:
        if self._on_river or river is None:
            if not self._on_river:
                raise DefinitionError("a node behind the turn: name the river card")
            return 0
        if river not in self.river_cards:
            raise DefinitionError(f"river card {river}: expected one of the {len(self.river_cards)} not on the board")
        return self.river_cards.index(river)

    @property
    def hand_nodes_per_visit(self) -> float:
        """Public nodes times hands in one visit of the whole tree, which walks for both players."""
        trunk = int((self.nodes["street"] == self.nodes[0]["street"]).sum())
        below = len(self.nodes) - trunk
        on_full_boards = below * self._pieces.boards.pairs.size
        return 2.0 * (trunk * self.board.pairs.size + on_full_boards)

    # Solving

    def run(self, iterations: int) -> None:
        """Iterations of the schedule, each updating both players in turn."""
        last = self.iteration + iterations
        while self.iteration < last:
            self._learn(min(_ITERATIONS_A_CALL, last - self.iteration))

    def _learn(self, iterations: int) -> None:
        """A few iterations in one call of the kernels."""
        numbers = np.arange(self.iteration, self.iteration + iterations)
        visits, parts = np.divmod(numbers, self.samples_per_visit)
        order = np.array([self._sample(*which) for which in zip(visits.tolist(), parts.tolist())], dtype=np.int32)
        passes = Passes(
            first_traverser=0,
            num_traversers=2,
            trunk_steps=schedule_steps(self._schedule, numbers + 1),
            steps=schedule_steps(self._schedule, visits + 1),
            learns=True,
            averages=False,
            responds=False,
            tasks=self._sampled_tasks,
            order=order,
            board_weight=self._board_weight(self.samples_per_visit),
        )
        self.hand_nodes += self._run_passes(passes, self._choice)
        self.iteration += iterations

    def _sample(self, visit: int, part: int) -> Counts:
        """The boards of one iteration: a part of the rivers, reshuffled once all have been visited."""
        if self.samples_per_visit == 1:
            return np.arange(len(self.river_cards))
        boards: Counts = _river_order(visit).reshape(self.samples_per_visit, -1)[part]
        return boards

    def _board_weight(self, num_samples: int) -> np.float32:
        return np.float32(1.0 if self._on_river else num_samples * np.float32(1.0 / _HIDDEN_RIVERS))

    def _run_passes(self, passes: Passes, choice: EntryChoice) -> int:
        """On as many threads as there are tasks for; returns hands times nodes visited."""
        counters = np.zeros(NUM_COUNTERS, dtype=np.int64)
        ranges = self._ranges.astype(np.float32)

        def work(number: int) -> int:
            scratch = self._scratch[number]
            if number == 0:
                visited = lead_passes(self.nodes, self._trunk, self._pieces, ranges, choice, passes, scratch, counters)
            else:
                visited = help_passes(self.nodes, self._trunk, self._pieces, passes, scratch, counters)
            return int(visited)

        num_tasks = passes.tasks.start.size - 1
        shares = range(max(1, min(len(self._scratch), num_tasks)))
        try:
            return sum(self._workspace.share(work, shares))
        finally:  # if an interrupt kept the first thread from its passes, the others must not wait for them
            counters[TAKEN] = len(passes.steps) * passes.num_traversers * num_tasks

    # What was learned

    def exploitability(self) -> Exploitability:
        """Exact exploitability of the average strategies, in thousandths of the big blind per time this state is reached.

        Both players have the ranges given, even if the solve used a gadget; frozen rows are not responded at.
        """
        unit = 1000.0 / (self.state.definition.big_blind * self._pair_mass)
        best = [unit * float(self._ranges[p] @ self._root_values(p, "best")) for p in range(2)]
        return Exploitability(
            exploitability_mbb=(best[0] + best[1]) / 2.0,
            best_response_mbb=(best[0], best[1]),
            value_mbb=unit * float(self._ranges[0] @ self._root_values(0, "average")),
        )

    def _root_values(self, player: int, kind: Kind) -> Float:
        """Values of a player's hands in the board's order, against the other's range scaled to 1."""
        return self._values_on(np.arange(len(self.river_cards)), self._tasks, player, kind)

    def _values_on(self, boards: Counts, tasks: Tasks, player: int, kind: Kind) -> Float:
        """The same on some of the boards, which stand for all."""
        nothing = np.zeros((1, NUM_STEPS), dtype=np.float32)
        passes = Passes(
            first_traverser=player,
            num_traversers=1,
            trunk_steps=nothing,
            steps=nothing,
            learns=False,
            averages=True,
            responds=kind == "best",
            tasks=tasks,
            order=boards.astype(np.int32)[None],
            board_weight=self._board_weight(len(self.river_cards) // len(boards)),
        )
        self._run_passes(passes, make_choice(None, self.board.pairs, self.ranges, self._masses))
        values: Float = self._trunk.frames.value[0, self._here].astype(np.float64)
        return values

    def values(self, player: int, kind: Kind = "average") -> Float:
        """What each hand of a player wins over the whole hand, [1326] in chips times the other's reach as given.

        The other plays his average strategy, the player his own average or his best response. 0 for hands that clash
        with the board. Divided by the other's reach of hands that share no card with it, it is a hand's expectation.
        """
        out = np.zeros(NUM_PAIRS)
        out[self.board.pairs] = self._masses[1 - player] * self._root_values(player, kind)
        return out

    def values_at(self, at: int, river: int | None, player: int, kind: Kind = "average") -> Float:
        """The same at a node on the river, against the other's reach there; the river card is taken as dealt.

        `at` may be the node at which the river is dealt. With kind "best" the response begins at the node.
        """
        at = self._decision(at)
        if self._in_trunk(at) and not self._on_river:
            raise DefinitionError(f"values at node {at}: expected the root (see values) or a node on the river")
        which = self._board_of(river)
        board = _one_board(self._pieces.boards, which)
        scratch = self._scratch[0]
        other_reach = self.reach(at, 1 - player, river)[board.pairs]
        mass = max(float(other_reach.sum()), _LEAST_MASS)
        scratch.frames.reach[0, player] = 1.0
        scratch.frames.reach[0, 1 - player, : board.pairs.size] = other_reach / mass
        walk_subtree(
            self.nodes,
            at,
            player,
            self._pieces.regrets[which],
            self._pieces.sums[which],
            board,
            _one_board(self._pieces.lane_boards, which),
            self._pieces.blocks,
            VALUE_RULES[kind],
            scratch,
        )
        out = np.zeros(NUM_PAIRS)
        out[board.pairs] = mass * scratch.frames.value[0, 0, : board.pairs.size]
        return out

    def action_values(self, kind: Kind = "average") -> Float:
        """What each hand of the player to act at the root wins by each action there: [actions, 1326], as in `values`."""
        player, num_actions = self.state.player_to_act, len(self.actions)
        first = int(self.nodes[0]["first_child"])
        if self._on_river:
            return np.array([self.values_at(first + a, None, player, kind) for a in range(num_actions)])
        self._root_values(player, kind)
        out = np.zeros((num_actions, NUM_PAIRS))
        below = self._trunk.frames.value[1 : 1 + num_actions, self._here].astype(np.float64)  # beside the root
        out[:, self.board.pairs] = self._masses[1 - player] * below
        return out

    def reach(self, at: int, player: int, river: int | None = None) -> Float:
        """A player's range at a node, [1326]: as given, times the probabilities of his average strategy on the path."""
        out = self.ranges[player].copy()
        on_board = np.zeros(NUM_PAIRS)
        on_board[self.board.pairs] = 1.0
        if not self._on_river and river is not None:
            on_board[np.any(river == PAIR_CARDS, axis=1)] = 0.0
        out *= on_board
        path = self.paths[at]
        for k, action in enumerate(path):
            before = self._decision(self.node_at(path[:k]))
            if self.nodes[before]["player"] == player:
                out *= self.strategy(before, river)[self.actions_at(before).index(action)]
        return out

    def strategy(self, at: int = 0, river: int | None = None) -> Float:
        """Average strategy at a decision, [actions, 1326] by pair number; 0 for hands that clash with the board.

        `at` is a node of `self.nodes`, whose betting is `self.states[at]`; below the trunk of a turn, name the river.
        """
        at = self._decision(at)
        node = self.nodes[at]
        base, num_actions = int(node["base"]), int(node["num_children"])
        if self._in_trunk(at):
            weights, pairs = self._trunk.sums[base : base + num_actions], self.board.pairs
        else:
            which = self._board_of(river)
            weights, pairs = self._pieces.sums[which, base : base + num_actions], self._pieces.boards.pairs[which]
        sigma = np.zeros_like(weights)
        match_hands(weights, sigma, np.zeros(weights.shape[1], dtype=np.float32))
        out = np.zeros((num_actions, NUM_PAIRS))
        out[:, pairs] = sigma[:, : len(pairs)]
        return out

    def start_from(self, earlier: "Subgame", iteration: int | None = None) -> None:
        """Start from what an earlier solve of the same state learned, for the actions both trees have.

        `iteration` is the one after which the schedule continues, by default the earlier solve's last: a smaller number
        forgets faster.
        """
        if earlier.state != self.state or not np.array_equal(earlier.board.pairs, self.board.pairs):
            raise DefinitionError("a start from the solve of another state: expected the same betting and board")
        for at in np.flatnonzero(self.nodes["kind"] == DECISION).tolist():
            known = earlier._node_at.get(self.paths[at])
            if known is None or self.nodes[at]["detail"] == FROZEN:
                continue
            known = earlier._decision(known)
            before = earlier.actions_at(known)
            for a, action in enumerate(self.actions_at(at)):
                if action in before:
                    self._copy_row(earlier, int(earlier.nodes[known]["base"]) + before.index(action), at, a)
        self.iteration = earlier.iteration if iteration is None else iteration

    def _copy_row(self, earlier: "Subgame", row: int, at: int, a: int) -> None:
        here = int(self.nodes[at]["base"]) + a
        if self._in_trunk(at):
            self._trunk.regrets[here] = earlier._trunk.regrets[row]
            self._trunk.sums[here] = earlier._trunk.sums[row]
        else:
            self._pieces.regrets[:, here] = earlier._pieces.regrets[:, row]
            self._pieces.sums[:, here] = earlier._pieces.sums[:, row]


def _check(state: BettingState, board: Sequence[int], ranges: tuple[Float, Float]) -> None:
    definition = state.definition
    last = definition.num_rounds - 1
    wanted = definition.board_sizes[state.round]
    if definition.num_players != 2 or definition.board_sizes[-1] != _RIVER_CARDS or state.round < last - 1:
        raise DefinitionError(
            f"a subgame on round {state.round + 1}: expected heads-up hold'em on the turn or the river"
        )
    if state.finished or len(board) != wanted or len(set(board)) != wanted:
        raise DefinitionError(f"board {list(board)}: expected {wanted} distinct cards and betting that is not over")
    if any(one.shape != (NUM_PAIRS,) or one.min() < 0.0 or not np.isfinite(one).all() for one in ranges):
        raise DefinitionError(f"ranges: expected {NUM_PAIRS} weights of at least 0 for each player")


@lru_cache(maxsize=4)  # a street may be solved more than once, and by both players of a table
def _boards_below(board: tuple[int, ...]) -> tuple[ShowdownBoard, ShowdownBoard, LaneBoard, list[int]]:
    """A board's own hands, those of all full boards it can become, twice, and the last card of each."""
    is_full = len(board) == _RIVER_CARDS
    rivers = [board] if is_full else [(*board, card) for card in range(52) if card not in board]
    boards = [make_board(river) for river in rivers]
    lane_boards = [make_lane_board(one) for one in boards]
    return make_board(board), _stack(boards), _stack(lane_boards), [river[-1] for river in rivers]


@lru_cache(maxsize=4)  # asked for once a sample of the visit
def _river_order(visit: int) -> Counts:
    """In what order a visit walks the rivers: a shuffle that depends on its number alone."""
    return np.random.default_rng(visit).permutation(_NUM_RIVERS)


def _stack(boards: list[Board]) -> Board:
    return type(boards[0])(*(np.stack(arrays) for arrays in zip(*boards)))


def _one_board(boards: Board, which: int) -> Board:
    return type(boards)(*(arrays[which] for arrays in boards))


def _places(trunk: ShowdownBoard, boards: ShowdownBoard) -> npt.NDArray[np.uint16]:
    """[B, n] where each hand of a board stands in the trunk's order."""
    place = np.zeros(NUM_PAIRS, dtype=np.uint16)
    place[trunk.pairs] = np.arange(trunk.pairs.size)
    out: npt.NDArray[np.uint16] = place[boards.pairs]
    return out
