"""The part of a config file that defines the abstract game: the game, its cards and its bets. Unknown keys are refused."""

import tomllib
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from foldwise.abstraction.bet_sizes import make_menu
from foldwise.abstraction.cards.card_config import CardConfig
from foldwise.abstraction.config_errors import config_problem
from foldwise.game.definition import parse_definition
from foldwise.game.errors import DefinitionError
from foldwise.game.library import Game, PokerGame, file_game, find_game, is_built_in
from foldwise.game.trees.tree import EVERY_SIZE, BetMenu


class Strict(BaseModel):
    """Refuses unknown keys, so that a typo does not silently become a default."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Bets(Strict):
    """Bet sizes, one text per street, in the language of `abstraction.bet_sizes`."""

    streets: tuple[str, ...] = ()
    player_0: Annotated[tuple[str, ...], Field(description="instead of `streets`, for the big blind")] = ()
    player_1: Annotated[tuple[str, ...], Field(description="instead of `streets`, for the button")] = ()
    all_in_share: Annotated[
        float, Field(gt=0.0, le=1.0, description="sizes from this share of the stack on: all-in")
    ] = 1.0

    @model_validator(mode="after")
    def _sizes_for_both(self) -> "Bets":
        if not self.streets and not (self.player_0 and self.player_1):
            raise ValueError("give `streets`, or both `player_0` and `player_1`")
        return self

    def menu(self) -> BetMenu:
        return make_menu(self.player_0 or self.streets, self.player_1 or self.streets, self.all_in_share)


class AbstractionConfig(Strict):
    """The part of a config that defines the abstract game."""

    name: str
    game: Annotated[str, Field(description="a built-in game, or the path of a .game file from the config's folder")]
    definition: Annotated[
        str | None, Field(description="what that file says: kept, so that nothing needs the file afterwards")
    ] = None
    cards: CardConfig | None = None
    bets: Bets | None = None
    joint_boards: Annotated[
        int | None,
        Field(
            ge=0,
            description="of 134,459 suit-distinct boards, those counted into the joint distribution of nested buckets; "
            "by default all up to 1,296 bucket sequences, beyond that none",
        ),
    ] = None

    def find_game(self) -> Game:
        """The game, from its stored definition if there is one."""
        if self.definition is None:
            return find_game(self.game)
        return file_game(Path(self.game), parse_definition(self.definition, source=self.game))

    def check(self) -> None:
        """Check that the parts fit the game; raises `DefinitionError`."""
        game = self.find_game()
        streets = game.num_streets
        if self.bets is not None:
            if not isinstance(game, PokerGame):
                raise DefinitionError(f"config {self.name!r}: [bets] in {self.game!r}, which is played without chips")
            for texts in (self.bets.streets, self.bets.player_0, self.bets.player_1):
                if texts and len(texts) != streets:
                    raise DefinitionError(
                        f"config {self.name!r}: bets for {len(texts)} streets, {self.game!r} has {streets}"
                    )
            menu = self.bets.menu()
            if game.definition.limit and any(
                size != EVERY_SIZE for player in menu.sizes for sets in player for sizes in sets for size in sizes
            ):
                raise DefinitionError(
                    f"config {self.name!r}: bet sizes in the limit game {self.game!r}: only 'f c *' and the cap 'f c' fit"
                )
        if self.cards is not None:
            if not isinstance(game, PokerGame):
                raise DefinitionError(f"config {self.name!r}: [cards] in {self.game!r}, which is played without cards")
            if len(self.cards.streets) != streets:
                raise DefinitionError(
                    f"config {self.name!r}: cards for {len(self.cards.streets)} streets, {self.game!r} has {streets}"
                )


_MAX_CHARACTERS = 1 << 16  # of a config: parsing a hostile one takes quadratic time
Config = TypeVar("Config", bound=AbstractionConfig)


def read_config(path: Path, model: type[Config], overrides: dict[str, Any]) -> Config:
    """Read and check a TOML config; `overrides` maps dotted keys to values that replace those of the file.

    A game named by a path is relative to the config's folder; in an override, to the working directory.
    """
    try:
        text = path.read_text(encoding="utf-8")
        if len(text) > _MAX_CHARACTERS:
            raise DefinitionError(
                f"config {str(path)!r} has {len(text)} characters, at most {_MAX_CHARACTERS} are read"
            )
        data = tomllib.loads(text)
    except DefinitionError:
        raise
    except OSError as error:
        raise DefinitionError(
            f"config {str(path)!r}: {error.strerror}: give the path of a config, see configs/"
        ) from None
    except ValueError as error:  # not TOML, not text, or a number of thousands of digits
        if "integer string conversion" in str(error):  # Python's own limit
            raise DefinitionError(
                f"config {str(path)!r} holds a number of thousands of digits: give a smaller one"
            ) from None
        raise DefinitionError(f"config {str(path)!r} is not TOML: {error}") from None
    except RecursionError:
        raise DefinitionError(f"config {str(path)!r} is nested too deep: expected a config, see configs/") from None
    data.setdefault("name", path.stem)
    for key, value in overrides.items():
        _override(data, key, value, str(path))
    if "definition" in data:
        raise DefinitionError(f"config {str(path)!r}: definition: write it to a .game file, and name that as `game`")
    name = data.get("game")
    if isinstance(name, str) and not is_built_in(name):
        game = find_game(name, None if "game" in overrides else path.parent)
        assert isinstance(game, PokerGame)
        data["definition"] = game.definition.to_text()
    return check_config(data, model, str(path))


def check_config(data: dict[str, Any], model: type[Config], source: str) -> Config:
    """Validate a config read from anywhere; errors name the key and the `source`."""
    try:
        config = model.model_validate(data)
    except ValidationError as error:
        raise DefinitionError(f"config {source!r}: {config_problem(error.errors()[0], model)}") from None
    config.check()
    return config


def _override(data: dict[str, Any], key: str, value: Any, source: str) -> None:
    *path, last = key.split(".")
    for part in path:
        data = data.setdefault(part, {})
        if not isinstance(data, dict):
            raise DefinitionError(f"config {source!r}: --set {key}: {part!r} is not a table of the config")
    data[last] = value


def parse_override(text: str) -> tuple[str, Any]:
    """`key=value` of `--set`: the value is read as TOML, or taken as text where it is not TOML."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise DefinitionError(f"--set {text!r}: expected key=value, as in --set solver.beta=1000")
    try:
        return key.strip(), tomllib.loads(f"value = {value}")["value"]
    except (ValueError, RecursionError):
        return key.strip(), value
