"""Exploring a strategy in the browser: any betting, any board, all 1,326 hands; and the same grid from a solve."""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import Field, ValidationError
from starlette.requests import Request
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from foldwise.abstraction.bet_sizes import make_menu
from foldwise.agent.mappings.translation import parse_translation
from foldwise.agent.reading.typed_state import read_betting
from foldwise.agent.strategy_player import StrategyPlayer
from foldwise.game.arrays import Float
from foldwise.game.betting import Action, BettingState
from foldwise.game.cards import parse_cards
from foldwise.game.errors import DefinitionError, FormatError
from foldwise.game.hands.hole_cards import PAIR_CARDS
from foldwise.game.hands.made_hands import DRAWS, MADE, made_hands
from foldwise.game.hands.showdown import RangeShowdown
from foldwise.game.text.action_words import action_words
from foldwise.game.text.range_text import parse_range
from foldwise.matches.report.replay import position_names, street_names
from foldwise.postprocess.language import parse_pipeline
from foldwise.search.modes import find_mode
from foldwise.search.ranges import PublicState, TableRanges
from foldwise.solver.subgame.spot import Spot, SpotProgress, SpotSolver
from foldwise.web.routes.answers import MISTAKES, Body, mistake_text, post, read_message
from foldwise.web.table.opponents import Opponents
from foldwise.web.table.solving import SolveQueue

_log = logging.getLogger(__name__)
_READING = "pseudo-harmonic deterministic"
_TURN = 2
_MOST_SECONDS = 60.0
_KEPT_TABLES = 8


class _Explore(Body):
    strategy: str = Field(max_length=100)
    betting: str = Field(default="", max_length=500)
    board: str = Field(default="", max_length=20)
    postprocess: str = Field(default="none", max_length=200)


RangeText = Annotated[str, Field(max_length=20_000, description="as in 22+, AKs, 0.5(QJo)")]


class _Solve(_Explore):
    ranges: tuple[RangeText, RangeText] = Field(default=("", ""), description="by position; empty: the strategy's")
    sizes: str | None = Field(default=None, max_length=200, description="bet sizes of this and later streets")
    seconds: float = Field(default=10.0, gt=0.0, le=_MOST_SECONDS)


class _Control(Body):
    cancel: bool = False


class ExploreRoutes:
    """The routes of the explore page."""

    def __init__(self, opponents: Opponents, looking: SolveQueue, solving: SolveQueue):
        self._opponents = opponents
        self._looking = looking
        self._solving = solving
        self._tables: dict[tuple[str, str], TableRanges] = {}  # for lookups only: not thread-safe

    def routes(self) -> list[BaseRoute]:
        return [post("/page/explore", _Explore, self._explore), WebSocketRoute("/page/solve", self._solve)]

    async def _explore(self, request: Request, body: _Explore) -> dict[str, Any]:
        return await self._looking.run(request.state.address, partial(self.look, body))

    def _open(self, body: _Explore) -> TableRanges:
        opened = self._opponents.open(body.strategy)
        definition = opened.definition
        if (definition.num_hole_cards, len(definition.deck), definition.num_players) != (2, 52, 2):
            raise DefinitionError(f"{body.strategy!r} is of another game: the grid is for two-card hold'em")
        return TableRanges(opened.player(parse_pipeline(body.postprocess), 0, parse_translation(_READING)))

    def look(self, body: _Explore) -> dict[str, Any]:
        """A node of the tree, and what every hand does there."""
        key = (body.strategy, body.postprocess)
        if key not in self._tables:
            if len(self._tables) >= _KEPT_TABLES:
                self._tables.clear()
            self._tables[key] = self._open(body)
        table = self._tables[key]
        player = table.player
        betting, board = _place(player, body)
        view = _place_view(player, betting, board)
        if view["missing_cards"] or betting.finished:
            return view
        position = betting.player_to_act
        policy = table.rows(PublicState(betting, board, position, 0))
        weights = table.follow(betting, board, position, 0).ranges[position]
        return {**view, **_grid(betting, board, policy.actions, policy.rows, weights)}

    async def _solve(self, websocket: WebSocket) -> None:
        """Run a solve and report progress; a message or a closed connection stops it early and keeps the result so far."""
        await websocket.accept()
        try:
            body = read_message(_Solve, await websocket.receive_text())
        except ValidationError as error:
            await websocket.send_json({"error": mistake_text(error)})
            return await websocket.close()
        except WebSocketDisconnect:
            return None
        loop = asyncio.get_running_loop()
        told: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        begun, stopped = threading.Event(), threading.Event()

        def tell(progress: SpotProgress) -> None:
            loop.call_soon_threadsafe(told.put_nowait, {"progress": _progress(progress)})

        def solve() -> dict[str, Any]:
            begun.set()
            return self.solve(body, tell, stopped)

        async def work() -> None:
            try:
                user = websocket.client.host if websocket.client else ""
                await told.put({"result": await self._solving.run(user, solve)})
            except asyncio.CancelledError:
                await told.put({"error": "stopped before its turn came"})
            except MISTAKES as error:
                await told.put({"error": mistake_text(error)})
            except Exception:  # noqa: BLE001  # the waiting page must be told, whatever failed
                _log.exception("a solve failed")
                await told.put({"error": "the solve failed: see the server's log"})

        async def listen() -> None:
            with contextlib.suppress(ValidationError, WebSocketDisconnect):
                read_message(_Control, await websocket.receive_text())
            stopped.set()
            if not begun.is_set():
                tasks[0].cancel()

        tasks = [asyncio.create_task(work()), asyncio.create_task(listen())]
        try:
            while True:
                message = await told.get()
                await websocket.send_json(message)
                if "progress" not in message:
                    break
            await websocket.close()
        except (WebSocketDisconnect, RuntimeError):
            pass
        finally:
            stopped.set()
            tasks[1].cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def solve(self, body: _Solve, tell: Callable[[SpotProgress], None], stopped: threading.Event) -> dict[str, Any]:
        """Solve from this place to the end of the hand; the grid of the player to act."""
        table = self._open(body)
        betting, board = _place(table.player, body)
        view = _place_view(table.player, betting, board)
        if betting.finished or view["missing_cards"] or betting.round < _TURN:
            raise DefinitionError("a solve begins on a turn or a river with somebody to act: choose board and betting")
        position = betting.player_to_act
        ranges = table.follow(betting, board, position, 0).ranges
        live = ~np.isin(PAIR_CARDS, board).any(axis=1)
        first, second = (parse_range(text) * live if text.strip() else own for text, own in zip(body.ranges, ranges))
        ranges = (first, second)
        if not (ranges[0].any() and ranges[1].any()):
            raise FormatError("a range has no hand that this board allows: give it at least one")
        menu = find_mode("normal").menu(betting)
        if body.sizes is not None:
            texts = [body.sizes] * table.player.definition.num_rounds
            menu = make_menu(texts, texts, 1.0)
        solver = SpotSolver(Spot(betting, board, ranges, menu), 1, "dcfr+", 12)
        for progress in solver.run(None, body.seconds):
            if progress is not None:
                tell(progress)
            solver.stop = stopped.is_set()
        showdown, other = RangeShowdown(board), ranges[1 - position]
        meets = showdown.meets(other)
        unit = table.player.definition.big_blind * np.where(meets, showdown.fold(other), 1.0)
        values = np.where(meets, solver.game.action_values() / unit, 0.0)
        grid = _grid(betting, board, solver.game.actions, solver.game.strategy(), ranges[position])
        shown = [
            None if row is None else np.round(values[:, pair], 3).tolist() for pair, row in enumerate(grid["hands"])
        ]
        return {**view, **grid, "values_bb": shown, **_progress(solver.measure())}


def _progress(progress: SpotProgress) -> dict[str, Any]:
    return {
        "iterations": progress.iterations,
        "seconds": round(progress.seconds, 2),
        "exploitability_mbb": progress.exploitability.exploitability_mbb,
        "pot_percent": progress.pot_percent,
    }


def _place(player: StrategyPlayer, body: _Explore) -> tuple[BettingState, tuple[int, ...]]:
    betting = read_betting(player.definition, body.betting)
    return betting, parse_cards(body.board)[: player.definition.board_sizes[betting.round]]


def _place_view(player: StrategyPlayer, betting: BettingState, board: tuple[int, ...]) -> dict[str, Any]:
    definition = player.definition
    names = position_names(definition)
    return {
        "betting": betting.betting_text(),
        "street": betting.round,
        "streets": street_names(definition),
        "path": _path(betting),
        "finished": betting.finished,
        "to_act": None if betting.finished else names[betting.player_to_act],
        "positions": names,
        "position": betting.player_to_act,
        "pot": sum(betting.spent),
        "spent": betting.spent,
        "stacks": [stack - spent for stack, spent in zip(definition.stacks, betting.spent)],
        "big_blind": definition.big_blind,
        "missing_cards": definition.board_sizes[betting.round] - len(board),
        "board_cards": definition.board_sizes[betting.round],
    }


def _path(betting: BettingState) -> list[dict[str, Any]]:
    """Every action so far, with the betting before it, so that the page can go back."""
    replay = BettingState(betting.definition)
    names = position_names(betting.definition)
    path = []
    for street, actions in enumerate(betting.actions):
        for position, action in actions:
            path.append(
                {
                    "before": replay.betting_text(),
                    "street": street,
                    "words": f"{names[position]} {action_words(replay, action, names[position])}",
                }
            )
            replay.apply(action)
    return path


def _grid(
    betting: BettingState, board: tuple[int, ...], actions: list[Action], rows: Float, weights: Float
) -> dict[str, Any]:
    """The actions with the betting each leads to, and a row for every hand: its weight, then the probabilities."""
    possible: npt.NDArray[np.bool_] = np.logical_not(np.isin(PAIR_CARDS, board).any(axis=1))
    top = float(weights[possible].max(initial=0.0))
    shares = weights / top if top > 0.0 else weights
    total = float(weights[possible].sum())
    shown: list[list[float] | None] = []
    for pair in range(len(PAIR_CARDS)):
        shown.append([round(float(value), 4) for value in (shares[pair], *rows[:, pair])] if possible[pair] else None)
    choices = []
    for number, action in enumerate(actions):
        after = betting.copy()
        after.apply(action)
        frequency = float(weights[possible] @ rows[number][possible]) / total if total > 0.0 else 0.0
        choices.append(
            {
                "text": action.text(betting.definition.limit),
                "betting": after.betting_text(),
                "frequency": frequency,
                "words": action_words(betting, action),
                "size_pot": None if betting.definition.limit else _size(betting, action),
            }
        )
    made = made_hands(board) if board else []
    return {
        "actions": choices,
        "hands": shown,
        "combos": total / top if top > 0.0 else 0.0,
        "made": [
            one and [MADE.index(one.made), *(len(MADE) + DRAWS.index(draw) for draw in one.draws)] for one in made
        ],
        "made_names": [*MADE, *DRAWS],
    }


def _size(betting: BettingState, action: Action) -> float | None:
    """A raise as a fraction of the pot after the call."""
    if action.raise_to <= betting.max_spent:
        return None
    return (action.raise_to - betting.max_spent) / (2.0 * betting.max_spent)
