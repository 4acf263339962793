"""What the search of a flop is worth, by flop roots: the value of a whole flop over all hands, with tables behind it.

The blueprint plays itself to the flop. One seat then plays the flop's solution, the other the table's rows, and both go on
with their tables behind it, on turns and rivers that the solve has not learned from (though the values its gadget offers
come from the first 49 of them): what the solution wins more than the table's rows in its place. Beside it, what a best
response wins that bets as the tree does and picks among the continuations behind the flop: less of it than before means
that the flop is played more safely. Where turn and river are searched too, the gain need not be the same.
"""

from typing import NamedTuple

from foldwise.matches.scoring.range_ends import showdown_on
from foldwise.matches.scoring.turn_roots import StreetRoot
from foldwise.search.flop.flop_game import FlopGame
from foldwise.search.player import SearchPlayer
from foldwise.search.ranges import PublicState


class FlopGain(NamedTuple):
    """Chips per hand that reaches the root."""

    gain: float  # of the solution over the table's rows
    response_before: float  # what a best response wins from the table's rows
    response_after: float  # and from the solution


def flop_gain(search: SearchPlayer, root: StreetRoot, position: int, blocks: int = 2) -> FlopGain:
    """The gain of a seat, on `blocks` times 49 turns and rivers."""
    solved = search.solution(PublicState(root.betting, root.board, position, root.number)).subgame
    assert isinstance(solved, FlopGame)
    node = search.ranges.follow(root.betting, root.board, position, root.number).node
    game = FlopGame(solved.source, root.betting, root.board, node, root.ranges)
    game.play_blueprint()
    own, other = root.ranges[position], root.ranges[1 - position]
    mass = float(own @ showdown_on(root.board).fold(other))
    before = float(own @ game.values(position, "average", blocks))
    response_before = float(other @ game.values(1 - position, "best", blocks))
    game.play_as(position, solved)
    after = float(own @ game.values(position, "average", blocks))
    response_after = float(other @ game.values(1 - position, "best", blocks))
    return FlopGain((after - before) / mass, response_before / mass, response_after / mass)
