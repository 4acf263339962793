"""The card section of a config."""

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from foldwise.abstraction.cards.bucket_kinds import BUCKET_KINDS, check_kind

_STREETS: Final = ("preflop", "flop", "turn", "river")


class StreetCards(BaseModel):
    """Card abstraction of one street."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    method: Annotated[str, AfterValidator(check_kind)] = Field(
        description="how hands are grouped; `none` tells all hands apart, suits too"
    )
    buckets: Annotated[int, Field(ge=1, le=65536)] | None = Field(
        default=None, description="buckets, within each bucket of the street before (percentile-nested) or flop cluster"
    )
    metric: Literal["hs2", "hs"] = Field(default="hs2", description="E[HS^2] or E[HS], for the percentile methods")
    bins: int = Field(
        default=30,
        ge=2,
        le=200,
        description="kmeans-emd: of the histogram of final strength; kmeans-potential: turn's clusters",
    )
    restarts: int = Field(default=3, ge=1, le=100, description="k-means seedings tried; the best is kept")
    max_passes: int = Field(default=30, ge=1, le=1000, description="Lloyd passes at most; it stops when nothing moves")
    sample: int | None = Field(
        default=None, ge=100, description="train k-means on only this many hands (quick, inexact)"
    )
    seed: int = Field(default=1, ge=0, description="seed of the k-means seedings")

    @model_validator(mode="after")
    def _buckets_where_needed(self) -> "StreetCards":
        if (self.buckets is not None) != BUCKET_KINDS[self.method].has_buckets:
            without = " and ".join(name for name, kind in BUCKET_KINDS.items() if not kind.has_buckets)
            raise ValueError(f"method {self.method!r}: give buckets for every method but {without}")
        return self


class PublicClusters(BaseModel):
    """Public flop clusters of a hierarchical abstraction (Brown, Ganzfried and Sandholm 2015)."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    clusters: int = Field(default=60, ge=1, le=1755, description="public clusters of the 1,755 flops")
    base_buckets: int = Field(default=5000, ge=2, le=65536, description="flop buckets of the base abstraction")
    max_passes: int = Field(default=100, ge=1, description="reassignment passes at most")
    objective: Literal["sum", "mean"] = Field(
        default="sum", description="of distances to a cluster's flops; mean: fn. 4"
    )
    bins: int = Field(default=30, ge=2, le=200, description="of the base abstraction's histograms")
    seed: int = Field(default=1, ge=0, description="of the seedings")


class CardConfig(BaseModel):
    """Card abstraction of a hold'em game: one entry a street, preflop first; `public` makes it hierarchical."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    streets: list[StreetCards] = Field(min_length=1, max_length=4)
    public: PublicClusters | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> "CardConfig":
        for street, cards in enumerate(self.streets):
            where, kind = f"{_STREETS[street]}: method {cards.method!r}", BUCKET_KINDS[cards.method]
            if street not in kind.streets:
                fitting = " and the ".join(_STREETS[fit] for fit in kind.streets)
                raise ValueError(f"{where} is for the {fitting}; use {kind.instead}")
            if self.public and street > 0 and not kind.in_clusters:
                others = ", ".join(name for name, other in BUCKET_KINDS.items() if other.in_clusters)
                raise ValueError(f"{where} cannot be used within public clusters; use {others}")
        if self.public and len(self.streets) < 2:
            raise ValueError("public clusters need a flop: give at least two streets")
        return self


def keeps_centres(config: CardConfig) -> bool:
    """Whether some street keeps the centres its k-means found, outside of public clusters."""
    return config.public is None and any(BUCKET_KINDS[street.method].keeps_centres for street in config.streets)
