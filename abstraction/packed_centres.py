"""The k-means centres that travel with a packed strategy: its hands are labelled again where it is unpacked, not trained.

Labels come from integers alone, so they are the same on every processor; training also adds up fractions.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Annotated, Final

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from foldwise.abstraction.cards.card_abstraction import STREETS, Trained
from foldwise.abstraction.cards.card_config import CardConfig, StreetCards
from foldwise.abstraction.cards.clustering import NUM_OPPONENT_GROUPS
from foldwise.game.errors import FormatError
from foldwise.game.hands.hole_cards import NUM_PAIRS

_CENTRE_TYPE: Final = np.dtype("<i2")
_Length = Annotated[int, Field(ge=1, le=1 << 16)]


class PackedCentres(BaseModel):
    """Where the centres of a street lie behind the rows, and what they are."""

    model_config = ConfigDict(extra="forbid")

    street: Annotated[int, Field(ge=0, lt=len(STREETS))]
    shape: tuple[_Length, _Length]  # centres, numbers of each
    groups: bool  # whether the group of every opponent hand follows
    note: str
    sha256: str

    @property
    def bytes(self) -> int:
        return self.shape[0] * self.shape[1] * _CENTRE_TYPE.itemsize + (NUM_PAIRS if self.groups else 0)


def pack_centres(trained: Mapping[int, Trained]) -> tuple[list[PackedCentres], bytes]:
    """Descriptions and bytes, street after street."""
    described, parts = [], []
    for street, found in sorted(trained.items()):
        part = found.centres.astype(_CENTRE_TYPE).tobytes() + found.groups.tobytes()
        parts.append(part)
        described.append(
            PackedCentres(
                street=street,
                shape=found.centres.shape,
                groups=found.groups.size > 0,
                note=found.note,
                sha256=hashlib.sha256(part).hexdigest(),
            )
        )
    return described, b"".join(parts)


def unpack_centres(described: Sequence[PackedCentres], data: bytes, name: str, remedy: str) -> dict[int, Trained]:
    """The centres of each street; `FormatError` names the street whose bytes are not those that were packed."""
    trained, start = {}, 0
    for one in described:
        part = data[start : start + one.bytes]
        start += one.bytes
        if hashlib.sha256(part).hexdigest() != one.sha256:
            raise FormatError(
                f"{name!r} is damaged: the centres of the {STREETS[one.street]} are not those packed; {remedy}"
            )
        count = one.shape[0] * one.shape[1]
        centres = np.frombuffer(part, _CENTRE_TYPE, count).reshape(one.shape).astype(np.int16)
        groups = np.frombuffer(part, np.uint8, offset=centres.nbytes)
        trained[one.street] = Trained(centres, groups, one.note)
    return trained


def check_centres(trained: Mapping[int, Trained], config: CardConfig | None, name: str, remedy: str) -> None:
    """Refuse centres that are not of the config's buckets: kernels trust their shapes."""
    for street, found in trained.items():
        cards = config.streets[street] if config is not None and street < len(config.streets) else None
        buckets, width, groups = (0, 0, False) if cards is None else (cards.buckets or 0, *_features(cards))
        if found.centres.shape[0] > buckets or found.centres.shape[1] != width or (found.groups.size > 0) != groups:
            raise FormatError(
                f"{name!r}: {found.centres.shape[0]} centres of {found.centres.shape[1]} numbers on the "
                f"{STREETS[street]}, where its config makes {buckets} of {width}: {remedy}"
            )
        if groups and (found.groups.max() >= width or found.centres.min() < 0 or found.centres.max() > 255):
            raise FormatError(f"{name!r}: centres or groups on the {STREETS[street]} out of range: {remedy}")


def _features(cards: StreetCards) -> tuple[int, bool]:
    """How many numbers a hand is clustered by, and whether they are strengths against groups of opponents."""
    if cards.method == "kmeans-ochs":
        return NUM_OPPONENT_GROUPS, True
    return (cards.bins - 1 if cards.method == "kmeans-emd" else 0), False
