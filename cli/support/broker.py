"""Opening a broker by its URL, with a line on stderr whenever the connection changes."""

import logging
import sys

from foldwise.cli.support.output import stderr
from foldwise.matches.network.connection import Broker, read_broker


def say(text: str) -> None:
    """One line about the network, on stderr."""
    stderr.print(text, soft_wrap=True)


def open_broker(url: str) -> Broker:
    """The broker at a URL; password and certificates come from the environment."""
    logging.basicConfig(stream=sys.stderr, format="%(message)s", level=logging.WARNING)
    return read_broker(url)
