"""What all routes of the page share: request bodies validated by a model, errors answered in one line."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from foldwise.game.errors import DefinitionError, FormatError, IllegalActionError
from foldwise.postprocess.language import PipelineError
from foldwise.web.table.sessions import UnknownSessionError
from foldwise.web.table.solving import BusyError

MISTAKES = (DefinitionError, FormatError, IllegalActionError, PipelineError, UnknownSessionError, BusyError)
Model = TypeVar("Model", bound=BaseModel)


class Body(BaseModel):
    """A request from our own page; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def mistake_text(error: Exception) -> str:
    """An error in one line."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc'])) or 'request'}: {first['msg']}"
    return " ".join(str(error).split())


def post(path: str, model: type[Model], answer: Callable[[Request, Model], Awaitable[Any]]) -> Route:
    """A route that takes a JSON body and returns JSON; `answer` may return a complete response instead."""

    async def endpoint(request: Request) -> Response:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":  # a form on another site cannot send this
            return JSONResponse({"error_msg": "expected Content-Type: application/json"}, 415)
        try:
            content = await answer(request, model.model_validate_json(await request.body()))
        except (ValidationError, *MISTAKES) as error:
            return JSONResponse({"error_msg": mistake_text(error)}, 400)
        return (
            content if isinstance(content, Response) else JSONResponse(content, headers={"Cache-Control": "no-store"})
        )

    return Route(path, endpoint, methods=["POST"])


def read_message(model: type[Model], text: str) -> Model:
    """The next message of a websocket."""
    return model.model_validate_json(text)
