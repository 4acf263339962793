"""A comparison as a job of blocks for many machines."""

from collections.abc import Sequence
from pathlib import Path

from foldwise.agent.mappings.translation import Translation
from foldwise.agent.player_spec import PlayerKind, PlayerSpec
from foldwise.game.errors import DefinitionError
from foldwise.matches.duplicate.comparison import Table, variant_player
from foldwise.matches.network.block_player import player_name
from foldwise.matches.network.block_store import Job
from foldwise.matches.network.messages import MAX_HANDS

_MOST_PAIRS = 10_000
_LEAST_PAIRS = 500
_WANTED_BLOCKS = 64  # so that a few workers of different speed finish together


def make_job(
    table: Table,
    folder: Path,
    variants: Sequence[str],
    opponents: Sequence[PlayerSpec],
    translation: Translation,
    name: str,
) -> Job:
    """The job of a comparison; raises `DefinitionError` for what cannot be split."""
    if table.over != "memory" or any(opponent.kind == PlayerKind.PROGRAM for opponent in opponents):
        raise DefinitionError(
            "workers play in memory, and bots and strategies only: give --local to play here and publish"
        )
    if table.hands > MAX_HANDS:
        raise DefinitionError(f"{table.hands} hands from each side: at most {MAX_HANDS} can be split; change the seed")
    cells = len(variants) * len(opponents)
    pairs = min(_MOST_PAIRS, max(_LEAST_PAIRS, -(-table.hands * cells // _WANTED_BLOCKS)))
    return Job(
        job=name,
        definition=table.definition.to_text(),
        seed=table.seed,
        hands=table.hands,
        block_pairs=pairs,
        first=[player_name(variant_player(folder, variant, translation)) for variant in variants],
        second=[player_name(opponent) for opponent in opponents],
    )
