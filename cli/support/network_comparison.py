"""Comparisons at a broker: published from this machine, or split over the workers there."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from foldwise.agent.mappings.translation import Translation
from foldwise.agent.player_spec import PlayerKind, PlayerSpec
from foldwise.cli.support.broker import open_broker, say
from foldwise.cli.support.output import ProgressLine
from foldwise.matches.duplicate.comparison import Comparison, Table, compare, comparison_of
from foldwise.matches.network.block_player import BlockPlayer, StrategyShelf
from foldwise.matches.network.block_store import BlockStore, open_job
from foldwise.matches.network.coordinator import Coordinator
from foldwise.matches.network.feed import CellProgress, published
from foldwise.matches.network.job import make_job
from foldwise.matches.network.signature import read_signer
from foldwise.matches.table.loop import run_loop


@dataclass(frozen=True)
class NetworkComparison:
    """What is compared, and at which broker."""

    table: Table
    folder: Path
    variants: Sequence[str]
    opponents: Sequence[PlayerSpec]
    translation: Translation
    url: str
    patience_seconds: float
    checked_share: float

    def publish(self, line: ProgressLine) -> Comparison:
        """Compare on this machine; the totals of every finished cell are published."""
        opened = open_broker(self.url)
        progress = CellProgress(self.table, self.folder, self.variants, self.opponents)
        say(f"match {progress.info.match} at {opened}")
        with published(opened, progress.info, say, self.patience_seconds) as feed:
            progress.feed = feed
            return compare(
                self.table,
                self.folder,
                self.variants,
                self.opponents,
                line.update,
                self.translation,
                progress.add,
            )

    def _folders(self) -> list[Path]:
        """All strategies that play: a block on which workers disagree is played again here."""
        return [self.folder, *(spec.folder for spec in self.opponents if spec.kind == PlayerKind.STRATEGY)]

    def split(self, line: ProgressLine, output: Path | None, resume: bool) -> Comparison:
        """Compare on the workers of the broker; with `output` the blocks played are kept there."""
        opened = open_broker(self.url)
        progress = CellProgress(self.table, self.folder, self.variants, self.opponents)
        job = make_job(self.table, self.folder, self.variants, self.opponents, self.translation, progress.info.match)
        if output is not None:
            job = open_job(job, output, resume)
        store = BlockStore(job, output)
        start = time.monotonic()
        say(f"match {progress.info.match} at {opened}: {len(store.blocks)} blocks, {store.num_done} of them done")
        # The coordinator's own connection already reports what happens to the broker.
        with published(opened, progress.info, lambda text: None, self.patience_seconds) as feed:
            progress.feed = feed
            progress.add_store(store, resumed=True)

            def listen() -> None:
                line.update(f"{store.num_done} of {len(store.blocks)} blocks", store.num_done / len(store.blocks))
                progress.add_store(store)

            try:
                coordinator = Coordinator(
                    opened,
                    store,
                    say,
                    listen,
                    self.patience_seconds,
                    signer=read_signer(),
                    checked_share=self.checked_share,
                    referee=BlockPlayer(StrategyShelf(*self._folders())).play,
                )
                run_loop(coordinator.run())
            finally:
                store.close()
        return comparison_of(self.table, self.variants, self.opponents, store.values, time.monotonic() - start)
