"""Drawings of plans: the ranges of each stage along k."""
from __future__ import annotations

import base64
from html import escape
from typing import Any, NamedTuple

_WIDTH, _LABEL, _HEIGHT = 720, 230, 26
_COLORS = ('#4878a8', '#e49444', '#6a9f58', '#a87c9f', '#d1605e', '#85b6b2', '#967662', '#e7ca60')
_MOST_CELLS = 128  # executions that are drawn one by one
_MOST_RUNS = 600  # of a stage; more are drawn as one


class Range(NamedTuple):
    """A range of k in an element of D: `text` ('0-127'), its `runs` of consecutive k (first and end of each), the index of
    its `stage`, its `sum`, and the sum of the stage after it was `joined`."""

    text: str
    runs: list[tuple[int, int]]
    stage: int
    sum: Any
    joined: Any


class Drawing:
    """A drawing; `svg` is its text."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_html_(self):
        # An image: the style sheet of an inline SVG would hold for the whole page.
        return f'<img src="data:image/svg+xml;base64,{base64.b64encode(self.svg.encode()).decode()}">'


def of_ranges(stages: list[str], ranges: list[Range], k: int, step: int) -> Drawing:
    """A line for the executions of `step` products, then one for each stage."""
    rows: list[tuple[str, list[tuple[int, int, int]]]] = []
    if 0 < k <= _MOST_CELLS * step:
        rows.append((f'{step} products at a time', [(i, min(i + step, k), i // step) for i in range(0, k, step)]))
    for stage, text in enumerate(stages):
        if of_stage := [one for one in ranges if one.stage == stage]:
            runs = [(*run, i) for i, one in enumerate(of_stage) for run in one.runs]
            rows.append((text, runs) if len(runs) <= _MOST_RUNS else (f'{text} ({len(of_stage)} ranges)', [(0, k, 0)]))
    scale = (_WIDTH - _LABEL) / max(k, 1)
    parts = []
    for line, (text, runs) in enumerate(rows):
        y = line * _HEIGHT
        parts.append(f'<text x="0" y="{y + 17}">{escape(text)}</text>')
        parts += [f'<rect x="{_LABEL + first * scale:.2f}" y="{y + 4}" width="{max((end - first) * scale - 1, 0.5):.2f}" '
                  f'height="{_HEIGHT - 8}" fill="{_COLORS[i % len(_COLORS)]}"><title>{first} to {end - 1}</title></rect>'
                  for first, end, i in runs]
    y = len(rows) * _HEIGHT
    parts.append(f'<text x="{_LABEL}" y="{y + 14}">k = 0</text>'
                 f'<text x="{_WIDTH}" y="{y + 14}" text-anchor="end">{k - 1}</text>')
    return Drawing(f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{y + 20}" font-family="sans-serif" '
            f'font-size="13">{"".join(parts)}</svg>')
