"""The bucket kinds: one table that says of each `method` of a config where it may be used and who makes its buckets.

The table holds names only, so a config can name a kind without loading a kernel. `game.sources` follows the names: what is
kept of a card abstraction is named by the sources of its makers too.
"""

from difflib import get_close_matches
from importlib import import_module
from typing import Any, Final, NamedTuple


class BucketKind(NamedTuple):
    """A line of the table."""

    maker: str  # MODULE:NAME, called with a `card_building.Builder`, a street and its `StreetCards`
    streets: tuple[int, ...] = (0, 1, 2, 3)
    instead: str = ""  # what to use on the other streets
    has_buckets: bool = True  # their number is given
    in_clusters: bool = True  # within public clusters of flops
    keeps_centres: bool = False  # outside of clusters, so that it can be labelled again without training


_LOSSLESS = "foldwise.abstraction.cards.lossless:lossless_buckets"
_RAW = "foldwise.abstraction.cards.lossless:raw_buckets"
_PERCENTILE = "foldwise.abstraction.cards.percentile:percentile_buckets"
_KMEANS_EMD = "foldwise.abstraction.cards.clustering:kmeans_emd_buckets"
_KMEANS_POTENTIAL = "foldwise.abstraction.cards.potential:kmeans_potential_buckets"
_KMEANS_OCHS = "foldwise.abstraction.cards.clustering:kmeans_ochs_buckets"

BUCKET_KINDS: Final[dict[str, BucketKind]] = {
    "lossless": BucketKind(_LOSSLESS, has_buckets=False, in_clusters=False),
    "none": BucketKind(_RAW, (0, 1), "lossless or buckets", has_buckets=False, in_clusters=False),
    "percentile-nested": BucketKind(_PERCENTILE, (1, 2, 3), "percentile", in_clusters=False),
    "percentile": BucketKind(_PERCENTILE),
    "kmeans-emd": BucketKind(_KMEANS_EMD, (1, 2), "percentile or kmeans-ochs", keeps_centres=True),
    "kmeans-potential": BucketKind(_KMEANS_POTENTIAL, (1,), "kmeans-emd or kmeans-ochs", in_clusters=False),
    "kmeans-ochs": BucketKind(_KMEANS_OCHS, (3,), "percentile or kmeans-emd", keeps_centres=True),
}


def check_kind(name: str) -> str:
    """The name; `ValueError` if no bucket kind has it."""
    if name not in BUCKET_KINDS:
        close = get_close_matches(name, BUCKET_KINDS, n=1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        raise ValueError(f"expected one of {', '.join(BUCKET_KINDS)}, got {name!r}{hint}")
    return name


def load_maker(kind: str) -> Any:
    """The function that makes the buckets of a kind."""
    module, _, attribute = BUCKET_KINDS[kind].maker.partition(":")
    return getattr(import_module(module), attribute)
