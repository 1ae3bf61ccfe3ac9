"""Single elements of a matrix product: which say most, whether they are the plan's, and how the plan forms them."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import arrays, bits, drawing, html
from .plans import Plan, plan_of
from .rows import threads_for

At = Iterable[Iterable[int]]  # elements: pairs of a row and a column


class Trace:
    """How a plan forms one element of D. Prints as a report; a drawing in a notebook.

    Attributes: plan, at (row and column), k, ranges (in the plan's order: text, runs of consecutive k, stage, sum, joined, the
    sum of the stage with this range), sum (of all k), result (the element).
    """

    def __init__(self, plan: Plan, at: tuple[int, int], k: int, traced: tuple[list[Any], int, int]) -> None:
        self.plan, self.at, self.k = plan, at, k
        ranges, total, result = traced
        self.ranges = [drawing.Range(text, runs, stage, self._number(x, 'sum'), self._number(joined, 'sum'))
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
            yield f"{'  ' * one.stage}  k {one.text}", self.text_of(one.sum), self.text_of(one.joined)

    def __str__(self) -> str:
        lines = [f'{self.plan}, element {list(self.at)}']
        lines += [text + (f': {of_range}, joined {joined}' if of_range else '') for text, of_range, joined in self._lines()]
        return '\n'.join([*lines, f'sum {self.text_of(self.sum)}, result {self.text_of(self.result, "d")}'])

    __repr__ = __str__

    def _repr_html_(self):
        shown = html.table([*self._lines(), ('all k', self.text_of(self.sum), self.text_of(self.result, 'd') + ' (result)')],
                           ('range', 'sum', 'joined'))
        return self.plan.draw(self.k)._repr_html_() + shown


def trace(plan: Plan | str, a: ArrayLike, b: ArrayLike, at: Iterable[int], **operands: Any) -> Trace:
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
    [place] = _places([at])
    product = _matrices(plan, a, b, operands)
    return Trace(plan, place, product.a.shape[2], plan._core.trace(product, *place))


def _matrices(plan, a, b, operands):
    product, stack = plan._product(a, b, **operands)
    if stack.count != 1:
        raise ValueError(f'{stack.count} products: elements are those of one')
    return product


def _places(at):
    """Pairs of integers."""
    places = [tuple(place) for place in at]
    if not all(len(place) == 2 and all(isinstance(x, (int, np.integer)) and not isinstance(x, bool) for x in place)
               for place in places):
        raise TypeError(f'at={places!r:.60}: elements of D, such as [(0, 0), (3, 40)]')
    return [(int(row), int(column)) for row, column in places]


def witnesses(a: ArrayLike, b: ArrayLike, d: ArrayLike | None, plan: Plan | str, *, count: int = 200, seed: int = 1,
              threads: int | None = None, **operands: Any) -> NDArray[Any]:
    """Rows and columns of `count` elements of D that say most about its plan, shape (count, 2), from random rows and columns:
    first those where D, if it is given, is not the plan's; then those whose sums are nearest to one with another result.

    A 16-bit D hides most differences of plans: few elements of thousands show them, and these are found here.

    >>> a, b = np.ones((64, 32), np.float16), np.ones((32, 64), np.float16)
    >>> witnesses(a, b, None, 'sm_90/wgmma.m64n8k16.f32.f16.f16 | f16', count=3).shape
    (3, 2)
    """
    plan = Plan(plan)
    product = _matrices(plan, a, b, operands)
    words = None if d is None else _result(plan, d, product)[np.newaxis]
    sampled = min(count * 1024, product.a.shape[1] * product.b.shape[2])
    found = plan._core.witnesses(product, words, seed, count, threads_for(sampled * product.a.shape[2] // 16, threads))
    return np.array(found, np.int64).reshape(2, -1).T


def _result(plan, d, product):
    words = arrays.words(d, plan.formats['d'], 'd')
    shape = product.a.shape[1], product.b.shape[2]
    if words.shape != shape and words.shape != (1, *shape):
        raise ValueError(f'd has the shape {arrays.shape_text(words.shape)}; it must have {arrays.shape_text(shape)}')
    return words.reshape(shape)


def check_plan(plan: Plan | str, a: ArrayLike, b: ArrayLike, d: ArrayLike, *, at: At | None = None, any_nan: bool = False,
               threads: int | None = None, **operands: Any) -> int:
    """The number of elements of D that were compared with the plan's: those of `at`, or all. Raises AssertionError with the
    first that differs, the plans of D, and the range of k where the sums part."""
    plan = Plan(plan)
    product = _matrices(plan, a, b, operands)
    words = _result(plan, d, product)
    if at is None:
        want = arrays.words(plan(a, b, **operands, threads=threads), plan.formats['d']).reshape(words.shape)
    else:
        places = _places(at)
        if not places:
            raise ValueError('at has no elements')
        rows, columns = zip(*places)
        made = plan._core.elements(product, rows, columns, threads_for(len(places) * product.a.shape[2], threads))
        want, words = np.array(made, words.dtype), words[rows, columns]
    difference = bits.first_difference(words, want, plan.formats['d'], any_nan)
    if difference is not None:
        place = difference.at if at is None else places[difference.at[0]]
        raise AssertionError(_message(difference, words.size, place, plan, {'a': a, 'b': b, **operands}, d))
    return int(words.size)


def _message(difference, size, place, plan, operands, got):
    """The report on elements that differ; `place` is the first."""
    text = f'{difference.differing} of {size} elements differ, the first at {list(place)}: got {difference.got}, want ' \
           f'{difference.want}'
    if plan is not None:
        text += f' (plan: {plan})'
    return text if operands is None else '\n'.join([text, *_explained(plan, operands, got, place)])


def _explained(plan, operands, got, place):
    """Which plan of the same instruction gives the result instead, and where its sums part from the plan's."""
    formats = {name: plan.formats[name] for name, x in {**operands, 'd': got}.items()
               if name in ('a', 'b', 'd') and arrays.read(x, name)[1] is None}
    if plan._core.scale:
        formats['scale'] = plan._core.scale
    try:
        found = plan_of(**operands, d=got, rows=plan.row, formats=formats)
    except ValueError as error:
        yield f'plans of the result: {error}'
        return
    yield f'plans of the result: {found}'
    given = {name: x for name, x in operands.items() if name not in ('a', 'b')}
    wanted = arrays.words(got, plan.formats['d']).reshape(found.shape)[place]
    for other in found.plans or [one for one, _ in found.regions]:
        traced = trace(other, operands['a'], operands['b'], place, **given)
        if arrays.words(np.array([traced.result]), plan.formats['d'])[0] == wanted:
            yield _parting(trace(plan, operands['a'], operands['b'], place, **given), traced)
            return


def _parting(one: Trace, other: Trace) -> str:
    """Where the sums of two plans part at an element."""
    for x, y in zip(one.ranges, other.ranges):
        if (x.runs, x.stage) != (y.runs, y.stage):
            return f'k = {x.text} is a range of the plan, k = {y.text} of the result'
        for name, of_x, of_y in (('is', x.sum, y.sum), ('joins to', x.joined, y.joined)):
            if one.text_of(of_x) != other.text_of(of_y):
                stages = (f' ({t.plan.stages[x.stage]})' for t in (one, other))
                return f'k = {x.text} {name} {one.text_of(of_x)}{next(stages)}, in the result {other.text_of(of_y)}' \
                       f'{next(stages)}'
    if len(one.ranges) != len(other.ranges):
        longer, name = (one, 'the plan') if len(one.ranges) > len(other.ranges) else (other, 'the result')
        return f'k = {longer.ranges[min(len(one.ranges), len(other.ranges))].text} is a range of {name} only'
    return f'all sums are equal, {one.text_of(one.sum)}: D is formed differently'


def assert_same_bits(got: ArrayLike, want: ArrayLike, *, format: object = None, any_nan: bool = False,
                     plan: Plan | str | None = None,
                     operands: tuple[ArrayLike, ArrayLike] | Mapping[str, Any] | None = None) -> None:
    """Raises AssertionError, with the first element that differs, unless both arrays have the same shape and bits.

    format: that of raw words; any_nan: two NaNs are equal, whatever their bits; plan: that of `want`, named in the
    message; operands: a and b of the product, or all that the plan reads by name ({'a': a, 'b': b, 'scale_a': ...}): the
    message then has the plans of `got` with the same instruction, and where their sums part from the plan's

    >>> assert_same_bits(np.float32([1, -0.0]), np.float32([1, 0]))
    Traceback (most recent call last):
    ...
    AssertionError: 1 of 2 elements differ, the first at [1]: got 0x80000000 = -0, want 0x00000000 = 0
    """
    x, y, format = bits.words_of_both(got, want, format)
    difference = bits.first_difference(x, y, format, any_nan)
    if difference is None:
        return
    if operands is not None:
        if plan is None:
            raise TypeError('operands=(a, b) needs plan=')
        operands = dict(operands) if isinstance(operands, Mapping) else dict(zip('ab', operands))
        plan = Plan(plan)
    raise AssertionError(_message(difference, x.size, difference.at, plan, operands, got))
