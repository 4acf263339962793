"""Charts as inline SVG: no script, no image file; colours come from the page's style, so they follow dark mode."""

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from foldwise.matches.report.report import Curve

_WIDTH, _HEIGHT = 480, 270  # drawn small and scaled up, so that text is readable on a phone
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 16, 12, 40
_ROW = 26


class Interval(NamedTuple):
    """A mean with the half-width of its 95% interval."""

    label: str
    mean: float
    half: float


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers from `low` to `high`, about `count` of them."""
    span = max(high - low, 1e-9)
    raw = span / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw)
    first = math.ceil(low / step - 1e-9)
    return [index * step for index in range(first, math.floor(high / step + 1e-9) + 1)]


def tick_text(value: float) -> str:
    """`1,200`, `1.5M`, `0.25`: short enough for an axis."""
    if abs(value) >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value:,.0f}" if abs(value) >= 10 or value == int(value) else f"{value:g}"


class _Scale(NamedTuple):
    low: float
    high: float
    start: float  # in pixels
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)


def _svg(height: int, title: str, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def running_chart(curve: Curve, unit: str) -> str:
    """The running total in big blinds, its 95% interval as a band."""
    seen = [*curve.total.tolist(), 0.0, *(v for v in (*curve.low.tolist(), *curve.high.tolist()) if not math.isnan(v))]
    low, high = min(seen), max(seen)
    margin = 0.05 * (high - low) or 1.0
    y = _Scale(low - margin, high + margin, _HEIGHT - _BOTTOM, _TOP)
    x = _Scale(0.0, max(float(curve.hands[-1]), 1.0), _LEFT, _WIDTH - _RIGHT)
    parts = []
    for value in ticks(y.low, y.high):
        parts.append(f'<path class="grid" d="M{_LEFT} {y(value)}H{_WIDTH - _RIGHT}"/>')
        parts.append(f'<text class="end" x="{_LEFT - 6}" y="{y(value) + 4}">{tick_text(value)}</text>')
    for value in ticks(0.0, x.high, 4):
        anchor = "end" if x(value) > _WIDTH - 3 * _RIGHT else "mid"
        parts.append(f'<text class="{anchor}" x="{x(value)}" y="{_HEIGHT - 24}">{tick_text(value)}</text>')
    parts.append(f'<path class="zero" d="M{_LEFT} {y(0.0)}H{_WIDTH - _RIGHT}"/>')
    points = list(zip(curve.hands.tolist(), curve.low.tolist(), curve.high.tolist()))
    band = [(hands, a, b) for hands, a, b in points if not math.isnan(a)]
    if len(band) > 1:
        there = " ".join(f"{x(hands)},{y(b)}" for hands, _, b in band)
        back = " ".join(f"{x(hands)},{y(a)}" for hands, a, _ in reversed(band))
        parts.append(f'<polygon class="band" points="{there} {back}"/>')
    line = " ".join(f"{x(hands)},{y(total)}" for hands, total in zip(curve.hands.tolist(), curve.total.tolist()))
    parts.append(f'<polyline class="line" points="{line}"/>')
    parts.append(f'<text class="end" x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 6}">hands</text>')
    parts.append(f'<text x="2" y="{_HEIGHT - 6}">big blinds, 95% by {escape(unit)}</text>')
    return _svg(_HEIGHT, "Running total of A in big blinds with its 95% interval", parts)


def interval_chart(rows: Sequence[Interval], title: str) -> str:
    """A dot and a bar for each row, one under the other, with zero marked."""
    bounded = [row for row in rows if math.isfinite(row.half)]
    low = min([0.0, *(row.mean - row.half for row in bounded), *(row.mean for row in rows)])
    high = max([0.0, *(row.mean + row.half for row in bounded), *(row.mean for row in rows)])
    margin = 0.05 * (high - low) or 1.0
    label_width = min(190, 14 + 6.4 * max(len(row.label) for row in rows))
    x = _Scale(low - margin, high + margin, label_width, _WIDTH - _RIGHT)
    height = _TOP + _ROW * len(rows) + _BOTTOM
    bottom = height - _BOTTOM
    parts = []
    for value in ticks(x.low, x.high, 4):
        parts.append(f'<path class="grid" d="M{x(value)} {_TOP}V{bottom}"/>')
        parts.append(f'<text class="mid" x="{x(value)}" y="{bottom + 14}">{tick_text(value)}</text>')
    parts.append(f'<path class="zero" d="M{x(0.0)} {_TOP}V{bottom}"/>')
    for index, row in enumerate(rows):
        at = _TOP + _ROW * (index + 0.5)
        parts.append(f'<text x="2" y="{at + 4}">{escape(_shortened(row.label))}</text>')
        if math.isfinite(row.half):
            parts.append(f'<path class="bar" d="M{x(row.mean - row.half)} {at}H{x(row.mean + row.half)}"/>')
        parts.append(f'<circle class="dot" cx="{x(row.mean)}" cy="{at}" r="4"/>')
    parts.append(f'<text class="end" x="{_WIDTH - _RIGHT}" y="{height - 6}">mbb per hand, 95% intervals</text>')
    return _svg(height, title, parts)


def _shortened(label: str, most: int = 28) -> str:
    return label if len(label) <= most else f"{label[: most - 1]}…"
