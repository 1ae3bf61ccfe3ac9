"""Conversions, and comparisons of plans with each other and with the exact product."""
from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core, arrays, html
from .plans import Plan, _product, spread
from .rows import Row, threads_for

if TYPE_CHECKING:
    from .result import Result


@overload
def convert(x: NDArray[Any], to: object, *, format: object = None, saturate: bool = False,
            threads: int | None = None) -> NDArray[Any]: ...


@overload
def convert(x: Any, to: object, *, format: object = None, saturate: bool = False, threads: int | None = None) -> Any: ...


def convert(x: Any, to: object, *, format: object = None, saturate: bool = False, threads: int | None = None) -> Any:
    """Converts an array to another format: 'bf16', ml_dtypes.bfloat16, or as a conversion instruction does
    ('sm_90/cvt...', a Row).

    To a format, numbers are rounded once to nearest even; a NaN keeps its sign and the upper bits of its payload, and is
    quieted. Beyond the largest number there is infinity, or NaN in formats without infinity (e4m3); the largest number
    with saturate=True, and in formats without NaN (e2m1). `format` is that of raw words. An instruction fixes both.

    >>> convert(np.float32([464, 465]), 'e4m3').view('u1')
    array([126, 127], dtype=uint8)
    """
    if isinstance(to, Row) or isinstance(to, str) and '/' in to:
        row = Row(to)
        if not row.is_conversion:
            raise ValueError(f'{row.name} is not a conversion')
        if saturate or format is not None:
            raise TypeError(f'{row.name} fixes the format and whether it saturates: no format=, no saturate=')
        return row(x, threads=threads)
    target = arrays.format_of(to)
    source = None if format is None else arrays.format_of(format)
    if source is None:
        words, source = arrays.read(x, 'the array')
        if source is None:
            raise TypeError(f"the array has raw words ({words.dtype}): give their format, format='e4m3'")
    words = arrays.words(x, source, 'the array')
    return arrays.array(arrays.converted(words, source, target, saturate, threads_for(words.size // 16, threads)), target,
                        like=x)


class Race:
    """Whether two plans are equal for all inputs. Prints as a report; true if a product distinguishes them.

    Attributes: x, y (the plans), equal (why no product distinguishes them; '' if one may), k, a (1, k), b (k, 1), of_x
    and of_y (a product that distinguishes them, and the results; None if none was found, k then being the least for
    which they may differ).
    """

    a: Any
    b: Any
    of_x: Any
    of_y: Any

    def __init__(self, x: Plan, y: Plan, raced: _core._Raced) -> None:
        self.x, self.y, self.equal, self.k = x, y, raced['equal'], raced['k']
        self.a = self.b = self.of_x = self.of_y = None
        if not raced['is_found']:
            return
        formats = x.formats
        self.a, self.b, self.of_x, self.of_y = (
            arrays.array(np.array(words, arrays.word_type(formats[name])).reshape(shape), formats[name])
            for name, words, shape in (('a', raced['a'], (1, -1)), ('b', raced['b'], (-1, 1)),
                                       ('d', [raced['x']], (1, 1)), ('d', [raced['y']], (1, 1))))

    def __bool__(self) -> bool:
        return self.a is not None

    def __str__(self) -> str:
        if self.equal:
            return self.equal
        if not self:
            return f'undecided: the plans may differ from k = {self.k} on, but no product was found that shows it'
        a, b = self.a.ravel(), self.b.ravel()
        bits = [x.view(f'u{x.itemsize}') for x in (a, b)]
        terms = [f'  k={i}  {a[i]} x {b[i]}' for i in range(self.k) if bits[0][i] and bits[1][i]]
        from .differences import parting
        from .elements import trace
        one, other = (trace(plan, self.a, self.b, (0, 0)) for plan in (self.x, self.y))
        where = parting(one, other, ('the first', 'the second'))
        return '\n'.join([f'k = {self.k}', *terms, f'the first gives {self.of_x[0, 0]!s}, the second {self.of_y[0, 0]!s}', where])

    __repr__ = __str__

    def _repr_html_(self):
        return f'<pre>{escape(str(self))}</pre>'


def race(x: object, y: object) -> Race | Result:
    """A small product that distinguishes two plans, or why no product does. Two rows without a plan are raced by the
    program: `mmadiff help race`.

    >>> race('x86/vfmadd231ss | every 64: add | f32', 'x86/vfmadd231ss | every 128: add | f32').k
    65
    """
    texts = [str(one) if isinstance(one, (Plan, Row)) else arrays.text(one, 'a plan') for one in (x, y)]
    if not any('|' in text for text in texts):
        from .questions import ask
        return ask('race', *texts)
    plans = Plan(texts[0]), Plan(texts[1])
    return Race(*plans, _core.race_plans(plans[0]._core, plans[1]._core))


class Errors:
    """Errors of results against exact sums, in units of the root mean square of the exact sums.

    Attributes: rms, max (the largest magnitude), bias (the mean), toward_zero (the mean in the direction of zero: above 0
    if results have too small magnitudes, as sums that are cut), errors (of each element), scale (the unit), count,
    left_out (elements that are not finite in the result or in the exact sum).
    """

    def __init__(self, errors: NDArray[np.float64], signs: NDArray[np.float64], scale: float, left_out: int) -> None:
        self.errors, self.scale, self.left_out = errors, scale, left_out
        self.count = errors.size
        self.rms: float = _rms(errors) if self.count else float('nan')
        self.max = float(np.abs(errors).max()) if self.count else float('nan')
        self.bias = float(errors.mean()) if self.count else float('nan')
        self.toward_zero = 0.0 - float((errors * signs).mean()) if self.count else float('nan')

    def histogram(self, bins: int = 101) -> tuple[NDArray[Any], NDArray[Any]]:
        """Counts and edges, as numpy.histogram, symmetric around 0."""
        return np.histogram(self.errors, bins, (-self.max, self.max) if self.max > 0 else (-1, 1))

    def frame(self) -> Any:
        """A DataFrame of pandas with rms, max, bias, toward_zero, count, left_out."""
        import pandas
        return pandas.DataFrame([self._fields()])

    def plot(self, axes: Any = None, bins: int = 101, **options: Any) -> Any:
        """Draws the histogram with matplotlib; returns the axes."""
        if axes is None:
            import matplotlib.pyplot
            axes = matplotlib.pyplot.gca()
        counts, edges = self.histogram(bins)
        axes.stairs(counts, edges, fill=True, **options)
        axes.set_xlabel('error / rms of the exact sums')
        axes.set_ylabel('elements')
        return axes

    def _fields(self):
        return {'rms': self.rms, 'max': self.max, 'bias': self.bias, 'toward_zero': self.toward_zero, 'count': self.count,
                'left_out': self.left_out}

    def __str__(self) -> str:
        return (f'rms {self.rms:.3g}, max {self.max:.3g}, bias {self.bias:+.3g}, toward zero {self.toward_zero:+.3g} '
                f'of {self.count} elements' + (f', {self.left_out} not finite' if self.left_out else ''))

    __repr__ = __str__

    def _texts(self):
        return {key: f'{x:.3g}' if isinstance(x, float) else str(x) for key, x in self._fields().items()}

    def _repr_html_(self):
        return html.records([self._texts()])


class ErrorTable(tuple[Errors, ...]):
    """Errors of several plans or results. Prints as a table, a line each; `names` has their names."""

    names: list[str]

    def frame(self) -> Any:
        """A DataFrame of pandas, a row each."""
        import pandas
        return pandas.DataFrame([errors._fields() for errors in self], index=self.names)

    def __repr__(self) -> str:
        return '\n'.join(f'{name}: {errors}' for name, errors in zip(self.names, self))

    def _repr_html_(self):
        return html.records([{'': name} | errors._texts() for name, errors in zip(self.names, self)])


def _exponent(x):
    """The exponent of the largest magnitude."""
    return int(np.frexp(np.abs(x).max(initial=0))[1])


def _rms(x):
    """Without overflow and underflow of squares."""
    exponent = _exponent(x)
    return float(np.ldexp(np.sqrt(np.mean(np.square(np.ldexp(x, -exponent)))), exponent)) if x.size else 0.0


def exact(a: ArrayLike, b: ArrayLike, *, formats: arrays.Formats = None,
          threads: int | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The exact product of floating-point arrays, as a pair of f64 arrays: the sums rounded to nearest even, and the
    rest, rounded again. `formats` names those of raw words, or of tf32 in an array of float32: 'e4m3,e4m3'.

    >>> exact(np.float32([[1, 2 ** -60]]), np.float32([[1], [1]]))
    (array([[1.]]), array([[8.67361738e-19]]))
    """
    return _exact(a, b, arrays.formats_of(formats), False, threads)


def _exact(a, b, formats, takes_others, threads):
    product, stack = _product(a, b, formats, takes_others=takes_others)
    m, k, n = product.a.shape[1], product.a.shape[2], product.b.shape[2]
    (high, flat_high), (low, flat_low) = stack.empty(m, n, 'f64'), stack.empty(m, n, 'f64')
    _core.exact(product, flat_high, flat_low, threads_for(high.size * k // 4, threads))
    return high.view(np.float64), low.view(np.float64)


@overload
def error(plan: Plan | str | Callable[..., Any] | NDArray[Any], a: ArrayLike, b: ArrayLike, *,
          exactly: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None, formats: arrays.Formats = None,
          threads: int | None = None, **operands: Any) -> Errors: ...


@overload
def error(plan: list[Any] | tuple[Any, ...], a: ArrayLike, b: ArrayLike, *,
          exactly: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None, formats: arrays.Formats = None,
          threads: int | None = None, **operands: Any) -> ErrorTable: ...


@overload
def error(plan: Any, a: ArrayLike, b: ArrayLike, *,
          exactly: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None, formats: arrays.Formats = None,
          threads: int | None = None, **operands: Any) -> Any: ...


def error(plan: Any, a: ArrayLike, b: ArrayLike, *,
          exactly: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None, formats: arrays.Formats = None,
          threads: int | None = None, **operands: Any) -> Any:
    """The errors of results against the exact sums of products. `plan` is a Plan, its text, a kernel(a, b), the results
    of one as an array, or a list of these.

    exactly: exact(a, b), if it is known already; formats: as `exact`, with that of results as third; without it, exact
    sums read a and b as the plan does, float32 perhaps as tf32; operands: further ones of the plan. Exact sums have its
    scales, block scales, bias and alpha, as far as f64 holds their products with a and b; others need `exactly`: sums with
    them

    >>> rng = np.random.default_rng(1)
    >>> a, b = rng.standard_normal((8, 512)).astype('f2'), rng.standard_normal((512, 8)).astype('f2')
    >>> error('sm_90/wgmma.m64n8k16.f32.f16.f16 | f32', a, b).rms < 1e-5
    True
    """
    named, sums = arrays.formats_of(formats), {}
    operands = {name: x for name, x in operands.items() if x is not None}
    for name, x in (('a', a), ('b', b)):
        if name in named:
            arrays.words(x, named[name], name)  # refuses others
    made: list[Errors] = []
    names: list[str] = []
    for i, one in enumerate(plan if _are_several(plan) else [plan]):
        one = Plan(one) if isinstance(one, str) else one
        read = (dict(one.formats) if isinstance(one, Plan) else {}) | named
        key = read.get('a'), read.get('b'), str(one) if operands else ''  # the plan has the formats of operands
        if key not in sums:
            sums[key] = _pair(exactly) if exactly is not None else _exact(a, b, read, isinstance(one, Plan), threads) if \
                not operands else _exact_with(one, a, b, operands, threads)
        words, format = _results(one, a, b, named.get('d'), threads, operands)
        high, low = (x.reshape(words.shape) if operands and exactly is None else x for x in sums[key])
        made.append(_errors(words, format, high, low))
        names.append(str(one) if isinstance(one, (Plan, Row)) else getattr(one, '__name__', f'results {i}'))
    if not _are_several(plan):
        return made[0]
    table = ErrorTable(made)
    table.names = names
    return table


_DIGITS = {'f64': 53, 'f32': 24, 'tf32': 11, 'tf32_amx': 11, 'f16': 11, 'bf16': 8, 'e4m3': 4, 'e5m2': 3, 'e4m3fnuz': 4,
           'e5m2fnuz': 3, 'e2m3': 4, 'e3m2': 3, 'e2m1': 2, 'ue8m0': 1, 'ue4m3': 4}  # of significands


def _exact_with(plan, a, b, operands, threads):
    """The exact product, of operands that are multiplied by scales and alpha, with a bias as one more product."""
    if not isinstance(plan, Plan):
        raise TypeError(f"only a plan reads {', '.join(operands)}")
    if others := operands.keys() & {'c', 'beta'}:
        raise TypeError(f"exact sums have no {', '.join(sorted(others))}: give exactly=, the sums with them")
    product, stack = plan._product(a, b, **operands)
    if stack.count != 1:
        raise TypeError('exact sums of several products have no scales: give exactly=')
    sides = []
    for side, of_b in (('a', False), ('b', True)):
        words = getattr(product, side)[0]
        x, digits = _wide(words.T if of_b else words, getattr(product, f'{side}_format')), _DIGITS[getattr(product, f'{side}_format')]
        for name, format in ((f'scale_{side}', plan.formats['sum']), (f'block_scale_{side}', plan._core.scale)):
            if (scales := getattr(product, name)) is not None:
                scales = scales[0].T if of_b else scales[0]
                with np.errstate(all='ignore'):  # of infinite scales
                    x, digits = x * spread(_wide(scales, format), x.shape), digits + _DIGITS[format]
        if side == 'a' and 'alpha' in operands:
            alpha = np.array([product.alpha], arrays.word_type(plan.formats['sum']))
            x, digits = x * _wide(alpha, plan.formats['sum']), digits + _DIGITS[plan.formats['sum']]
        if digits > _DIGITS['f64']:
            raise TypeError(f'{side} times its factors has {digits} bits, more than f64: give exactly=, the sums with them')
        if 'bias' in operands:
            more = _wide(product.bias[0].T, plan.formats['sum']) if of_b else np.ones((x.shape[0], 1))
            x = np.concatenate([x, more], axis=1)
        sides.append(x.T if of_b else x)
    return _exact(sides[0], sides[1], {}, False, threads)


def _wide(words, format):
    """Numbers of f64."""
    return arrays.converted(np.ascontiguousarray(words), format, 'f64').view(np.float64)


def _are_several(plan):
    return isinstance(plan, (list, tuple)) and any(hasattr(x, 'shape') or callable(x) or isinstance(x, str) for x in plan)


def _pair(exactly):
    if not isinstance(exactly, (tuple, list)) or len(exactly) != 2:
        raise TypeError('exactly is a pair of f64 arrays, as exact(a, b) returns it')
    return [np.asarray(x, np.float64) for x in exactly]


def _results(plan, a, b, format, threads, operands):
    """(words, format) of a plan's results, or a kernel's, or of an array."""
    if isinstance(plan, Plan):
        return arrays.operand(plan(a, b, threads=threads, **operands), plan.formats['d'], 'd')
    if operands:
        raise TypeError(f"only a plan reads {', '.join(operands)}")
    if not callable(plan) and not hasattr(plan, 'shape') and not isinstance(plan, list):
        raise TypeError(f'error takes a plan, its text, a kernel, or results, not {plan!r:.40}')
    return arrays.operand(plan(a, b) if callable(plan) else plan, format, 'd')


def _errors(words, format, high, low):
    if not words.shape == high.shape == low.shape:
        raise ValueError(f'the results have the shape {arrays.shape_text(words.shape)}; exact sums '
                         f'{arrays.shape_text(high.shape)} and {arrays.shape_text(low.shape)}')
    d = arrays.converted(words, format, 'f64').view(np.float64)
    finite = np.isfinite(d) & np.isfinite(high)
    d, high, low = d[finite], high[finite], low[finite]
    scale, exponent = _rms(high), _exponent(high)
    with np.errstate(over='ignore'):
        errors = (np.ldexp(d, -exponent) - np.ldexp(high, -exponent)) - np.ldexp(low, -exponent)
        errors /= np.ldexp(scale, -exponent) or 1.0
    return Errors(errors, np.sign(high), scale, int(finite.size - errors.size))
