"""Drawings of plans: the ranges of each stage along k."""
from __future__ import annotations

import base64
from html import escape
from typing import Any, NamedTuple

_WIDTH, _CHARACTER, _HEIGHT = 520, 7.2, 26  # of the bars; of a label's character; of a line
_COLORS = ('#4878a8', '#e49444', '#6a9f58', '#a87c9f', '#d1605e', '#85b6b2', '#967662', '#e7ca60')
_GRAY = '#b0b0b0'  # too many ranges to draw
_MOST_RUNS = 600  # of a line

_Run = tuple[int, int]  # consecutive k: the first, and the one behind the last


class Range(NamedTuple):
    """A range of k in an element of D: `text` ('0-127'), its `runs` of consecutive k (first and end of each), the index of
    its `stage`, its `sum`, and the sum of the stage after it was `joined` (None in trees)."""

    text: str
    runs: list[_Run]
    stage: int
    sum: Any
    joined: Any


class Drawing:
    """A drawing; `svg` is its text."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def __repr__(self) -> str:
        return f'a drawing: write its text `.svg`, {len(self.svg)} characters, to a file NAME.svg'

    def _repr_html_(self):
        # An image: the style sheet of an inline SVG would hold for the whole page.
        return f'<img src="data:image/svg+xml;base64,{base64.b64encode(self.svg.encode()).decode()}">'


def _pieces(runs: list[_Run], sizes: list[int]) -> list[list[_Run]]:
    """The runs, cut into pieces of so many k: the first, and then always the last of `sizes`."""
    pieces: list[list[_Run]] = []
    left, sizes = 0, list(sizes)
    for first, end in runs:
        while first < end:
            if left == 0:
                left = sizes.pop(0) if len(sizes) > 1 else sizes[0]
                pieces.append([])
            taken = min(left, end - first)
            pieces[-1].append((first, first + taken))
            first, left = first + taken, left - taken
    return pieces


def _executions(ranges: list[list[_Run]], step: int, residue: int) -> list[list[_Run]]:
    """The k of each execution: none crosses a range, and a residue comes first."""
    pieces = []
    for runs in ranges:
        count = sum(end - first for first, end in runs)
        first = (count % residue or min(residue, count)) if residue else 0
        sizes = [min(step, first - at) for at in range(0, first, step)]
        pieces += _pieces(runs, [*sizes, step])
    return pieces


def _rest(runs: list[_Run], k: int) -> list[_Run]:
    """The k that are in no run."""
    gaps, at = [], 0
    for first, end in sorted(runs):
        gaps += [(at, first)] if first > at else []
        at = max(at, end)
    return gaps + ([(at, k)] if at < k else [])


def of_ranges(stages: list[str], ranges: list[Range], k: int, step: int, residue: int = 0, lost: int = 0) -> Drawing:
    """A line for the executions of `step` products, then one for each stage, the innermost first. The last `lost` k are in
    none."""
    if k < 1:
        raise ValueError(f'k = {k}: there is nothing to draw')
    by_stage = [[one.runs for one in ranges if one.stage == stage] for stage in range(len(stages))]
    kept = k - lost
    first_tail = int(stages[0].split()[1]) if stages and stages[0].startswith('tail') else 1
    inner = next((of_stage for of_stage in by_stage if of_stage), [[(0, kept - kept % first_tail)]] if kept else [])
    lines = [(f'{step} products at a time' if step > 1 else 'one product at a time', _executions(inner, step, residue))]
    for i, (text, of_stage) in enumerate(zip(stages, by_stage)):
        if text.startswith('tail'):
            of_stage = [[run] for run in _rest([run for runs in (by_stage[i - 1] if i else inner) for run in runs], kept)]
        lines.append((text, of_stage))
    left = 12 + _CHARACTER * max(len(text) for text, _ in lines)
    scale, parts = _WIDTH / k, []
    for line, (text, of_line) in enumerate(lines):
        y, many = line * _HEIGHT, sum(map(len, of_line)) > _MOST_RUNS
        parts.append(f'<text x="4" y="{y + 17}">{escape(text)}</text>')
        count = f"{len(of_line)} {'ranges' if line else 'executions'}"
        drawn = [(0, k, _GRAY, count)] if many else [
            (*run, _COLORS[i % len(_COLORS)], f'{run[0]} to {run[1] - 1}') for i, runs in enumerate(of_line) for run in runs]
        parts += [f'<rect x="{left + first * scale:.2f}" y="{y + 4}" width="{max((end - first) * scale - 1, 0.5):.2f}" '
                  f'height="{_HEIGHT - 8}" fill="{color}"><title>{title}</title></rect>' for first, end, color, title in drawn]
        if many:
            parts.append(f'<text x="{left + _WIDTH / 2:.0f}" y="{y + 17}" text-anchor="middle">{count}</text>')
    y, width = len(lines) * _HEIGHT, left + _WIDTH + 4
    parts.append(f'<text x="{left:.0f}" y="{y + 14}">k = 0</text>'
                 f'<text x="{left + _WIDTH:.0f}" y="{y + 14}" text-anchor="end">{k - 1}</text>')
    return Drawing(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{y + 20}" font-family="sans-serif" '
                   f'font-size="13"><rect width="100%" height="100%" fill="white"/>{"".join(parts)}</svg>')
