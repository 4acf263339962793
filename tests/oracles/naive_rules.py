"""Slow textbook oracles for the rules: a dealer's betting recomputed from its actions, chips counted one by one."""

from collections.abc import Sequence
from fractions import Fraction

from foldwise.game.definition import GameDefinition

MAX_ACTIONS = 64


class NaiveHand:
    """The betting of one hand, recomputed from the whole list of actions at every question.

    `actions` is [(round, player, letter, amount)]; nothing else is stored, so no state can be wrong.
    """

    def __init__(self, game: GameDefinition, letters: Sequence[tuple[str, int]] = ()):
        self.game = game
        self.history: list[tuple[str, int]] = []
        for letter, amount in letters:
            self.play(letter, amount)

    def play(self, letter: str, amount: int = 0) -> None:
        self.history.append((letter, amount))

    def replay(self) -> dict:
        """Everything there is to know, from the start of the hand."""
        game = self.game
        players = range(game.num_players)
        spent = list(game.blinds)
        out: set[int] = set()
        highest = max(game.blinds)
        minimum = 2 * highest if highest else 1
        rounds: list[list[tuple[int, str]]] = [[]]
        over = False

        def can_act() -> list[int]:
            return [p for p in players if p not in out and spent[p] < game.stacks[p]]

        def whose_turn() -> int:
            start = rounds[-1][-1][0] + 1 if rounds[-1] else game.first_players[len(rounds) - 1]
            return next((start + i) % game.num_players for i in players if (start + i) % game.num_players in can_act())

        for letter, amount in self.history:
            assert not over, "action after the end"
            player = whose_turn()
            if letter == "f":
                out.add(player)
            elif letter == "c":
                spent[player] = min(highest, game.stacks[player])
            elif game.limit:
                highest = min(highest + game.raise_sizes[len(rounds) - 1], game.stacks[player])
                spent[player] = highest
            else:
                minimum = max(minimum, amount + (amount - highest))
                highest = amount
                spent[player] = amount
            rounds[-1].append((player, letter))
            if len(out) == game.num_players - 1:
                over = True
                continue
            # Who has agreed to the price: everyone since the last raise, the raiser included, who has chips left.
            moves = rounds[-1]
            raises = [i for i, (_, move) in enumerate(moves) if move == "r"]
            since = moves[raises[-1] :] if raises else moves
            agreed = sum(1 for who, move in since if move != "f" and spent[who] < game.stacks[who])
            if agreed >= len(can_act()):
                if len(can_act()) >= 2 and len(rounds) < game.num_rounds:
                    rounds.append([])
                    minimum = highest + max(1, max(game.blinds))
                else:
                    over = True
                    if len(can_act()) < 2:
                        rounds += [[] for _ in range(game.num_rounds - len(rounds))]
        num_raises = sum(move == "r" for _, move in rounds[-1])
        bounds = None
        turn = None
        if not over:
            turn = whose_turn()
            stack = game.stacks[turn]
            if (
                num_raises < game.max_raises[len(rounds) - 1]
                and len(rounds[-1]) + game.num_players <= MAX_ACTIONS
                and len(can_act()) >= 2
            ):
                if game.limit:
                    to = min(highest + game.raise_sizes[len(rounds) - 1], stack)
                    bounds = (to, to)
                elif minimum <= stack:
                    bounds = (minimum, stack)
                elif highest < stack:
                    bounds = (stack, stack)
        return {
            "over": over,
            "round": len(rounds) - 1,
            "turn": turn,
            "spent": spent,
            "folded": [p in out for p in players],
            "raise": bounds,
            "fold": not over and spent[turn] < highest,
        }


def settle_chip_by_chip(spent: Sequence[int], folded: Sequence[bool], strengths: Sequence) -> list[Fraction]:
    """Profit of each player: the n-th chips of everybody make a small pot, shared by the best hands that paid."""
    profit = [Fraction(-chips) for chips in spent]
    for chip in range(max(spent)):
        payers = [p for p, chips in enumerate(spent) if chips > chip]
        contenders = [p for p in payers if not folded[p]]
        best = max(strengths[p] for p in contenders)
        winners = [p for p in contenders if strengths[p] == best]
        for winner in winners:
            profit[winner] += Fraction(len(payers), len(winners))
    return profit


def naive_raises(
    sizes: Sequence[tuple[str, float]], all_in_share: float, highest: int, stack: int, bounds: tuple[int, int] | None
) -> list[int]:
    """Raise-to amounts of a bet menu; `sizes` are ("every" | "min" | "all-in" | "pot", fraction)."""
    if bounds is None:
        return []
    low, high = bounds
    amounts = set()
    for name, fraction in sizes:
        if name == "every":
            return list(range(low, high + 1))
        if name == "min":
            amounts.add(low)
        elif name == "all-in":
            amounts.add(high)
        else:
            pot_after_calling = 2 * highest
            amount = max(low, highest + int(Fraction(fraction) * pot_after_calling + Fraction(1, 2)))
            amounts.add(high if amount >= Fraction(all_in_share) * stack else min(amount, high))
    return sorted(amounts)


def bluff_claim_holds(quantity: int, face: int, dice: Sequence[int]) -> bool:
    """Are there that many of the face on the table, sixes counting as any other face?"""
    return sum(1 for die in dice if die in (face, 6)) >= quantity
