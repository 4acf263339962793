"""The application: routes of the HTTP door and of the page, behind the guard."""

from dataclasses import dataclass, field
from pathlib import Path

from starlette.applications import Starlette
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from foldwise.web.assets import asset_routes
from foldwise.web.door import Door
from foldwise.web.explore import ExploreRoutes
from foldwise.web.guard import Access, Guard
from foldwise.web.opponents import DEFAULT_BOT, Opponent, Opponents
from foldwise.web.play import PlayRoutes
from foldwise.web.review import ReviewRoutes
from foldwise.web.scores import SessionScores, StrategyValues
from foldwise.web.sessions import Sessions
from foldwise.web.solving import SolveQueue


@dataclass(frozen=True)
class TableSettings:
    """What `foldwise serve` was told."""

    sessions_folder: Path
    strategies: tuple[Path, ...] = ()
    search: str = "off"
    access: Access = field(default_factory=Access)


def make_app(settings: TableSettings) -> ASGIApp:
    """The whole application."""
    opponents = Opponents(settings.strategies)
    solving = SolveQueue()
    sessions = Sessions(settings.sessions_folder, opponents, solving)
    first = Opponent.model_validate({"name": (opponents.names() or [DEFAULT_BOT])[0], "search": settings.search})
    opponents.warm_up(first)
    values = StrategyValues(opponents)
    play = PlayRoutes(sessions, SessionScores(opponents, values), solving, first)
    routes: list[BaseRoute] = [
        *asset_routes(),
        *Door(sessions, first, settings.access).routes(),
        *play.routes(),
        *ReviewRoutes(opponents, values, solving, play).routes(),
        *ExploreRoutes(opponents, solving).routes(),
    ]
    return Guard(Starlette(routes=routes), settings.access)
