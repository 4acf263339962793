"""A seat's account of time, as a dealer keeps it: so many seconds a hand, summed over the match."""


class Account:
    """What may still be spent. The dealer allows for all hands of the match from its start; this one only for those dealt."""

    def __init__(self, seconds_a_hand: float):
        self._seconds_a_hand = seconds_a_hand
        self._left = 0.0
        self._hand: int | None = None

    def left(self, hand_number: int) -> float:
        """Seconds left in a hand; each new one adds its share."""
        if hand_number != self._hand:
            self._hand = hand_number
            self._left += self._seconds_a_hand
        return self._left

    def spend(self, seconds: float) -> None:
        self._left -= seconds
