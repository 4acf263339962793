"""The little language of post-processing: text to `Pipeline`, lists of variants, sweeps. See docs/postprocessing.md.

    pipeline  = step { "|" step } [ "except" exemption { "+" exemption } ]
    step      = rule | "new" "(" number ")" | "classes" "(" [ option { "," option } ] ")" | "python:FILE.py:NAME"
    rule      = "none" | "purify" | "threshold" "(" number ")"
    option    = "fold" "=" number | "bets" "=" ( "together" | "split" "(" number ")" )
              | "between" "=" rule | "within" "=" rule
    exemption = "first" | "preflop" | "flop" | "turn" | "river"

Thresholds lie in 0..1; the number of a split is positive, in pots. Case and spaces do not matter, except in the name of a
user's own rule, whose path must not contain | , ( ).
"""

import itertools
import re
from collections.abc import Callable, Collection
from decimal import Decimal
from difflib import get_close_matches
from typing import Final, NamedTuple

from foldwise.postprocess.pipeline import STREETS, ClassStep, Pipeline, PythonStep, RowStep
from foldwise.postprocess.transforms import KEEP_ALL, NEVER_FOLD, ONE_BET_CLASS, PURIFY

MAX_SWEEP = 1000

PYTHON_RULE = re.compile(r"python:[^|,()]*?\.py:\w+")
_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_TOKEN = re.compile(
    rf"\s*(?:(?P<python>{PYTHON_RULE.pattern})|(?P<sweep>{_NUMBER}(?:\s*:\s*{_NUMBER}){{2}})|(?P<number>{_NUMBER})|(?P<word>[A-Za-z_]+)|(?P<mark>[|(),=+]))"
)
# Steps that are one word. A rule that is not a floor is a function over whole tables: PythonStep(word, function).
WORDS: Final[dict[str, RowStep | PythonStep]] = {"none": RowStep(KEEP_ALL), "purify": RowStep(PURIFY)}
_RULES = ("none", "purify", "threshold")
_OPTIONS = ("fold", "bets", "between", "within")


class PipelineError(ValueError):
    """Post-processing text that cannot be read. `position` counts characters from 0; the message marks it with ^."""

    def __init__(self, text: str, position: int, complaint: str) -> None:
        self.text = text
        self.position = position
        self.complaint = complaint
        marked = "".join(c if c.isprintable() else " " for c in f"{text[:position]}^{text[position:]}")
        super().__init__(f"post-processing {text!r}, character {position + 1}: {complaint}; here: {marked}")


class _Token(NamedTuple):
    kind: str  # python, sweep, number, word, mark, end
    text: str
    position: int

    def __str__(self) -> str:
        return "the end" if self.kind == "end" else repr(self.text)


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    position = 0
    end = len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            position += len(text[position:]) - len(text[position:].lstrip())
            raise PipelineError(
                text, position, f"expected a word, a number or one of | ( ) , = +, got {text[position]!r}"
            )
        kind = str(match.lastgroup)
        found = match.group(kind)
        if found.lower() == "python":
            raise PipelineError(text, match.start(kind), "expected a rule of your own as python:FILE.py:NAME")
        tokens.append(_Token(kind, found.lower() if kind == "word" else found, match.start(kind)))
        position = match.end()
    tokens.append(_Token("end", "", end))
    return tokens


def _listed(words: Collection[str]) -> str:
    *rest, last = words
    return f"{', '.join(rest)} or {last}" if rest else last


class _Parser:
    """Recursive descent over the tokens of one pipeline; one method per line of the grammar."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.next = 0

    @property
    def token(self) -> _Token:
        return self.tokens[self.next]

    def fail(self, token: _Token, complaint: str) -> PipelineError:
        return PipelineError(self.text, token.position, complaint)

    def accept(self, text: str) -> bool:
        if self.token.text != text:
            return False
        self.next += 1
        return True

    def expect(self, mark: str, where: str) -> None:
        if not self.accept(mark):
            raise self.fail(self.token, f"expected {mark!r} {where}, got {self.token}")

    def word(self, allowed: Collection[str]) -> _Token:
        token = self.token
        if token.kind != "word" or token.text not in allowed:
            close = get_close_matches(token.text, allowed, n=1)
            hint = f" (did you mean {close[0]}?)" if close else ""
            raise self.fail(token, f"expected {_listed(allowed)}, got {token}{hint}")
        self.next += 1
        return token

    def number(self, what: str, valid: Callable[[float], bool], expected: str) -> float:
        token = self.token
        if token.kind == "sweep":
            raise self.fail(
                token, f"expected one number as {what}, got the sweep {token.text!r}: sweeps are for lists of variants"
            )
        if token.kind != "number":
            raise self.fail(token, f"expected {what}, {expected}, got {token}")
        value = float(token.text)
        if not valid(value):
            raise self.fail(token, f"expected {what}, {expected}, got {token.text}")
        self.next += 1
        return value

    def in_parentheses(self, name: str, what: str, valid: Callable[[float], bool], expected: str) -> float:
        self.expect("(", f"after {name}")
        value = self.number(what, valid, expected)
        self.expect(")", f"after the number of {name}")
        return value

    def probability(self, name: str, what: str) -> float:
        return self.in_parentheses(name, what, _is_probability, "a number from 0 to 1")

    def pipeline(self) -> Pipeline:
        steps = [self.step()]
        while self.accept("|"):
            steps.append(self.step())
        first, streets = self.exemptions() if self.accept("except") else (False, frozenset[int]())
        if self.token.kind != "end":
            raise self.fail(self.token, f"expected '|', 'except' or the end, got {self.token}")
        kept = tuple(step for step in steps if step != RowStep(KEEP_ALL))
        return Pipeline(kept, first, streets) if kept else Pipeline()

    def step(self) -> RowStep | ClassStep | PythonStep:
        if self.token.kind == "python":
            self.next += 1
            return PythonStep(self.tokens[self.next - 1].text)
        name = self.word((*WORDS, "threshold", "new", "classes")).text
        if name in WORDS:
            return WORDS[name]
        if name == "new":
            return ClassStep(fold_over=self.probability("new", "a fold threshold"))
        if name == "classes":
            return self.classes()
        return RowStep(self.rule(name))

    def rule(self, name: str) -> float:
        if name == "threshold":
            return self.probability("threshold", "a threshold")
        return PURIFY if name == "purify" else KEEP_ALL

    def classes(self) -> ClassStep:
        self.expect("(", "after classes")
        fold_over, split_pot, between, within = NEVER_FOLD, ONE_BET_CLASS, PURIFY, PURIFY
        seen: set[str] = set()
        while not self.accept(")"):
            if seen:
                self.expect(",", "or ')' after an option of classes")
            option = self.word(_OPTIONS)
            if option.text in seen:
                raise self.fail(option, f"expected each option of classes once, got {option} again")
            seen.add(option.text)
            self.expect("=", f"after {option.text}")
            if option.text == "fold":
                fold_over = self.number("a fold threshold", _is_probability, "a number from 0 to 1")
            elif option.text == "bets":
                split_pot = self.bets()
            elif option.text == "between":
                between = self.rule(self.word(_RULES).text)
            else:
                within = self.rule(self.word(_RULES).text)
        return ClassStep(fold_over, split_pot, between, within)

    def bets(self) -> float:
        if self.word(("together", "split")).text == "together":
            return ONE_BET_CLASS
        return self.in_parentheses("split", "a size in pots", lambda size: 0.0 < size < ONE_BET_CLASS, "above 0")

    def exemptions(self) -> tuple[bool, frozenset[int]]:
        words = [self.word(("first", *STREETS)).text]
        while self.accept("+"):
            words.append(self.word(("first", *STREETS)).text)
        return "first" in words, frozenset(STREETS.index(word) for word in words if word != "first")


def _is_probability(value: float) -> bool:
    return 0.0 <= value <= 1.0


def parse_pipeline(text: str) -> Pipeline:
    """`"new(0.2) except preflop"` to a `Pipeline`; `PipelineError` points at the character that cannot be read."""
    return _Parser(text).pipeline()


def split_variants(text: str) -> list[str]:
    """Split a list of variants at the commas outside parentheses: `"none,threshold(0.15)"` to two texts."""
    parts: list[str] = []
    open_at: list[int] = []
    start = 0
    for position, character in enumerate(text + ","):
        if character == "(":
            open_at.append(position)
        elif character == ")":
            if not open_at:
                raise PipelineError(text, position, "expected a '(' before this ')'")
            open_at.pop()
        elif character == "," and not open_at:
            part = text[start:position]
            if not part.strip():
                raise PipelineError(text, position, "expected a variant before this comma or the end, got nothing")
            parts.append(part.strip())
            start = position + 1
    if open_at:
        raise PipelineError(text, open_at[-1], "expected a ')' for this '('")
    return parts


def parse_variants(text: str) -> list[Pipeline]:
    """A comma-separated list of variants, sweeps expanded, as pipelines in order."""
    return [parse_pipeline(single) for variant in split_variants(text) for single in expand_sweep(variant)]


def expand_sweep(text: str) -> list[str]:
    """Write out every `start:stop:step` of one variant: `"new(0:0.2:0.1)"` to new(0), new(0.1), new(0.2).

    Both ends are included; the arithmetic is decimal, so that 0.3 is 0.3. Several sweeps give all combinations, the
    last one varying fastest.
    """
    pieces: list[list[str]] = []
    start = 0
    count = 1
    for token in _tokens(text):
        if token.kind == "sweep":
            values = _sweep_values(text, token)
            count *= len(values)
            if count > MAX_SWEEP:
                raise PipelineError(text, token.position, f"expected at most {MAX_SWEEP} variants, got {count}")
            pieces += [[text[start : token.position]], values]
            start = token.position + len(token.text)
    pieces.append([text[start:]])
    return ["".join(choice) for choice in itertools.product(*pieces)]


def _sweep_values(text: str, token: _Token) -> list[str]:
    first, last, step = (Decimal(part.strip()) for part in token.text.split(":"))
    if step <= 0 or last < first:
        raise PipelineError(text, token.position, f"expected start:stop:step going up, got {token.text!r}")
    steps = (last - first) / step
    if steps >= MAX_SWEEP:
        raise PipelineError(text, token.position, f"expected at most {MAX_SWEEP} values, got {int(steps) + 1}")
    return [f"{(first + index * step).normalize():f}" for index in range(int(steps) + 1)]
