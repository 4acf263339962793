"""What stands between the network and the routes: hosts, origins, the access token, sizes, times, floods, headers.

An ASGI layer of its own: it reads the whole body, within a size and a time limit, before any route sees the request, so
that a slow or huge body costs one connection and nothing else.
"""

import asyncio
import contextlib
import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from starlette.datastructures import Headers, QueryParams
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "foldwise_access"
DOOR_PATHS = ("/api/", "/slumbot/api/")
_LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]")
_MOST_BODY = 1 << 16
_MOST_IMPORT = 8 << 20
_IMPORT_PATH = "/page/review"
_BODY_SECONDS = 10.0
_MOST_ADDRESSES = 10_000
_POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'none'"
)
_POLICY_NAME = b"content-security-policy"
_HEADERS = (
    (_POLICY_NAME, _POLICY.encode()),  # first: a route may replace it with its own
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
)
_CORS = (
    (b"access-control-allow-origin", b"*"),
    (b"access-control-allow-methods", b"POST, OPTIONS"),
    (b"access-control-allow-headers", b"content-type, authorization"),
    (b"access-control-max-age", b"86400"),
)


@dataclass(frozen=True)
class Access:
    """Who may connect."""

    token: str | None = None  # if set, everyone must give it
    local_only: bool = True  # the server listens on loopback: only loopback names are accepted as Host

    def is_token(self, given: str | None) -> bool:
        """Whether the text given is the access token."""
        if self.token is None:
            return True
        return given is not None and secrets.compare_digest(given.encode(), self.token.encode())


class Flood:
    """A rate limit per address (token bucket): `burst` requests at once, refilled at `rate` per second."""

    def __init__(self, burst: float, rate: float):
        self._burst, self._rate = burst, rate
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, address: str, now: float | None = None) -> bool:
        """Take one token from the address's bucket; False if it is empty."""
        now = time.monotonic() if now is None else now
        left, then = self._left.pop(address, (self._burst, now))
        left = min(self._burst, left + (now - then) * self._rate)
        self._left[address] = (left - 1.0 if left >= 1.0 else left, now)
        while len(self._left) > _MOST_ADDRESSES:
            self._left.popitem(last=False)
        return left >= 1.0


class _Refusal(Exception):
    def __init__(self, status: int, text: str):
        super().__init__(text)
        self.status, self.text = status, text


class Guard:
    """The ASGI layer. `scope["state"]` tells a route whether the access token was given."""

    def __init__(self, app: ASGIApp, access: Access, body_seconds: float = _BODY_SECONDS):
        self._app = app
        self._access = access
        self._body_seconds = body_seconds
        self._requests = Flood(burst=5000, rate=5000)
        self._bodies: dict[str, int] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            if scope["type"] == "http":
                await self._http(scope, receive, send)
            elif scope["type"] == "websocket":
                await self._websocket(scope, receive, send)
            else:
                await self._app(scope, receive, send)
        except asyncio.CancelledError:  # the server ends; uvicorn would print a traceback for each request in progress
            if scope["type"] == "lifespan":
                raise
            if scope["type"] == "http":
                response = JSONResponse({"error_msg": "the server was stopped: ask again when it runs"}, 503)
                with contextlib.suppress(RuntimeError):  # the answer has begun
                    await response(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        is_door = scope["path"].startswith(DOOR_PATHS)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = message.get("headers", [])
                has_policy = any(name.lower() == _POLICY_NAME for name, _ in given)
                extra = [*(_HEADERS[has_policy:]), *(_CORS if is_door else ())]
                message["headers"] = [*given, *extra]
            await send(message)

        async def answer(response: Response) -> None:
            await response(scope, receive, send_with_headers)

        address = scope["client"][0] if scope.get("client") else ""
        try:
            if is_door and scope["method"] == "OPTIONS":
                return await answer(Response(status_code=204))
            self._check_host(headers)
            if not self._requests.allows(address):
                raise _Refusal(429, "too many requests from your address: send fewer than 5,000 a second")
            given = self._given_token(scope, headers)
            scope.setdefault("state", {})["has_access"] = self._access.is_token(given)
            scope["state"]["address"] = address
            if not is_door:
                if self._access.token is not None and "token" in QueryParams(scope["query_string"]):
                    return await answer(self._enter(scope))
                if not scope["state"]["has_access"]:
                    raise _Refusal(401, "this table asks for a token: open the address that 'foldwise serve' printed")
                if scope["method"] not in ("GET", "HEAD"):
                    self._check_origin(headers, required=False)
            body = await self._body(scope, headers, receive, address)
        except _Refusal as refusal:
            response: Response = PlainTextResponse(refusal.text + "\n", refusal.status)
            if is_door or scope["path"].startswith("/page/"):
                response = JSONResponse({"error_msg": refusal.text}, refusal.status)
            return await answer(response)
        sent = False

        async def receive_body() -> Message:
            nonlocal sent
            if sent:
                return await receive()
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}

        return await self._app(scope, receive_body, send_with_headers)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        try:
            self._check_host(headers)
            self._check_origin(headers, required=True)
            if not self._access.is_token(self._given_token(scope, headers)):
                raise _Refusal(401, "no token")
        except _Refusal:
            await receive()
            await send({"type": "websocket.close", "code": 4403})  # not yet accepted, so the client sees an HTTP 403
            return
        scope.setdefault("state", {})["has_access"] = True
        await self._app(scope, receive, send)

    def _check_host(self, headers: Headers) -> None:
        """Refuse foreign Host names: another site may point a name of its own at this address (DNS rebinding)."""
        if not self._access.local_only:
            return
        name = headers.get("host", "").rpartition(":")[0] or headers.get("host", "")
        if name not in _LOCAL_NAMES and headers.get("host", "") not in _LOCAL_NAMES:
            raise _Refusal(421, "this server answers on loopback only: call it 127.0.0.1 or localhost")

    def _check_origin(self, headers: Headers, required: bool) -> None:
        origin = headers.get("origin")
        if origin is None and not required:
            return
        if origin is None or urlsplit(origin).netloc != headers.get("host"):
            raise _Refusal(403, "a page of another site may not use this table: open its own address")

    def _given_token(self, scope: Scope, headers: Headers) -> str | None:
        scheme, _, word = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return word.strip()
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return None
        return cookie.value if cookie is not None else None

    def _enter(self, scope: Scope) -> Response:
        """Handle the address with the token in it: store the token in a cookie and redirect to the address without it."""
        given = QueryParams(scope["query_string"])["token"]
        if not self._access.is_token(given):
            return PlainTextResponse("this is not the token of this table\n", 401)
        response = RedirectResponse(scope["path"] if scope["path"].startswith("/page") else "/", 303)
        response.set_cookie(COOKIE, given, httponly=True, samesite="strict", max_age=30 * 24 * 3600)
        return response

    async def _body(self, scope: Scope, headers: Headers, receive: Receive, address: str) -> bytes:
        most = _MOST_IMPORT if scope["path"].startswith(_IMPORT_PATH) else _MOST_BODY
        declared = headers.get("content-length", "0")
        if declared.isdigit() and int(declared) > most:
            raise _Refusal(413, f"a body of {int(declared):,} bytes: expected at most {most:,}")
        if self._bodies.get(address, 0) >= 200:
            raise _Refusal(429, "200 requests of your address are unfinished: finish one first")
        self._bodies[address] = self._bodies.get(address, 0) + 1
        try:
            async with asyncio.timeout(self._body_seconds):
                return await _read(receive, most)
        except TimeoutError:
            raise _Refusal(408, f"the body took longer than {self._body_seconds:g} s: send it again") from None
        finally:
            self._bodies[address] -= 1
            if not self._bodies[address]:
                del self._bodies[address]


async def _read(receive: Receive, most: int) -> bytes:
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return b""
        part = message.get("body", b"")
        size += len(part)
        if size > most:
            raise _Refusal(413, f"a body of more than {most:,} bytes: send less")
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)
