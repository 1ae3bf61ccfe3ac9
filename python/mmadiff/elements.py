"""Single elements of a matrix product: which say most, whether they are the plan's, and how the plan forms them."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import arrays, bits, drawing, html
from .plans import Plan, block, plan_of
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
    product = _matrices(plan, a, b, operands)
    [place] = _places([at.tolist() if arrays.is_torch(at) else at], _shape(product))
    return Trace(plan, place, product.a.shape[2], plan._core.trace(product, *place))


def _matrices(plan, a, b, operands):
    product, stack = plan._product(a, b, **operands)
    if stack.lead != ():
        raise ValueError(f'a and b have leading dimensions {arrays.shape_text(stack.lead)}: elements are those of two matrices')
    return product


def _places(at, shape):
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


def _shape(product):
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
    product = _matrices(plan, a, b, operands)
    words = None if d is None else _result(plan, d, product)[np.newaxis]
    m, n = _shape(product)
    sampled = min(count * 1024, m * n)
    found = plan._core.witnesses(product, words, int(seed), any_nan, min(int(count), m * n),
                                 threads_for(sampled * product.a.shape[2] // 16, threads))
    return np.array(found, np.int64).reshape(2, -1).T


def _result(plan, d, product):
    words = arrays.words(d, plan.formats['d'], 'd')
    if words.shape != _shape(product):
        raise ValueError(f'd has the shape {arrays.shape_text(words.shape)}; it must have '
                         f'{arrays.shape_text(_shape(product))}')
    return words


def check_plan(plan: Plan | str, a: ArrayLike, b: ArrayLike, d: ArrayLike, *, at: At | None = None, any_nan: bool = False,
               threads: int | None = None, **operands: Any) -> int:
    """The number of elements of D that were compared with the plan's: those of `at`, or all. Raises AssertionError with the
    first that differs, the plans of D, and the range of k where the sums part."""
    plan = Plan(plan)
    product = _matrices(plan, a, b, operands)
    words = _result(plan, d, product)
    if words.size == 0:
        raise ValueError('D has no elements')
    if at is None:
        places = None
        want = arrays.words(plan(a, b, **operands, threads=threads), plan.formats['d'])
    else:
        places = _places(at, words.shape)
        if not places:
            raise ValueError('at has no elements')
        rows, columns = zip(*places)
        made = plan._core.elements(product, rows, columns, threads_for(len(places) * product.a.shape[2], threads))
        want, words = np.array(made, words.dtype), words[rows, columns]
    difference = bits.first_difference(words, want, plan.formats['d'], any_nan)
    if difference is not None:
        place = difference.at if places is None else places[difference.at[0]]
        wrong = bits.differ(words, want, plan.formats['d'], True) if places is None else None
        raise AssertionError('\n'.join([_summary(difference, words.size, place, plan),
                                        *_explained(plan, product, operands, _result(plan, d, product), place, wrong)]))
    return int(words.size)


def _summary(difference, size, place, plan):
    return (f'{difference.differing} of {size} elements differ, the first at {list(place)}: got {difference.got}, want '
            f'{difference.want}' + (f' (plan: {plan})' if plan is not None else ''))


_MOST = 512  # rows and columns in which plans are searched


def _some(size, wanted):
    """At most _MOST numbers below size, among them those that are wanted, at most half of these."""
    if size <= _MOST:
        return np.arange(size)
    first = np.unique(wanted)
    others = np.setdiff1d(np.arange(size), first)
    return np.sort(np.concatenate([first, np.random.default_rng(1).choice(others, _MOST - len(first), replace=False)]))


def _excerpt(plan, product, rows, columns):
    """a, b and the other operands of these rows and columns, for `plan_of`."""
    def scales_of(words, size, places):
        return words[places // block(size, len(words))]
    (m, n), given = _shape(product), {'a': product.a[0][rows], 'b': product.b[0][:, columns]}
    for name in ('c', 'bias', 'scale_a', 'scale_b', 'block_scale_a', 'block_scale_b'):
        words = getattr(product, name)
        if words is None:
            continue
        cut = (words[0][np.ix_(rows, columns)] if name == 'c' else words[0, 0, columns] if name == 'bias' else
               scales_of(words[0], m, rows) if name.endswith('_a') else scales_of(words[0].T, n, columns).T)
        format = plan.formats['c'] if name == 'c' else plan._core.scale if name.startswith('block') else plan.formats['sum']
        given[name] = cut if name.startswith('block') else arrays.array(np.ascontiguousarray(cut), format)
    return given


def _explained(plan, product, operands, words, place, wrong):
    """Lines: which plans of the same instruction give the result, `words`, instead, and where the sums of the first part from
    the plan's at `place`. wrong: the elements whose numbers are not the plan's, NaNs apart; None if they are not known."""
    if wrong is not None and not wrong.any():
        yield 'only the bits of NaNs differ'
        return
    places = np.array([place])
    if wrong is not None:
        known = np.flatnonzero(wrong)
        known = np.random.default_rng(1).choice(known, min(len(known), _MOST // 2 - 1), replace=False)
        places = np.concatenate([places, np.stack(np.unravel_index(known, words.shape), axis=1)])
    rows, columns = (_some(size, places[:, axis]) for axis, size in enumerate(words.shape))
    asked = _excerpt(plan, product, rows, columns)
    factors = {name: operands[name] for name in ('alpha', 'beta') if operands.get(name) is not None}
    cut = words[np.ix_(rows, columns)]
    where = f', in {len(rows)} x {len(columns)} of its elements' if cut.shape != words.shape else ''
    formats = {'a': product.a_format, 'b': product.b_format, 'd': plan.formats['d'], 'sum': plan.formats['sum']}
    if plan._core.scale:
        formats['scale'] = plan._core.scale
    given = {name: x for name, x in {**asked, **factors}.items() if not (factors.get('beta') == 0 and name in ('beta', 'c'))}
    try:
        found = plan_of(d=cut, **given, rows=plan.row, formats=formats)
    except (TypeError, ValueError) as error:
        yield f'plans of the result: {error}'
        return
    typed = {**asked, **factors, **{name: arrays.array(asked[name], formats[name]) for name in 'ab'}}
    if not found and not found.regions:
        own = int(np.count_nonzero(bits.differ(cut, arrays.words(plan(**typed), plan.formats['d']), plan.formats['d'], True)))
        nearest = (f'nearest: {found.nearest}, {found.differing} of {cut.size} differ' if found.differing < own else
                   f'the plan is the nearest, {own} of {cut.size} differ' if own < cut.size else 'none gives any element')
        yield f'plans of the result{where}: none of {found.tried} with this instruction gives every element; {nearest}'
        return
    if where and found.regions:
        yield f'plans of the result{where}, each in some rows and columns:'
        yield from (str(one) for one, _ in found.regions)
    else:
        yield f'plans of the result{where}: {found}'
    if plan in found.plans:
        return  # the reference is wrong
    a, b = arrays.array(product.a[0], product.a_format), arrays.array(product.b[0], product.b_format)
    traced = Trace(plan, place, product.a.shape[2], plan._core.trace(product, *place))
    others = [*found.plans, *(one for one, _ in found.regions)]
    for other in others:
        one = Trace(other, place, product.a.shape[2],
                    other._core.trace(_matrices(other, a, b, _read_by(other, operands)), *place))
        if other.formats['d'] == plan.formats['d'] and bits_of(one.result) == words[place]:
            yield parting(traced, one) + (f' (of {other})' if len(others) > 1 else '')
            return


def _read_by(plan, operands):
    """The operands that a plan reads; factors that are not given are 1."""
    given = {'alpha': 1.0, 'beta': 1.0, **operands}
    return {name: x for name, x in given.items() if x is not None and plan.reads(name)}


def bits_of(x: Any) -> Any:
    """The words of a number or an array, as raw words or numbers."""
    return arrays.read(np.asarray(x) if not arrays.is_torch(x) else x)[0]


def parting(one: Trace, other: Trace, names: tuple[str, str] = ('the plan', 'the result')) -> str:
    """Where the sums of two plans, called `names`, part at an element: in the innermost stage where they do."""
    def both(x, y, text, stage=None):
        stages = [f' ({t.plan.stages[stage]})' if stage is not None else '' for t in (one, other)]
        return f'{text} {one.text_of(x)}{stages[0]}, in {names[1]} {other.text_of(y)}{stages[1]}'
    depths = [len(t.plan.stages) for t in (one, other)]
    for stage in range(min(depths)):
        xs, ys = (sorted((x for x in t.ranges if x.stage == stage), key=lambda x: x.runs) for t in (one, other))
        for x, y in zip(xs, ys):
            if x.runs != y.runs:
                return f'k = {x.text} is a range of {names[0]}, k = {y.text} of {names[1]}'
            if bits_of(x.sum) != bits_of(y.sum):
                return both(x.sum, y.sum, f'k = {x.text} is')
            if depths[0] == depths[1] and None not in (x.joined, y.joined) and bits_of(x.joined) != bits_of(y.joined):
                return both(x.joined, y.joined, f'k = {x.text} joins to', stage)
        if len(xs) != len(ys):
            longer, name = (xs, names[0]) if len(xs) > len(ys) else (ys, names[1])
            return f'k = {longer[min(len(xs), len(ys))].text} is a range of {name} only'
    if depths[0] != depths[1]:
        deeper, name = (one, names[0]) if depths[0] > depths[1] else (other, names[1])
        return f'{name} has one more stage, {deeper.plan.stages[min(depths)]}'
    if bits_of(one.sum) != bits_of(other.sum):
        return both(one.sum, other.sum, 'the sum of all k is')
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
    if operands is not None:
        if plan is None:
            raise TypeError('operands=(a, b) needs plan=')
        given = dict(operands) if isinstance(operands, Mapping) else dict(zip('ab', operands))
        if not isinstance(operands, Mapping) and len(operands) != 2 or not {'a', 'b'} <= given.keys():
            raise TypeError("operands=(a, b), or {'a': a, 'b': b, ...} with all that the plan reads")
    x, y, format = bits.words_of_both(got, want, format)
    difference = bits.first_difference(x, y, format, any_nan)
    if difference is None:
        return
    lines = [_summary(difference, x.size, difference.at, plan)]
    if operands is not None:
        lines += _explained_product(plan, given, difference, got, want)
    elif plan is not None:
        lines.append("operands={'a': a, 'b': b, ...} names the plan of the result")
    raise AssertionError('\n'.join(lines))


def _explained_product(plan, given, difference, got, want):
    """The lines of `_explained`, or the reason that prevents them."""
    try:
        plan = Plan(plan)
        a, b, operands = given['a'], given['b'], {name: x for name, x in given.items() if name not in ('a', 'b')}
        product = _matrices(plan, a, b, operands)
        x, y = _result(plan, got, product), _result(plan, want, product)
        of_plan = trace(plan, a, b, difference.at, **operands)
        if bits_of(of_plan.result) != y[difference.at]:
            yield f"want is not the plan's, which gives {of_plan.text_of(of_plan.result, 'd')} there"
        yield from _explained(plan, product, operands, x, difference.at, bits.differ(x, y, plan.formats['d'], True))
    except (TypeError, ValueError) as error:
        yield f'plans of the result: {error}'
