"""How much is played: hands, or boards when scoring by expectation."""

from foldwise.cli.support.output import stderr
from foldwise.game.errors import DefinitionError


def counted_by(score: str) -> str:
    """The option that says how much is played."""
    return "--boards" if score == "expectation" else "--hands"


def hands_or_boards(hands: int | None, boards: int | None, score: str, default: int) -> int:
    """Hands from each side, or boards. Each has its own option; --hands for boards still works, with a note."""
    if boards is not None and score != "expectation":
        raise DefinitionError(f"--boards with --score {score}: boards are scored by expectation; give --hands")
    if boards is not None and hands is not None:
        raise DefinitionError("--boards and --hands: by expectation both mean the boards; give --boards")
    if hands is not None and score == "expectation":
        stderr.print(f"foldwise: by expectation --hands {hands} counts boards: it is now --boards {hands}")
    return boards or hands or default
