"""The application: the routes of the page and of Slumbot's HTTP interface, behind the guard."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

from starlette.applications import Starlette
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from foldwise.search.settings import AUTO, OFF, seat_search
from foldwise.web.connection.assets import asset_routes
from foldwise.web.connection.guard import Access, Guard
from foldwise.web.routes.door import Door
from foldwise.web.routes.explore import ExploreRoutes
from foldwise.web.routes.play import PlayRoutes
from foldwise.web.routes.review import ReviewRoutes
from foldwise.web.routes.train import TrainRoutes
from foldwise.web.routes.watch import WatchRoutes
from foldwise.web.table.opponents import DEFAULT_BOT, Opponent, Opponents
from foldwise.web.table.scores import StrategyValues
from foldwise.web.table.sessions import Sessions
from foldwise.web.table.solving import SolveQueue

TRAINING = "training"  # drill scores, kept beside the sessions


@dataclass(frozen=True)
class TableSettings:
    """The options of `foldwise serve`."""

    sessions_folder: Path
    strategies: tuple[Path, ...] = ()
    search: str = AUTO  # or what is inside search(...)
    postprocess: str = "none"  # of the first strategy
    matches: tuple[Path, ...] = ()  # folders of match folders
    broker: str | None = None
    access: Access = field(default_factory=Access)


def make_app(settings: TableSettings) -> ASGIApp:
    """The whole application."""
    opponents = Opponents(settings.strategies)
    solving, looking = SolveQueue(), SolveQueue()  # so that a long solve does not block lookups
    sessions = Sessions(settings.sessions_folder, opponents, solving)
    first = Opponent(name=(opponents.names() or [DEFAULT_BOT])[0])
    search = OFF if first.is_bot else seat_search(settings.search, opponents.definition(first))
    if not first.is_bot:
        first = Opponent(name=first.name, search=search, postprocess=settings.postprocess)
    opponents.warm_up(first)
    values = StrategyValues(opponents)
    play = PlayRoutes(sessions, values, looking, solving, first)
    watching = WatchRoutes(settings.matches, settings.broker, looking)
    routes: list[BaseRoute] = [
        *Door(sessions, first, settings.access).routes(),  # first: routes are tried in this order
        *asset_routes(),
        *play.routes(),
        *ReviewRoutes(opponents, values, looking, solving, play).routes(),
        *ExploreRoutes(opponents, looking, solving).routes(),
        *TrainRoutes(settings.sessions_folder / TRAINING, opponents, values, looking).routes(),
        *watching.routes(),
    ]

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        watching.start()
        yield
        watching.stop()

    return Guard(Starlette(routes=routes, lifespan=lifespan), settings.access)
