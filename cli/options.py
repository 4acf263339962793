"""Arguments and options that several commands share, each written once."""

from pathlib import Path
from typing import Annotated, Any

import typer

from foldwise.cli.support.strategies import typed_folder
from foldwise.matches.scores import SCORES

MOST_HANDS = 10**9  # of any match: more would never finish

JsonOption = Annotated[bool, typer.Option("--json", help="Print exactly one JSON object on stdout.")]
SeedOption = Annotated[int, typer.Option("--seed", help="Seed of every random number drawn.")]

ConfigArgument = Annotated[
    str, typer.Argument(metavar="CONFIG", help="A shipped config's name (foldwise configs), or a config file.")
]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a key of the config; repeatable.")
]
StrategyArgument = Annotated[
    Path,
    typer.Argument(metavar="DIR", callback=typed_folder, help="A strategy folder, a packed strategy, or default."),
]
# For commands that play: a name may bring a search and post-processing (cli.support.search_option).
PlayedArgument = Annotated[
    Path, typer.Argument(metavar="DIR", help="A strategy folder, a packed strategy, default, or champion.")
]
PostprocessOption = Annotated[str, typer.Option(help="Post-processing of the strategy, as in new(0.2).")]
TranslationOption = Annotated[str, typer.Option(help="How DIR reads bets of other sizes; see 'foldwise play --help'.")]


def output_option(about: str, metavar: str = "DIR") -> Any:
    """-o, which every command that writes has: what it writes there."""
    return typer.Option("-o", "--output", metavar=metavar, help=about)


HandsOption = Annotated[
    int | None, typer.Option(help="Hands from each side, on the same cards in every match.", min=2, max=MOST_HANDS)
]
BoardsOption = Annotated[
    int | None,
    typer.Option(help="With --score expectation, instead of --hands: boards, each from both positions.", min=2),
]
OverOption = Annotated[str, typer.Option(help="memory (compiled) or tcp (a dealer and processes).")]
SCORE_HELP = "; ".join(f"{name}: {score.about}" for name, score in SCORES.items()) + "."
ScoreOption = Annotated[str, typer.Option(help=SCORE_HELP)]
LogsOption = Annotated[
    bool, typer.Option("--logs", help="Keep every match in DIR/matches, with its hands for report; slower.")
]
ThreadsOption = Annotated[int | None, typer.Option("--threads", help="Threads; default: one per core.", min=1)]
ResumeOption = Annotated[bool, typer.Option("--resume", help="Continue what the folder of -o holds.")]
OverwriteOption = Annotated[bool, typer.Option("--overwrite", help="Replace what already exists.")]

# Help texts are rich markup, in which "[/ROOT]" would close a tag.
_BROKER_HELP = "MQTT broker, as in mqtt://HOST[:PORT]\\[/ROOT]; mqtts:// for TLS. Passwords: see docs/mqtt.md."
BrokerOption = Annotated[str | None, typer.Option("--broker", metavar="URL", help=_BROKER_HELP)]
RequiredBroker = Annotated[str, typer.Option("--broker", metavar="URL", help=_BROKER_HELP)]
PatienceOption = Annotated[
    float, typer.Option("--patience", help="Give up after this many seconds without a broker.", min=0.1)
]
