"""What a config file says about solving: the sampler, its numbers, and when to stop."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from foldwise.abstraction.config import AbstractionConfig, Strict
from foldwise.solver.samplers import FULL_WIDTH, WALKS, check_sampler

# Average strategy sampling was published with beta = 10^6 for 3 x 10^12 nodes (Gibson et al. 2012): the same bonus for a
# smaller budget would keep every action sampled to the end, so the default keeps the published ratio.
_NODES_PER_BETA = 3e6
_BETA_WITHOUT_BUDGET = 1000.0


class Discount(Strict):
    """Discounting in epochs: after epoch k, regrets and strategy sums are multiplied by factors of k."""

    scheme: Literal["none", "linear", "dcfr"] = "none"
    epoch_iterations: Annotated[int, Field(ge=1, description="iterations between two discounts")] = 1_000_000
    epochs: Annotated[int, Field(ge=0, description="discounts in all; 0 never ends")] = 0
    share: Annotated[
        float | None,
        Field(gt=0, le=1, description="the epochs divide this first part of the run, instead of `epoch_iterations`"),
    ] = None

    @model_validator(mode="after")
    def _divided(self) -> "Discount":
        if self.share is not None and (self.scheme == "none" or self.epochs == 0):
            raise ValueError("share without a scheme and a number of epochs: give both, as scheme 'linear', epochs 10")
        return self

    def ends_epoch(self, iteration: int) -> int:
        """The number of the epoch that ends with an iteration in a discount; 0 where none does."""
        if self.scheme == "none" or self.share is not None or iteration % self.epoch_iterations:
            return 0
        epoch = iteration // self.epoch_iterations
        return 0 if self.epochs and epoch > self.epochs else epoch

    def factors(self, epoch: int) -> tuple[float, float, float]:
        """Factors of positive regrets, negative regrets and sums after epoch k = 1, 2, ... (Brown and Sandholm 2019)."""
        if self.scheme == "linear":
            share = epoch / (epoch + 1.0)
            return share, share, share
        positive = epoch**1.5 / (epoch**1.5 + 1.0)
        return positive, 0.5, (epoch / (epoch + 1.0)) ** 2


class SolverConfig(Strict):
    """How to solve. The first stop condition reached ends the run."""

    sampler: Annotated[
        str, AfterValidator(check_sampler), Field(description="a name of solver/samplers.py, or python:FILE.py:NAME")
    ] = "external"
    seed: Annotated[int, Field(ge=0)] = 1
    threads: Annotated[int, Field(ge=1, le=256)] = 1
    iterations: Annotated[int | None, Field(ge=1, description="stop after this many iterations")] = None
    nodes: Annotated[int | None, Field(ge=1, description="stop after this many nodes visited")] = None
    seconds: Annotated[float | None, Field(gt=0, description="stop after this much solving time")] = None
    exploitability_mbb: Annotated[float | None, Field(gt=0, description="stop once as good as this")] = None
    epsilon: Annotated[float | None, Field(gt=0, le=1, description="outcome, epsilon-greedy: 0.5; average: 0.05")] = (
        None
    )
    tau: Annotated[float, Field(ge=1, description="average: actions played more often than 1/tau are walked")] = 1000.0
    beta: Annotated[float | None, Field(ge=0, description="average: bonus; by default nodes / 3e6, or 1000")] = None
    skip_iterations: Annotated[int, Field(ge=0, description="iterations left out of the average strategy")] = 0
    average_from: Annotated[
        Literal["start", "third", "half", "two-thirds"],
        Field(
            description="where in the run the average of the finished strategy begins; `foldwise average` changes it"
        ),
    ] = "start"
    average_weights: Annotated[
        Literal["equal", "linear"], Field(description="linear: iteration t counts t in the average, to within 1/64")
    ] = "equal"
    discount: Discount = Discount()
    precision: Annotated[
        Literal["double", "single"],
        Field(
            description="of regrets and sums: single takes half the memory, rounded at random; external sampling alone"
        ),
    ] = "double"
    regret_floor_chips: Annotated[float | None, Field(lt=0, description="regrets never fall below")] = None
    prune_below_chips: Annotated[float | None, Field(lt=0, description="actions with less regret may be skipped")] = (
        None
    )
    policy: Annotated[
        Literal["rcs", "rcs-drawn", "mcs", "wcs", "mas", "was"] | None,
        Field(description="vector samplers: what draws actions; by default mas for average sampling, else mcs"),
    ] = None
    policy_weight: Annotated[
        Literal["own", "opponent", "both"], Field(description="wcs, was: whose reach weighs an infoset")
    ] = "own"
    exploration: Annotated[
        Literal["none", "count", "epsilon-greedy"], Field(description="vector samplers: mixed into the policy")
    ] = "count"
    support_share: Annotated[
        float, Field(ge=0, lt=1, description="vector samplers: share of uniform draws, so that none has probability 0")
    ] = 0.01
    sampled_actions: Annotated[int, Field(ge=1, description="robust: actions the traverser walks at a node")] = 1
    weight_power: Annotated[
        float, Field(ge=0, le=4, description="vector samplers: iteration t counts t to this power")
    ] = 0.0
    mini_batch: Annotated[
        int | None, Field(ge=1, description="vector samplers: walks that see the same strategy; by default 1 a thread")
    ] = None
    prune_share: Annotated[float, Field(ge=0, lt=1, description="share of walks that skip them")] = 0.95
    prune_from_share: Annotated[float, Field(ge=0, lt=1, description="of the run: before it, nothing is skipped")] = 0.0
    evaluate_seconds: Annotated[float, Field(ge=0, description="least solving time between evaluations")] = 0.0
    pieces: Annotated[
        bool, Field(description="chance: threads share a deal and divide the betting after the first street")
    ] = False
    checkpoint_seconds: Annotated[float, Field(gt=0, description="time between checkpoints")] = 60.0

    @model_validator(mode="after")
    def _pieces_of_chance(self) -> "SolverConfig":
        if self.pieces and self.sampler != "chance":
            raise ValueError(f"pieces with sampler {self.sampler!r}: only 'chance' divides the betting into pieces")
        if self.pieces and self.prune_below_chips is not None:
            raise ValueError("pieces with prune_below_chips: pieces of one walk cannot agree on pruning; leave one out")
        return self

    @model_validator(mode="after")
    def _of_walks(self) -> "SolverConfig":
        for key, is_set in (
            ("average_weights", self.average_weights != "equal"),
            ("discount.share", self.discount.share is not None),
            ("prune_from_share", self.prune_from_share > 0.0),
        ):
            if is_set and self.sampler not in WALKS:
                raise ValueError(f"{key} with sampler {self.sampler!r}: it is for {', '.join(WALKS)}; leave it out")
        if self.precision == "single" and self.sampler != "external":
            raise ValueError(f"precision 'single' with sampler {self.sampler!r}: it is for external; leave it out")
        if self.average_from != "start" and self.sampler in FULL_WIDTH:
            raise ValueError(
                f"average_from with sampler {self.sampler!r}: full-width schedules weigh their own averages"
            )
        return self

    @property
    def entry_bytes(self) -> int:
        """Of a regret and a strategy sum, in the tables of the walks."""
        return 8 if self.precision == "single" else 16

    @property
    def walk_epsilon(self) -> float:
        return self.epsilon if self.epsilon is not None else (0.5 if self.sampler == "outcome" else 0.05)

    @property
    def walk_beta(self) -> float:
        if self.beta is not None:
            return self.beta
        return self.nodes / _NODES_PER_BETA if self.nodes is not None else _BETA_WITHOUT_BUDGET


class Distributed(Strict):
    """A head and children that share the flop clusters of a hierarchical abstraction (Brown et al. 2015)."""

    children: Annotated[
        int | None, Field(ge=1, description="processes that share the clusters; none: the local solver")
    ] = None
    batch_iterations: Annotated[int, Field(ge=1, description="iterations of a batch once the run has warmed up")] = 512
    in_flight: Annotated[int, Field(ge=1, le=8, description="batches in flight at once")] = 2
    weigh_by_flops: Annotated[
        bool, Field(description="updates times F_{n,h} / mean F_n: unbiased; the paper has none")
    ] = True
    assignment: Annotated[tuple[tuple[int, ...], ...] | None, Field(description="clusters of each child, pinned")] = (
        None
    )


class RunConfig(AbstractionConfig):
    """A whole config file."""

    solver: SolverConfig = SolverConfig()
    distributed: Distributed | None = None

    @property
    def distributed_options(self) -> Distributed:
        return self.distributed or Distributed()
