"""What is wrong with a config, in the words of its writer: the section, the key, and what was probably meant."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel


def config_problem(error: Mapping[str, Any], model: type[BaseModel]) -> str:
    """One error of pydantic's as `KEY: what is wrong: what to do`; `model` is that of the whole config."""
    loc: Sequence[str | int] = error["loc"]
    place = ".".join(map(str, loc)) or "config"
    kind, given = error["type"], error.get("input")
    if kind == "extra_forbidden":
        return f"{place}: {_unknown_key(loc, model)}"
    if kind == "model_type":
        return f"{place}: got {_shown(given)}, expected a section: write [{place}] and its keys below it"
    if kind == "string_type":
        return f"{place}: got {_shown(given)}, expected text in quotes{', no section' * isinstance(given, dict)}"
    if kind == "missing":
        return f"{place}: missing: give it a value"
    text = error["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    text = text.replace("Input should be", "expected", 1)
    if kind == "literal_error" and isinstance(given, str):
        allowed = [word.strip(" '") for word in error["ctx"]["expected"].replace(" or ", ",").split(",")]
        text += _did_you_mean(given, allowed)
    return f"{place}: {text}" + ("" if kind == "value_error" else f" (got {_shown(given)})")


def _shown(value: object) -> str:
    """A value as quoted in an error: short and on one line."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number with thousands of digits, or very deep nesting
        return "more than can be shown"
    return text if len(text) <= 200 else f"{text[:200]}..."


def _unknown_key(loc: Sequence[str | int], model: type[BaseModel]) -> str:
    *path, key = loc
    section = _model_at(path, model)
    name = ".".join(str(part) for part in path if isinstance(part, str))
    keys = list(section.model_fields) if section is not None else []
    where = f"[{name}] has no such key" if name else "there is no such key or section"
    meant = _did_you_mean(str(key), keys)
    if meant:
        return where + meant
    homes = [home for home, found in _sections(model).items() if key in found.model_fields and home != name]
    if homes:
        return f"{where}: it belongs below [{homes[0]}]"
    return f"{where}: expected one of {', '.join(keys)}" if keys else where


def _did_you_mean(word: str, known: Sequence[str]) -> str:
    close = get_close_matches(word, known, 1)
    return f": did you mean {close[0]!r}?" if close else ""


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    """The models an annotation refers to, in unions and sequences too."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for part in get_args(annotation) for found in _models_in(part)]


def _model_at(path: Sequence[str | int], model: type[BaseModel]) -> type[BaseModel] | None:
    """The model of a section; a part that is no field (a number in a list, a choice in a union) stays where it is."""
    current: type[BaseModel] | None = model
    for part in path:
        if current is not None and part in current.model_fields:
            found = _models_in(current.model_fields[str(part)].annotation)
            current = found[0] if found else None
    return current


def _sections(model: type[BaseModel]) -> dict[str, type[BaseModel]]:
    found = {name: _models_in(field.annotation) for name, field in model.model_fields.items()}
    return {name: models[0] for name, models in found.items() if models}
