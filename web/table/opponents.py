"""Who can be played against: strategies by the name of their folder, and the built-in bots. Users never give a path."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, field_validator

from foldwise.agent.bots import BOT_CODES, Bot
from foldwise.agent.player import Player, guarded_choice, warm_up
from foldwise.agent.strategy_player import OpenStrategy, StrategyPlayer
from foldwise.game.definition import GameDefinition
from foldwise.game.errors import DefinitionError
from foldwise.game.hands.dealing import Shoe
from foldwise.game.library import find_definition
from foldwise.matches.report.hand_files import game_name
from foldwise.matches.table.hand import Hand
from foldwise.postprocess.language import parse_pipeline
from foldwise.search.language import inside_search
from foldwise.search.player import SearchPlayer
from foldwise.search.settings import SearchSettings, is_searchable

DEFAULT_BOT = "bot:strength"  # for a server without strategies
_BOT = "bot:"
_WARM_HANDS = 5
_MEASURE_SEEDS = (1, 2)


class Opponent(BaseModel):
    """An opponent as a user chooses it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(max_length=100, description="of a strategy the server has, or bot:NAME")
    postprocess: str = Field(default="none", max_length=200, description="of a strategy, as in new(0.2)")
    search: str = Field(
        default="off", max_length=80, description="off, or what a strategy solves while it plays, as in search(...)"
    )

    @field_validator("search")
    @classmethod
    def _known(cls, text: str) -> str:
        inside_search(text)
        return text

    @property
    def searches(self) -> SearchSettings | None:
        """None: its tables alone play."""
        return inside_search(self.search)

    @property
    def is_bot(self) -> bool:
        return self.name.startswith(_BOT)

    def label(self) -> str:
        """A short name for logs and pages."""
        extras = [self.postprocess] if self.postprocess != "none" else []
        extras += [f"search({self.search})"] if self.search != "off" else []
        return " ".join([self.name, *extras])


@dataclass(frozen=True)
class Offer:
    """One opponent of the list."""

    name: str
    kind: str  # "strategy" or "bot"
    game: str
    detail: str
    searchable: bool


class Opponents:
    """The strategies of a server, each opened once, and what plays them."""

    def __init__(self, folders: Sequence[Path]):
        self._folders: dict[str, Path] = {}
        self._opened: dict[str, OpenStrategy] = {}
        self._measures: dict[str, tuple[Player, Player]] = {}
        for folder in folders:
            for found in _strategy_folders(folder):
                self._folders.setdefault(_free_name(found, self._folders), found)

    def offers(self) -> list[Offer]:
        """All strategies, then the bots."""
        offers = []
        for name in self._folders:
            opened = self.open(name)
            manifest = opened.strategy.manifest
            game = game_name(opened.definition) or Path(manifest.game).stem
            detail = f"{manifest.name}, {manifest.iterations:,} iterations"
            offers.append(Offer(name, "strategy", game, detail, is_searchable(opened.definition)))
        offers += [Offer(_BOT + name, "bot", "any", "fixed rules", False) for name in BOT_CODES]
        return offers

    def open(self, name: str) -> OpenStrategy:
        """The strategy of a name."""
        if name not in self._folders:
            known = ", ".join(self._folders) or "none"
            raise DefinitionError(f"strategy {name[:100]!r} is not on this server: expected one of {known}")
        if name not in self._opened:
            self._opened[name] = OpenStrategy(self._folders[name])
        return self._opened[name]

    def folder(self, name: str) -> Path:
        """Where a strategy is; for the server's own use, never for a page."""
        self.open(name)
        return self._folders[name]

    def names(self) -> list[str]:
        return list(self._folders)

    def definition(self, opponent: Opponent) -> GameDefinition:
        """The game an opponent plays: a strategy's own; bots play the first strategy's, else no-limit hold'em."""
        if not opponent.is_bot:
            return self.open(opponent.name).definition
        return self.open(self.names()[0]).definition if self._folders else find_definition("hunl")

    def check(self, opponent: Opponent) -> None:
        """Raise for an opponent that cannot play, before anything is written about it."""
        if opponent.is_bot:
            if opponent.name.removeprefix(_BOT) not in BOT_CODES:
                raise DefinitionError(f"player {opponent.name[:100]!r}: expected bot:{', bot:'.join(BOT_CODES)}")
            return
        self.open(opponent.name)
        parse_pipeline(opponent.postprocess)

    def player(self, opponent: Opponent, seed: int) -> Player:
        """A new player for one seat."""
        if opponent.is_bot:
            return Bot(opponent.name.removeprefix(_BOT), seed)
        pipeline = parse_pipeline(opponent.postprocess)
        table = self.open(opponent.name).player(pipeline, seed)
        warm_up(table)
        settings = opponent.searches
        if settings is None:
            return table
        # One thread: the others belong to the event loop, lookups and the browser, and a second one gains little.
        return SearchPlayer(table, pipeline, settings, threads=1)

    def warm_up(self, opponent: Opponent) -> None:
        """Play a few hands of an opponent against itself, so that the first user does not wait for compilation."""
        definition = self.definition(opponent)
        players = self.measures(opponent)
        for number, deal in zip(range(_WARM_HANDS), Shoe(definition, 0).deals()):
            play_out(Hand(definition, deal, number), players)
        if opponent.search != "off":
            searching = self.player(opponent, 0)
            assert isinstance(searching, SearchPlayer)
            searching.warm_up()

    def measures(self, opponent: Opponent) -> tuple[Player, Player]:
        """The two players of the baseline, by position: the opponent twice, without search and post-processing."""
        if opponent.name not in self._measures:
            plain = Opponent(name=opponent.name)
            self._measures[opponent.name] = (
                self.player(plain, _MEASURE_SEEDS[0]),
                self.player(plain, _MEASURE_SEEDS[1]),
            )
        return self._measures[opponent.name]


def play_out(hand: Hand, players: tuple[Player, Player]) -> list[float]:
    """Let two players, by position, finish a hand; returns what each wins."""
    while not hand.betting.finished:
        state = hand.state(hand.betting.player_to_act)
        hand.apply(guarded_choice(players[state.position], state)[0])
    return hand.values()


def is_quick(player: Player, street: int) -> bool:
    """Whether a player answers from tables or rules, in microseconds, and so may run inside the event loop.

    A searching player does so on the streets it does not search: its first decisions of a hand wait for nobody's solve.
    """
    if isinstance(player, SearchPlayer):
        return player.settings.on(street) is None
    return isinstance(player, Bot | StrategyPlayer)


def free_solutions(player: Player) -> None:
    """Free what a searching player keeps between the decisions of a hand, tens of megabytes."""
    if isinstance(player, SearchPlayer):
        player.forget()


def _strategy_folders(folder: Path) -> list[Path]:
    """The folder itself if it is a strategy, else the strategies in it."""
    if (folder / "manifest.json").is_file():
        return [folder]
    if not folder.is_dir():
        raise DefinitionError(f"strategies {str(folder)!r}: no such folder: give a strategy folder or a folder of them")
    return sorted(path.parent for path in folder.glob("*/manifest.json") if _is_card_strategy(path))


def _is_card_strategy(manifest: Path) -> bool:
    """Whether the folder's manifest is that of a strategy with cards; other folders of ours have manifests too."""
    try:
        data = json.loads(manifest.read_text(encoding="utf-8"))
        return data["kind"] == "foldwise strategy" and data["definition"] is not None
    except (OSError, ValueError, LookupError, TypeError):
        return False


def _free_name(folder: Path, taken: dict[str, Path]) -> str:
    name = "".join(letter if letter.isalnum() or letter in "-_. " else "-" for letter in folder.resolve().name)
    number = 2
    free = name
    while free in taken:
        free = f"{name}-{number}"
        number += 1
    return free
