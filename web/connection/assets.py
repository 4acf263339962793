"""The page's own files: read once, served from memory, so that no path from a request ever reaches the file system."""

import hashlib
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

_KINDS = {"html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}


def asset_routes() -> list[BaseRoute]:
    """A route for each file: the page itself at `/`."""
    routes: list[BaseRoute] = []
    for entry in sorted(files("foldwise.web").joinpath("page").iterdir(), key=lambda entry: entry.name):
        kind = _KINDS.get(entry.name.rpartition(".")[2])
        if kind is not None:
            path = "/" if entry.name == "index.html" else f"/static/{entry.name}"
            routes.append(_file_route(path, entry.read_bytes(), kind))
    return routes


def _file_route(path: str, data: bytes, kind: str) -> Route:
    mark = f'"{hashlib.sha256(data).hexdigest()[:16]}"'
    headers = {"ETag": mark, "Cache-Control": "no-cache"}

    async def endpoint(request: Request) -> Response:
        if request.headers.get("if-none-match") == mark:
            return Response(status_code=304, headers=headers)
        return Response(data, media_type=kind, headers=headers)

    return Route(path, endpoint, methods=["GET"])
