"""What every client counts of its player."""

from dataclasses import dataclass


@dataclass
class SeatReport:
    """What a player did in a seat."""

    decisions: int = 0
    errors: int = 0  # an exception or an illegal action
