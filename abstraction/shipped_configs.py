"""The configs that come with foldwise: found by name from anywhere, and what each is for."""

from difflib import get_close_matches
from importlib.resources import files
from itertools import takewhile
from pathlib import Path

from foldwise.game.errors import DefinitionError

_ENDING = ".toml"


def configs_folder() -> Path:
    """In a checkout the folder `configs` at the top, in an installed package the copy it carries."""
    return Path(str(files("foldwise").joinpath("configs")))


def shipped_configs() -> dict[str, Path]:
    """Names and files, in the order of the names."""
    return {path.stem: path for path in sorted(configs_folder().glob(f"*{_ENDING}"))}


def find_config(text: str) -> Path:
    """The file of a shipped config's name or of a path; `DefinitionError` if there is neither."""
    path = Path(text)
    if path.is_file():
        return path
    shipped = shipped_configs()
    if text in shipped:
        return shipped[text]
    close = get_close_matches(path.stem, shipped, n=1, cutoff=0.7)
    hint = f": did you mean {close[0]!r}?" if close else ":"
    raise DefinitionError(
        f"config {text!r}: no such file, and no shipped config of that name{hint} 'foldwise configs' lists them"
    )


def about_config(path: Path) -> str:
    """What a config is for: its leading comment."""
    lines = takewhile(lambda line: line.startswith("#"), path.read_text(encoding="utf-8").splitlines())
    return " ".join(line.lstrip("# ").rstrip() for line in lines)
