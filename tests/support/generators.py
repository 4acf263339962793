"""Hypothesis generators of games, hands and bet menus."""

from random import Random

from hypothesis import strategies as st

from foldwise.game.betting import CALL_ACTION, FOLD_ACTION, RAISE, Action, BettingState
from foldwise.game.definition import UNLIMITED_STACK, GameDefinition, load_definition
from tests.support.places import GOLDEN

GAMES = GOLDEN / "games"
GAME_FILES = sorted(path.name for path in GAMES.iterdir())


def golden_game(name: str) -> GameDefinition:
    return load_definition(GAMES / name)


_PLAYERS = st.integers(2, 10)
_ROUNDS = st.integers(1, 4)
_STACKS = st.integers(1, 300)


@st.composite
def definitions(draw, players=_PLAYERS, rounds=_ROUNDS, limit=None, stacks=_STACKS):
    """Any playable game; limit games have equal stacks, because otherwise the reference loses chips."""
    num_players = draw(players)
    num_rounds = draw(rounds)
    is_limit = draw(st.booleans()) if limit is None else limit
    if is_limit:
        stack = draw(st.one_of(st.just(UNLIMITED_STACK), stacks) if num_players <= 4 else stacks)
        all_stacks = (stack,) * num_players
    else:
        all_stacks = tuple(draw(stacks) for _ in range(num_players))
    blinds = tuple(draw(st.integers(0, min(stack, 10))) for stack in all_stacks)
    if all(blind == stack for blind, stack in zip(blinds, all_stacks)):
        blinds = (0, *blinds[1:])
    most = st.integers(0, 5) if is_limit else st.one_of(st.just(255), st.integers(0, 5))
    num_board = tuple(draw(st.integers(0, 7 // num_rounds)) for _ in range(num_rounds))
    return GameDefinition(
        limit=is_limit,
        num_players=num_players,
        num_rounds=num_rounds,
        stacks=all_stacks,
        blinds=blinds,
        raise_sizes=tuple(draw(st.integers(1, 20)) for _ in range(num_rounds)) if is_limit else (),
        first_players=tuple(draw(st.integers(0, num_players - 1)) for _ in range(num_rounds)),
        max_raises=tuple(draw(most) for _ in range(num_rounds)),
        num_suits=4,
        num_ranks=13,
        num_hole_cards=draw(st.integers(1, 3)),
        num_board_cards=num_board,
    )


def random_action(state: BettingState, rng: Random) -> Action:
    """A legal action: mostly calls, raises of all sizes, the smallest and the largest more often than others."""
    choices = [CALL_ACTION] * 3
    if state.can_fold():
        choices.append(FOLD_ACTION)
    bounds = state.raise_range()
    if bounds is not None:
        low, high = bounds
        amounts = (low, high, rng.randint(low, high), low + int((high - low) * rng.random() ** 4))
        choices += [Action(RAISE, amount) for amount in amounts]
    return rng.choice(choices)


def random_hand(definition: GameDefinition, rng: Random) -> BettingState:
    """A finished hand of random play."""
    state = BettingState(definition)
    while not state.finished:
        state.apply(random_action(state, rng))
    return state
