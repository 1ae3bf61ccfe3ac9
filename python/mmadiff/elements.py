"""Single elements of a matrix product: how a plan forms them, and which say most about it."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import arrays, bits, drawing, html
from .plans import Plan
from .rows import threads_for

At = Iterable[Iterable[int]]  # elements: pairs of a row and a column


class Trace:
    """How a plan forms one element of D. Prints as a report; a drawing in a notebook.

    Attributes: plan, at (row and column), k, ranges (in the plan's order: text, runs of consecutive k, stage, sum, joined, the
    sum of the stage with this range, None in trees), sum (of all k), result (the element).
    """

    def __init__(self, plan: Plan, at: tuple[int, int], k: int, traced: tuple[list[Any], int, int]) -> None:
        self.plan, self.at, self.k = plan, at, k
        ranges, total, result = traced
        trees = [stage.split(':')[-1].split()[:1] in (['tree'], ['pairs']) for stage in plan.stages]
        self.ranges = [drawing.Range(text, runs, stage, self._number(x, 'sum'),
                                     None if trees[stage] else self._number(joined, 'sum'))
                       for text, runs, stage, x, joined in ranges]
        self.sum, self.result = self._number(total, 'sum'), self._number(result, 'd')

    def _number(self, word, name):
        format = self.plan.formats[name]
        return arrays.array(np.array([word], arrays.word_type(format)), format)[0]

    def text_of(self, number: Any, name: str = 'sum') -> str:
        """'0x3f800000 = 1': a number in the format of 'sum' or 'd'."""
        format = self.plan.formats[name]
        return bits.element_text(arrays.words(np.array([number]), format)[0], format)

    def _lines(self):
        stages = self.plan.stages
        for i, one in enumerate(self.ranges):
            if i == 0 or one.stage != self.ranges[i - 1].stage:
                yield stages[one.stage], '', ''
            yield (f"{'  ' * one.stage}  k {one.text}", self.text_of(one.sum),
                   '' if one.joined is None else self.text_of(one.joined))

    def __str__(self) -> str:
        lines = [f'{self.plan}, element {list(self.at)}']
        lines += [text + (f': {of_range}' if of_range else '') + (f', joined {joined}' if joined else '')
                  for text, of_range, joined in self._lines()]
        return '\n'.join([*lines, f'sum {self.text_of(self.sum)}, result {self.text_of(self.result, "d")}'])

    __repr__ = __str__

    def _repr_html_(self):
        shown = html.table([*self._lines(), ('all k', self.text_of(self.sum), self.text_of(self.result, 'd') + ' (result)')],
                           ('range', 'sum', 'joined'))
        return self.plan.draw(self.k)._repr_html_() + shown


def trace(plan: Plan | str, a: ArrayLike, b: ArrayLike, at: Any, **operands: Any) -> Trace:
    """How a plan forms element `at` = (row, column) of D, range by range; further operands are those of the plan.

    >>> a, b = np.arange(1, 5, dtype=np.float32).reshape(1, 4), np.ones((4, 1), np.float32)
    >>> trace('x86/vfmadd231ss | every 2: add | f32', a, b, (0, 0))
    x86/vfmadd231ss | every 2: add | f32, element [0, 0]
    every 2: add
      k 0-1: 0x40400000 = 3, joined 0x40400000 = 3
      k 2-3: 0x40e00000 = 7, joined 0x41200000 = 10
    sum 0x41200000 = 10, result 0x41200000 = 10
    """
    plan = Plan(plan)
    product = matrices(plan, a, b, operands)
    [place] = places_of([at.tolist() if arrays.is_torch(at) else at], shape_of(product))
    return Trace(plan, place, product.a.shape[2], plan._core.trace(product, *place))


def matrices(plan, a, b, operands):
    product, stack = plan._product(a, b, **operands)
    if stack.lead != ():
        raise ValueError(f'a and b have leading dimensions {arrays.shape_text(stack.lead)}: elements are those of two matrices')
    return product


def places_of(at, shape):
    """Pairs of integers, elements of a matrix of this shape."""
    if arrays.is_torch(at):
        at = at.tolist()
    listed = list(at) if isinstance(at, Iterable) and not isinstance(at, str) else [at]
    places = [tuple(place) if isinstance(place, Iterable) and not isinstance(place, str) else () for place in listed]
    if isinstance(at, tuple) and any(isinstance(place, np.ndarray) for place in at):
        raise TypeError('at has arrays of rows and of columns: give pairs, as numpy.argwhere does')
    if not all(len(place) == 2 and all(isinstance(x, (int, np.integer)) and not isinstance(x, (bool, np.bool_)) for x in place)
               for place in places):
        raise TypeError(f'at={at!r:.60}: elements of D, such as [(0, 0), (3, 40)]')
    for place in places:
        if not all(0 <= x < size for x, size in zip(place, shape)):
            raise ValueError(f'D has no element [{place[0]}, {place[1]}]: it is {shape[0]} x {shape[1]}')
    return [(int(row), int(column)) for row, column in dict.fromkeys(places)]


def shape_of(product):
    return product.a.shape[1], product.b.shape[2]


def witnesses(a: ArrayLike, b: ArrayLike, d: ArrayLike | None, plan: Plan | str, *, count: int = 200, seed: int = 1,
              any_nan: bool = False, threads: int | None = None, **operands: Any) -> NDArray[Any]:
    """Rows and columns of `count` elements of D that say most about its plan, shape (count, 2), from random rows and columns:
    first those where D, if it is given, is not the plan's; then those whose sums are nearest to a rounding boundary.

    A 16-bit D hides most differences of plans: few elements of thousands show them, and these are found here. A few elements
    that were changed are perhaps not in these rows and columns. any_nan: two NaNs are equal.

    >>> a, b = np.ones((64, 32), np.float16), np.ones((32, 64), np.float16)
    >>> witnesses(a, b, None, 'sm_90/wgmma.m64n8k16.f32.f16.f16 | f16', count=3).shape
    (3, 2)
    """
    plan = Plan(plan)
    if any(isinstance(x, bool) or not isinstance(x, (int, np.integer)) or not 0 <= x < 1 << 63 for x in (count, seed)):
        raise ValueError(f'count={count!r}, seed={seed!r}: integers that are not negative')
    product = matrices(plan, a, b, operands)
    words = None if d is None else result_of(plan, d, product)[np.newaxis]
    m, n = shape_of(product)
    sampled = min(count * 1024, m * n)
    found = plan._core.witnesses(product, words, int(seed), any_nan, min(int(count), m * n),
                                 threads_for(sampled * product.a.shape[2] // 16, threads))
    return np.array(found, np.int64).reshape(2, -1).T


def result_of(plan, d, product):
    words = arrays.words(d, plan.formats['d'], 'd')
    if words.shape != shape_of(product):
        raise ValueError(f'd has the shape {arrays.shape_text(words.shape)}; it must have '
                         f'{arrays.shape_text(shape_of(product))}')
    return words


def bits_of(x: Any) -> Any:
    """The words of a number or an array, as raw words or numbers."""
    return arrays.read(np.asarray(x) if not arrays.is_torch(x) else x)[0]
