"""Solving the rest of a hand from any public state on the turn or the river, with any two ranges.

Discounted CFR (Brown and Sandholm, AAAI 2019) over every hand both players can hold: no card abstraction, exact
showdowns, exact exploitability. Bet sizes are the caller's. Values are counterfactual, so a hand of range zero has a
strategy too.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from foldwise.game.arrays import Float, Ints, Single
from foldwise.game.betting import Action, BettingState
from foldwise.game.errors import DefinitionError
from foldwise.game.hole_cards import NUM_PAIRS
from foldwise.game.showdown import RangeShowdown, empty_sums, make_board
from foldwise.game.showdown_kernels import ShowdownBoard, ShowdownSums
from foldwise.game.tree import BetMenu
from foldwise.game.tree_kernels import CHANCE, DECISION, SHOWDOWN
from foldwise.solver.full_width.vector_cfr import SCHEDULES
from foldwise.solver.memory_estimate import available_bytes
from foldwise.solver.response.best_response import Exploitability
from foldwise.solver.side_by_side import side_by_side
from foldwise.solver.subgame.subgame_kernels import Leaves, Rules, SubgameFrames, match_hands, walk_pieces, walk_subtree
from foldwise.solver.subgame.subgame_tree import Nodes, build_subtree, legal_actions

_RIVER_CARDS = 5
_HIDDEN_RIVERS = 44  # cards the river may be once both hands and the turn are known
_PIECES_PER_THREAD = 8
_LEAST_MASS = 1e-300
_RESPOND = Rules(*(np.float32(0.0),) * 5, learns=False, responds=True)


@dataclass
class _Thread:
    """Memory of one thread."""

    pieces: Ints
    frames: SubgameFrames
    prefix_sums: ShowdownSums
    leaf_values: Single


def _make_frames(depth: int, max_actions: int, num_hands: int) -> SubgameFrames:
    return SubgameFrames(
        node=np.zeros(depth, dtype=np.int32),
        action=np.zeros(depth, dtype=np.int32),
        reach_at=np.zeros((depth, 2), dtype=np.int32),
        reach=np.zeros((depth, 2, num_hands), dtype=np.float32),
        sigma=np.zeros((depth, max_actions, num_hands), dtype=np.float32),
        value=np.zeros((depth + 1, max_actions, num_hands), dtype=np.float32),
        total=np.zeros(num_hands, dtype=np.float32),
    )


class Subgame:
    """A public state on the turn or the river, two ranges by pair number, and what has been learned of it."""

    def __init__(
        self,
        state: BettingState,
        board: Sequence[int],
        ranges: tuple[Float, Float],
        menu: BetMenu,
        threads: int = 1,
    ):
        _check(state, board, ranges)
        self.state = state
        self.actions: list[Action] = legal_actions(state, menu)
        self.iteration = 0
        self.hand_nodes = 0  # public nodes visited, times the hands of the traverser
        self.nodes, self.states = build_subtree(state, menu)
        self.board = make_board(board)
        on_river = len(board) == _RIVER_CARDS
        rivers = [tuple(board)] if on_river else [(*board, card) for card in range(52) if card not in board]
        self.river_cards = [river[-1] for river in rivers]
        self._boards = _stack([make_board(river) for river in rivers])
        self._to_trunk = _places(self.board, self._boards)
        self._board_weight = np.float32(1.0 if on_river else 1.0 / _HIDDEN_RIVERS)
        self._leaves = _make_leaves(
            self.nodes, on_river, 1 if threads == 1 else _PIECES_PER_THREAD * threads, self.board
        )
        self._trunk_actions = _number_actions(self.nodes, self._leaves.number)

        depth, max_actions = _depth(self.nodes), int(self.nodes["num_children"].max())
        num_hands, num_trunk_hands = self._boards.pairs.shape[1], self.board.pairs.size
        num_actions = int(self.nodes["num_children"][self.nodes["kind"] == DECISION].sum()) - self._trunk_actions
        _check_memory(4 * 2 * (num_actions * num_hands * len(rivers) + self._trunk_actions * num_trunk_hands))
        self._trunk_regrets = np.zeros((max(1, self._trunk_actions), num_trunk_hands), dtype=np.float32)
        self._trunk_sums = np.zeros_like(self._trunk_regrets)
        self._regrets = np.zeros((len(rivers), max(1, num_actions), num_hands), dtype=np.float32)
        self._sums = np.zeros_like(self._regrets)
        self._trunk_frames = _make_frames(depth, max_actions, num_trunk_hands)
        self._trunk_prefix_sums = empty_sums(len(board), np.float32)
        self._leaf_values = np.zeros((self._leaves.node.size, num_trunk_hands), dtype=np.float32)
        self._threads = [
            _Thread(
                pieces=pieces,
                frames=_make_frames(depth, max_actions, num_hands),
                prefix_sums=empty_sums(_RIVER_CARDS, np.float32),
                leaf_values=np.zeros_like(self._leaf_values),
            )
            for pieces in _share_pieces(self.nodes, self._leaves, len(rivers), threads)
        ]
        self._pool = ThreadPoolExecutor(max(1, threads - 1))  # beside the caller's thread; starts with the first work
        self._ranges = [np.asarray(one, dtype=np.float64)[self.board.pairs] for one in ranges]
        self._ranges = [one / max(float(one.sum()), _LEAST_MASS) for one in self._ranges]
        self._pair_mass = self._mass(board)

    def _mass(self, board: Sequence[int]) -> float:
        """Probability that two hands drawn from the ranges share no card."""
        other = np.zeros(NUM_PAIRS)
        other[self.board.pairs] = self._ranges[1]
        mass = float(self._ranges[0] @ RangeShowdown(board).fold(other)[self.board.pairs])
        if mass <= 0.0:
            raise DefinitionError(
                "two ranges of which no two hands can be held at once: give each at least one more hand"
            )
        return mass

    @property
    def num_bytes(self) -> int:
        """Size of the tables."""
        return 2 * (self._regrets.nbytes + self._trunk_regrets.nbytes)

    def run(self, iterations: int) -> None:
        """Iterations of discounted CFR, each updating both players in turn."""
        for t in range(self.iteration + 1, self.iteration + iterations + 1):
            rules = _rules(t)
            for traverser in range(2):
                self._pass(traverser, rules)
        self.iteration += iterations

    def _pass(self, traverser: int, rules: Rules) -> Single:
        """One walk for the traverser: down the trunk, through all pieces, and the trunk again with their values."""
        if self._trunk_actions:
            self._walk_trunk(traverser, rules._replace(learns=False))
        else:
            self._leaves.reach[0, 0] = 1.0
            self._leaves.reach[0, 1] = self._ranges[1 - traverser]
        walk = partial(self._walk_pieces, traverser, rules)
        self.hand_nodes += sum(side_by_side(self._pool, walk, self._threads))
        np.copyto(self._leaf_values, self._threads[0].leaf_values)
        for thread in self._threads[1:]:
            self._leaf_values += thread.leaf_values
        if not self._trunk_actions:
            only: Single = self._leaf_values[0]
            return only
        self.hand_nodes += self._walk_trunk(traverser, rules)
        root: Single = self._trunk_frames.value[0, 0]
        return root

    def _walk_trunk(self, traverser: int, rules: Rules) -> int:
        self._trunk_frames.reach[0, traverser] = 1.0
        self._trunk_frames.reach[0, 1 - traverser] = self._ranges[1 - traverser]
        visited = walk_subtree(
            self.nodes,
            0,
            traverser,
            self._trunk_regrets,
            self._trunk_sums,
            self.board,
            self._trunk_prefix_sums,
            True,
            self._leaves,
            self._leaf_values,
            rules,
            self._trunk_frames,
        )
        return int(visited) * self.board.pairs.size

    def _walk_pieces(self, traverser: int, rules: Rules, thread: _Thread) -> int:
        thread.leaf_values[:] = 0.0
        visited = walk_pieces(
            self.nodes,
            thread.pieces,
            traverser,
            self._regrets,
            self._sums,
            self._boards,
            self._to_trunk,
            self._board_weight,
            thread.prefix_sums,
            self._leaves,
            rules,
            thread.frames,
            thread.leaf_values,
        )
        return int(visited)

    def exploitability(self) -> Exploitability:
        """Of the average strategies, exactly, in thousandths of the big blind for each time this state is reached."""
        hand_nodes = self.hand_nodes
        unit = 1000.0 / (self.state.definition.big_blind * self._pair_mass)
        best = [unit * float(self._ranges[p] @ self._pass(p, _RESPOND).astype(np.float64)) for p in range(2)]
        average = Rules(*(np.float32(0.0),) * 5, learns=False, responds=False)
        # The current strategy is read from regrets: lend it the sums, and the walk values the average.
        self._trunk_regrets, self._trunk_sums = self._trunk_sums, self._trunk_regrets
        self._regrets, self._sums = self._sums, self._regrets
        value = unit * float(self._ranges[0] @ self._pass(0, average).astype(np.float64))
        self._trunk_regrets, self._trunk_sums = self._trunk_sums, self._trunk_regrets
        self._regrets, self._sums = self._sums, self._regrets
        self.hand_nodes = hand_nodes
        return Exploitability(
            exploitability_mbb=(best[0] + best[1]) / 2.0, best_response_mbb=(best[0], best[1]), value_mbb=value
        )

    def strategy(self, at: int = 0, river: int | None = None) -> Float:
        """Average strategy at a decision, [actions, 1326] by pair number; 0 for hands that clash with the board.

        `at` is a node of `self.nodes`, whose betting is `self.states[at]`; below the trunk of a turn, name the river.
        """
        node = self.nodes[at]
        base, num_actions = int(node["base"]), int(node["num_children"])
        if _above_leaves(self.nodes, self._leaves.number)[at]:
            weights, pairs = self._trunk_sums[base : base + num_actions], self.board.pairs
        else:
            which = 0 if river is None else self.river_cards.index(river)
            weights, pairs = self._sums[which, base : base + num_actions], self._boards.pairs[which]
        sigma = np.zeros_like(weights)
        match_hands(weights, sigma, np.zeros(len(pairs), dtype=np.float32))
        out = np.zeros((num_actions, NUM_PAIRS))
        out[:, pairs] = sigma
        return out


def _rules(iteration: int) -> Rules:
    """What the schedule of discounted CFR says of one iteration."""
    steps = SCHEDULES["dcfr"](np.array([float(iteration)]))
    positive, negative, sum_factor, sum_weight, floor = (np.float32(step[0]) for step in steps)
    return Rules(positive, negative, sum_factor, sum_weight, floor, learns=True, responds=False)


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


def _check_memory(needed: int) -> None:
    available = available_bytes()
    if needed > available:
        raise DefinitionError(
            f"a subgame of {needed / 1e9:.1f} GB where {available / 1e9:.1f} GB are free: choose fewer bet sizes"
        )


def _stack(boards: list[ShowdownBoard]) -> ShowdownBoard:
    return ShowdownBoard(*(np.stack(arrays) for arrays in zip(*boards)))


def _places(trunk: ShowdownBoard, boards: ShowdownBoard) -> npt.NDArray[np.uint16]:
    """[B, n] where each hand of a board stands in the trunk's order."""
    place = np.zeros(NUM_PAIRS, dtype=np.uint16)
    place[trunk.pairs] = np.arange(trunk.pairs.size)
    out: npt.NDArray[np.uint16] = place[boards.pairs]
    return out


def _children(nodes: Nodes, at: int) -> range:
    first = int(nodes[at]["first_child"])
    return range(first, first + int(nodes[at]["num_children"]))


def _make_leaves(nodes: Nodes, on_river: bool, num_pieces: int, board: ShowdownBoard) -> Leaves:
    """On the turn: where the river is dealt, or all is in. On the river: the top of the tree, cut into enough pieces."""
    if on_river:
        cut = [0]
        while len(cut) < num_pieces:
            opened = [at for at in cut if nodes[at]["kind"] == DECISION]
            if not opened:
                break
            largest = max(opened, key=lambda at: _size(nodes, at))
            cut.remove(largest)
            cut.extend(_children(nodes, largest))
        starts = {at: at for at in cut if nodes[at]["kind"] == DECISION}
    else:
        street = nodes[0]["street"]
        here = np.flatnonzero(nodes["street"] == street)
        starts = {int(at): int(nodes[at]["first_child"]) for at in here if nodes[at]["kind"] == CHANCE}
        starts |= {int(at): int(at) for at in here if nodes[at]["kind"] == SHOWDOWN}
    number = np.full(len(nodes), -1, dtype=np.int32)
    number[list(starts)] = np.arange(len(starts))
    return Leaves(
        number=number,
        node=np.array(list(starts.values()), dtype=np.int32),
        reach=np.zeros((len(starts), 2, board.pairs.size), dtype=np.float32),
    )


def _size(nodes: Nodes, at: int) -> int:
    return 1 + sum(_size(nodes, child) for child in _children(nodes, at))


def _depth(nodes: Nodes, at: int = 0) -> int:
    return 1 + max((_depth(nodes, child) for child in _children(nodes, at)), default=0)


def _above_leaves(nodes: Nodes, number: Ints) -> npt.NDArray[np.bool_]:
    above = np.zeros(len(nodes), dtype=np.bool_)
    left = [0]
    while left:
        at = left.pop()
        if number[at] < 0:
            above[at] = True
            left.extend(_children(nodes, at))
    return above


def _number_actions(nodes: Nodes, number: Ints) -> int:
    """Give every decision the place of its first action in the tables of its region; returns the trunk's actions."""
    above = _above_leaves(nodes, number)
    is_decision = nodes["kind"] == DECISION
    for region in (above, ~above):
        inside = is_decision & region
        ends = np.cumsum(nodes["num_children"][inside].astype(np.int64))
        nodes["base"][inside] = ends - nodes["num_children"][inside]
    return int(nodes["num_children"][above & is_decision].sum())


def _share_pieces(nodes: Nodes, leaves: Leaves, num_boards: int, threads: int) -> list[Ints]:
    """Pieces for each thread, about the same work to each: the largest first, to the one with the least to do."""
    sizes = [_size(nodes, int(at)) for at in leaves.node]
    pieces = [(leaf, board) for board in range(num_boards) for leaf in range(leaves.node.size)]
    shares: list[list[tuple[int, int]]] = [[] for _ in range(threads)]
    if num_boards >= 8 * threads:  # whole boards, whose sorted hands stay in the cache from piece to piece
        for board in range(num_boards):
            shares[board % threads].extend(piece for piece in pieces if piece[1] == board)
    else:
        load = [0] * threads
        for piece in sorted(pieces, key=lambda piece: -sizes[piece[0]]):
            least = load.index(min(load))
            shares[least].append(piece)
            load[least] += sizes[piece[0]]
    return [np.array(share, dtype=np.int32).reshape(-1, 2) for share in shares]
