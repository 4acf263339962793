"""From a real history to a node of the abstract tree: every legal history has one.

Each real action moves the tracker by one abstract action, so both trees always agree on who acts and on which street.

1. **Calls and checks** are calls. An opponent's **raise** of x pots (chips beyond the call over the pot after it, both
   real) is read as one of the node's raises by `agent.mappings`: between two sizes by chance, below the smallest
   as a check where checking keeps the street open, else as the smallest; beyond the largest as the largest. A real
   all-in, even one below a minimum raise, is a raise of its size like any other.
2. **Drift.** Sizes are always shares of the pot, real ones of the real pot and abstract ones of the abstract pot, so
   the pots may drift apart and nothing is ever re-scaled. What a share of the pot cannot express is clamped (4).
3. **Past the abstract cap.** A raise at a node that offers none takes the place of the raiser's last action on the
   street at a node that did: it is read there, and what came between is forgotten. If he had no such node, our first
   action of the street is taken as a check and the raise is read after it; if that does not help either, we answer from
   our first node of the street.
4. **Our own bets** become chips by their share of the real pot, rounded to the nearest chip. Where both pots are the
   same the abstract amount is played as it is; where they are not, a bet of `ALL_IN_SHARE` of the stack or more is
   all-in; then it is clamped to what is legal. An abstract all-in is all-in. A raise where none is legal is a call, a
   fold where checking is free a check. The history then goes on from what was really done: a raise that became a call
   is followed as a call.
5. **Abstract all-in, real chips left.** When an all-in is called in the abstract game and the real hand goes on, the
   call is taken back to the largest bet of the same node that keeps the abstract hand open (to the bettor's call, if
   it has none), and play continues from there. When the real street is over and the abstract one is not, the missing
   checks are added.
6. **Our own earlier raises** are known by the chips they made; where several sizes make the same chips, the one we
   drew, since draws depend on seed, hand and action number alone (`agent.following.decision_kernels`).

So a position is a function of the history, the player's seed and the hand's number: nothing is remembered between
decisions, and a match can be resumed in mid-hand.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.strategy import Strategy
from foldwise.agent.following import decision_kernels as kernels
from foldwise.agent.following.node_rows import NodeRows
from foldwise.agent.mappings.translation import DEFAULT_TRANSLATION, Translation
from foldwise.game.arrays import Single
from foldwise.game.betting import MAX_ACTIONS_PER_ROUND, Action, BettingState
from foldwise.game.betting_kernels import NUM_FIELDS
from foldwise.game.definition import GameDefinition
from foldwise.game.trees.table_rules import table_rules
from foldwise.game.trees.tree import NO_ACTION, NODE_DTYPE, Tree, action_of_code
from foldwise.postprocess.pipeline import Pipeline, Program
from foldwise.postprocess.transforms import NUM_CLASSES

_MAX_CHILDREN = 2**16  # the most a node can have; untouched memory costs nothing
_NO_FLOATS, _NO_WORDS, _NO_BYTES = np.zeros(0, np.float64), np.zeros(0, np.uint16), np.zeros(0, np.uint8)
_NO_SINGLES = np.zeros(0, np.float32)
_STORED_AS = {"float64": kernels.FLOATS, "uint16": kernels.WORDS, "uint8": kernels.BYTES}


class Seat(NamedTuple):
    """A strategy at the table, as kernels read it."""

    tree: Tree
    stored_as: int  # which of the next three arrays is used; the others are empty, so one type serves all
    floats: npt.NDArray[np.float64]
    words: npt.NDArray[np.uint16]
    bytes: npt.NDArray[np.uint8]
    program: Program
    played: Single  # [E] rows after a user's own rules; empty if the program post-processes each row
    stacks: npt.NDArray[np.int64]  # [2]
    mapping: int
    randomised: bool
    seed: np.uint64


class Scratch(NamedTuple):
    """Scratch memory for one decision; what it leaves there explains the decision."""

    raw: npt.NDArray[np.float64]  # the row as stored
    row: npt.NDArray[np.float64]  # and as played
    inside: npt.NDArray[np.float64]
    sizes_pot: npt.NDArray[np.float64]
    kinds: npt.NDArray[np.int8]
    masses: npt.NDArray[np.float64]  # [2, NUM_CLASSES]
    reading: npt.NDArray[np.int32]  # [2]: nodes a raise may be read as
    chance: npt.NDArray[np.float64]  # [1]: of the first
    reached: npt.NDArray[np.bool_]  # [1]: whether the solver ever reached the row


def make_scratch() -> Scratch:
    return Scratch(
        raw=np.empty(_MAX_CHILDREN),
        row=np.empty(_MAX_CHILDREN),
        inside=np.empty(_MAX_CHILDREN),
        sizes_pot=np.empty(_MAX_CHILDREN),
        kinds=np.empty(_MAX_CHILDREN, np.int8),
        masses=np.zeros((2, NUM_CLASSES)),
        reading=np.zeros(2, np.int32),
        chance=np.zeros(1),
        reached=np.zeros(1, np.bool_),
    )


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A read-only view, like a memory-mapped array, so that kernels compile for one array type only."""
    view = array.view()
    view.flags.writeable = False
    return view


def make_seat(
    tree: Tree,
    stored: npt.NDArray[Any],
    definition: GameDefinition,
    pipeline: Pipeline,
    seed: int,
    translation: Translation = DEFAULT_TRANSLATION,
) -> Seat:
    """A seat from a tree with rows and the probabilities stored for them."""
    stored_as = _STORED_AS[str(stored.dtype)]
    played = _NO_SINGLES
    if pipeline.has_python:
        played = NodeRows(tree, stored, definition.stacks, pipeline).played(with_first=False)
        pipeline = pipeline.exemptions()
    return Seat(
        tree=Tree(*map(_frozen, tree)),
        stored_as=stored_as,
        floats=_frozen(stored if stored_as == kernels.FLOATS else _NO_FLOATS),
        words=_frozen(stored if stored_as == kernels.WORDS else _NO_WORDS),
        bytes=_frozen(stored if stored_as == kernels.BYTES else _NO_BYTES),
        program=pipeline.program(),
        played=_frozen(played),
        stacks=np.array(definition.stacks, np.int64),
        mapping=translation.number,
        randomised=translation.randomised,
        seed=np.uint64(seed % 2**64),
    )


def strategy_seat(
    strategy: Strategy, definition: GameDefinition, pipeline: Pipeline, seed: int, translation: Translation
) -> Seat:
    return make_seat(strategy.tree, strategy.stored, definition, pipeline, seed, translation)


def empty_seat(definition: GameDefinition) -> Seat:
    """A seat without a strategy, for a kernel that takes one but does not read it."""
    tree = Tree(np.zeros(0, NODE_DTYPE), np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((0, 2), np.int32))
    return make_seat(tree, _NO_FLOATS, definition, Pipeline(), 0)


class Trace(NamedTuple):
    """How an answer came about."""

    readings: npt.NDArray[
        np.int32
    ]  # [n, 3]: the two nodes each action may be read as, and where the tracker then stood
    chances: npt.NDArray[np.float64]  # [n]: of the first
    answers: npt.NDArray[np.int64]  # [A, 2]: kind and raise_to of each child of the last node


class Step(NamedTuple):
    """One real action and how it was read."""

    player: int
    text: str
    smaller: int  # the node it was read as with probability `chance`,
    larger: int  # and otherwise
    chance: float
    node: int  # where the tracker then stood, on the street to be played


class Answer(NamedTuple):
    """What a strategy does in a state, and at which abstract node."""

    node: int
    child: int
    action: Action


class Tracker:
    """Follows hands from one seat. Not thread-safe: it owns its scratch memory."""

    def __init__(self, seat: Seat, definition: GameDefinition):
        self.seat = seat
        self.definition = definition
        self.scratch = make_scratch()
        most = definition.num_rounds * MAX_ACTIONS_PER_ROUND
        self._trace = Trace(np.zeros((most, 3), np.int32), np.zeros(most), np.empty((_MAX_CHILDREN, 2), np.int64))
        self._rules = table_rules(definition)
        self._hand = np.zeros(NUM_FIELDS, np.int64)

    def answer(self, betting: BettingState, position: int, hand_number: int, buckets: Sequence[int]) -> Answer:
        """The answer of `position`, who is to act; `buckets` are his on the streets so far. The rows stay in `scratch`."""
        actions = [action for part in betting.actions for _, action in part]
        node, child, kind, raise_to = kernels.answer(
            self.seat,
            self._rules,
            self._hand,
            position,
            hand_number,
            np.array(actions, np.int64).reshape(-1, 2),
            np.array(buckets, np.int64),
            self.scratch,
            self._trace,
        )
        return Answer(node, child, Action(kind, raise_to))

    def steps(self, betting: BettingState) -> list[Step]:
        """How each action was read on the way to the last answer."""
        history = [entry for part in betting.actions for entry in part]
        return [
            Step(player, action.text(self.definition.limit), int(smaller), int(larger), float(chance), int(node))
            for (player, action), (smaller, larger, node), chance in zip(
                history, self._trace.readings, self._trace.chances
            )
        ]

    def real_actions(self, node: int) -> list[Action]:
        """The abstract actions of the last answer's node, in chips."""
        count = int(self.seat.tree.nodes[node]["num_children"])
        return [Action(int(kind), int(raise_to)) for kind, raise_to in self._trace.answers[:count]]


def abstract_history(tree: Tree, node: int) -> str:
    """The abstract betting that leads to a node, as a dealer would write it."""
    parts: list[str] = []
    while node > 0:
        code = int(tree.action[node])
        parts.append("/" if code == NO_ACTION else action_of_code(code).text(False))
        node = int(tree.parent[node])
    return "".join(reversed(parts))
