"""Comparisons of results with plans, and why they differ."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _core, arrays, bits
from .elements import At, Trace, bits_of, matrices, places_of, result_of, shape_of, trace
from .plans import Plan, plan_of
from .rows import threads_for

_MOST = 512  # rows and columns in which plans are searched


def check_plan(plan: Plan | str, a: ArrayLike, b: ArrayLike, d: ArrayLike, *, at: At | None = None, any_nan: bool = False,
               threads: int | None = None, **operands: Any) -> int:
    """The number of elements of D that were compared with the plan's: those of `at`, or all. Raises AssertionError with the
    first that differs, the plans of D, and the range of k where the sums part."""
    plan = Plan(plan)
    product = matrices(plan, a, b, operands)
    words = result_of(plan, d, product)
    if words.size == 0:
        raise ValueError('D has no elements')
    if at is None:
        places = None
        want = arrays.words(plan(a, b, **operands, threads=threads), plan.formats['d'])
    else:
        places = places_of(at, words.shape)
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
                                        *_explained(plan, product, operands, result_of(plan, d, product), place, wrong)]))
    return int(words.size)


def _summary(difference, size, place, plan):
    return (f'{difference.differing} of {size} elements differ, the first at {list(place)}: got {difference.got}, want '
            f'{difference.want}' + (f' (plan: {plan})' if plan is not None else ''))


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
        return words[places // _core.scale_block(size, len(words))]
    (m, n), given = shape_of(product), {'a': product.a[0][rows], 'b': product.b[0][:, columns]}
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
    rows, columns = _part(words.shape, place, wrong)
    cut = words[np.ix_(rows, columns)]
    where = f', in {len(rows)} x {len(columns)} of its elements' if cut.shape != words.shape else ''
    operands = {name: x for name, x in operands.items() if x is not None}
    asked = _excerpt(plan, product, rows, columns) | {name: operands[name] for name in ('alpha', 'beta') if name in operands}
    try:
        found = _found(plan, product, asked, cut)
    except (TypeError, ValueError) as error:
        yield f'plans of the result: {error}'
        return
    if not found and not found.regions:
        yield f'plans of the result{where}: none of {found.tried} with this instruction gives every element; ' + \
            _nearest(plan, product, asked, cut, found)
    elif where and found.regions:
        yield '\n'.join([f'plans of the result{where}, each in some rows and columns:', *(str(one) for one, _ in found.regions)])
    else:
        yield f'plans of the result{where}: {found}'
    if plan not in found.plans:  # else the reference is wrong
        yield from _parting_at(plan, product, operands, words, place, [*found.plans, *(one for one, _ in found.regions)])


def _part(shape, place, wrong):
    """Rows and columns in which plans are searched, with the place and other wrong elements."""
    places = np.array([place])
    if wrong is not None:
        known = np.flatnonzero(wrong)
        known = np.random.default_rng(1).choice(known, min(len(known), _MOST // 2 - 1), replace=False)
        places = np.concatenate([places, np.stack(np.unravel_index(known, shape), axis=1)])
    return tuple(_some(size, places[:, axis]) for axis, size in enumerate(shape))


def _found(plan, product, asked, words):
    formats = {'a': product.a_format, 'b': product.b_format, 'd': plan.formats['d'], 'sum': plan.formats['sum']}
    if plan._core.scale:
        formats['scale'] = plan._core.scale
    has_c = asked.get('beta') != 0
    given = {name: x for name, x in asked.items() if has_c or name not in ('beta', 'c')}
    return plan_of(d=words, **given, rows=plan.row, formats=formats)


def _nearest(plan, product, asked, words, found):
    typed = {**asked, 'a': arrays.array(asked['a'], product.a_format), 'b': arrays.array(asked['b'], product.b_format)}
    own = arrays.words(plan(**typed), plan.formats['d'])
    differing = int(np.count_nonzero(bits.differ(words, own, plan.formats['d'], True)))
    if found.differing < differing:
        return f'nearest: {found.nearest}, {found.differing} of {words.size} differ'
    return f'the plan is the nearest, {differing} of {words.size} differ' if differing < words.size else 'none gives any element'


def _parting_at(plan, product, operands, words, place, others):
    """Where the sums of the first other plan that gives the element part from the plan's."""
    a, b, k = arrays.array(product.a[0], product.a_format), arrays.array(product.b[0], product.b_format), product.a.shape[2]
    traced = Trace(plan, place, k, plan._core.trace(product, *place))
    for other in others:
        one = Trace(other, place, k, other._core.trace(matrices(other, a, b, _read_by(other, operands)), *place))
        if other.formats['d'] == plan.formats['d'] and bits_of(one.result) == words[place]:
            yield parting(traced, one) + (f' (of {other})' if len(others) > 1 else '')
            return


def _read_by(plan, operands):
    """The operands that a plan reads; factors that are not given are 1."""
    given = {'alpha': 1.0, 'beta': 1.0, **operands}
    return {name: x for name, x in given.items() if x is not None and plan.reads(name)}


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
        product = matrices(plan, a, b, operands)
        x, y = result_of(plan, got, product), result_of(plan, want, product)
        of_plan = trace(plan, a, b, difference.at, **operands)
        if bits_of(of_plan.result) != y[difference.at]:
            yield f"want is not the plan's, which gives {of_plan.text_of(of_plan.result, 'd')} there"
        yield from _explained(plan, product, operands, x, difference.at, bits.differ(x, y, plan.formats['d'], True))
    except (TypeError, ValueError) as error:
        yield f'plans of the result: {error}'
