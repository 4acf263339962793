"""Applying a post-processing pipeline to a strategy, which no single room may do by itself."""

import numpy as np
import numpy.typing as npt

from foldwise.abstraction.abstract_game import AbstractGame
from foldwise.abstraction.strategy import Strategy
from foldwise.agent.following.node_rows import NO_STACKS, NodeRows
from foldwise.agent.following.policy_kernels import postprocess_policy
from foldwise.game.definition import parse_definition
from foldwise.postprocess.pipeline import Pipeline


def postprocessed_policy(strategy: Strategy, game: AbstractGame, pipeline: Pipeline) -> npt.NDArray[np.float32]:
    """Every row of a strategy after post-processing."""
    policy = strategy.policy(game)
    text = strategy.manifest.definition
    stacks = parse_definition(text, str(strategy.folder)).stacks if text is not None else NO_STACKS
    if pipeline.has_python:
        return NodeRows(strategy.tree, strategy.stored, stacks, pipeline).played(with_first=True)
    if pipeline.steps:
        postprocess_policy(game.tree, game.deals.num_buckets, np.array(stacks, np.int64), pipeline.program(), policy)
    return policy
