"""A secret that the machines of one comparison share: tasks and results without its signature are dropped.

HMAC-SHA256 (RFC 2104) over a message as it is sent, the signature left out. Without the secret a publisher on a
worker's topic can neither have work done nor have results counted. A message can still be replayed: repeats count once.
"""

import hashlib
import hmac
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from foldwise.game.errors import DefinitionError
from foldwise.matches.network.messages import BlockResult, MessageError, Task

SECRET = "FOLDWISE_JOB_SECRET"
_LEAST_BYTES = 16
Signed = TypeVar("Signed", Task, BlockResult)


class Signer:
    """Signs and checks; without a secret it does neither."""

    def __init__(self, secret: bytes | None = None):
        self._secret = secret

    def sign(self, message: Signed) -> Signed:
        if self._secret is None:
            return message
        return message.model_copy(update={"signature": self._signature(self._secret, message)})

    def check(self, message: Signed) -> Signed:
        """The message; raises `MessageError` if its signature is missing or wrong."""
        if self._secret is not None:
            expected = self._signature(self._secret, message)
            if not hmac.compare_digest(expected, message.signature or ""):
                raise MessageError(
                    f"a {type(message).__name__} without the right signature: do all sides have {SECRET}?"
                )
        return message

    @staticmethod
    def _signature(secret: bytes, message: Signed) -> str:
        kind = type(message).__name__.encode()
        return hmac.new(
            secret, kind + message.model_dump_json(exclude={"signature"}).encode(), hashlib.sha256
        ).hexdigest()


def read_signer(environment: Mapping[str, str] | None = None) -> Signer:
    """The signer of FOLDWISE_JOB_SECRET, or of the file that FOLDWISE_JOB_SECRET_FILE names."""
    given = os.environ if environment is None else environment
    path = given.get(f"{SECRET}_FILE")
    try:
        text = given.get(SECRET) if path is None else Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise DefinitionError(f"{SECRET}_FILE {path!r} cannot be read ({error})") from None
    if text is None:
        return Signer()
    secret = text.encode()
    if len(secret) < _LEAST_BYTES:
        raise DefinitionError(f"{SECRET} has {len(secret)} bytes: expected {_LEAST_BYTES} or more")
    return Signer(secret)
