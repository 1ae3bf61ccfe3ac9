"""Plans: the order in which a kernel uses an instruction for a whole matrix product, in one line of text."""
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core, arrays, drawing, html
from .rows import ReadOnly, Row, globs_of, threads_for

_READ = {'c': 'reads_c', 'bias': 'reads_bias', 'scale_a': 'reads_scales', 'scale_b': 'reads_scales',
         'block_scale_a': 'reads_block_scales', 'block_scale_b': 'reads_block_scales', 'alpha': 'reads_alpha',
         'beta': 'reads_beta'}


class Plan(ReadOnly):
    """A plan, as a function on arrays.

    >>> plan = Plan('sm_90/wgmma.m64n8k16.f32.f16.f16 | into 3 of 64: add | f16')
    >>> plan(np.ones((2, 192), np.float16), np.ones((192, 1), np.float16))
    array([[192.],
           [192.]], dtype=float16)

    Attributes: text, row (the name of its instruction), formats (of 'a', 'b', 'c', 'd', and 'sum', that of sums).
    """

    text: str
    row: str
    formats: Mapping[str, str]
    _core: _core.Plan

    def __init__(self, text: str | Plan) -> None:
        core = _core.Plan(text.text if isinstance(text, Plan) else arrays.text(text, 'the plan'))
        formats = {x: getattr(core, x) for x in ('a', 'b', 'c', 'd', 'sum')}
        self.__dict__.update(text=core.text, row=core.row, formats=MappingProxyType(formats), _core=core)

    def reads(self, operand: str) -> bool:
        """Whether the plan reads an operand: 'c', 'bias', 'alpha', 'beta', 'scale_a', 'block_scale_a' ..."""
        if operand not in _READ:
            raise ValueError(f"a plan has no operand {operand!r}; it may have {', '.join(_READ)}")
        return bool(getattr(self._core, _READ[operand]))

    @overload
    def __call__(self, a: NDArray[Any], b: ArrayLike, c: ArrayLike | None = None, *, scale_a: ArrayLike | None = None,
                 scale_b: ArrayLike | None = None, block_scale_a: ArrayLike | None = None,
                 block_scale_b: ArrayLike | None = None, bias: ArrayLike | None = None, alpha: float | None = None,
                 beta: float | None = None, threads: int | None = None) -> NDArray[Any]: ...

    @overload
    def __call__(self, a: Any, b: ArrayLike, c: ArrayLike | None = None, *, scale_a: ArrayLike | None = None,
                 scale_b: ArrayLike | None = None, block_scale_a: ArrayLike | None = None,
                 block_scale_b: ArrayLike | None = None, bias: ArrayLike | None = None, alpha: float | None = None,
                 beta: float | None = None, threads: int | None = None) -> Any: ...

    def __call__(self, a: Any, b: ArrayLike, c: ArrayLike | None = None, *, scale_a: ArrayLike | None = None,
                 scale_b: ArrayLike | None = None, block_scale_a: ArrayLike | None = None,
                 block_scale_b: ArrayLike | None = None, bias: ArrayLike | None = None, alpha: float | None = None,
                 beta: float | None = None, threads: int | None = None) -> Any:
        """Every bit of D: a has the shape (..., m, k), b (..., k, n), c and the result (..., m, n), a bias (..., n).

        a and b have the formats of the row, or others whose numbers these have. Scales are laid out as their matrix:
        scale_a has the shape (m/r, k/s) for blocks of r rows and s of k, both powers of two, or it is one number;
        scale_b (k/s, n/r). Block scales have the format of the instruction. Scales and bias are arrays of numbers that
        the format of sums has; alpha, beta and other numbers of Python are rounded to it.
        """
        product, stack = self._product(a, b, c, bias=bias, scale_a=scale_a, scale_b=scale_b, block_scale_a=block_scale_a,
                                       block_scale_b=block_scale_b, alpha=alpha, beta=beta)
        m, k, n = product.a.shape[1], product.a.shape[2], product.b.shape[2]
        d, flat = stack.empty(m, n, self.formats['d'])
        self._core.execute(product, flat, threads_for(d.size * k // 16, threads))
        return arrays.array(d, self.formats['d'], like=a)

    def _product(self, a, b, c=None, **operands):
        """The operands for `_core`, all that the plan reads, and their stack."""
        given = {'c': c, **operands}
        if unknown := given.keys() - _READ.keys():
            raise TypeError(f"a plan has no operand {', '.join(sorted(unknown))}; it may have {', '.join(_READ)}")
        for name in _READ:
            if given.get(name) is None and self.reads(name):
                raise TypeError(f'the plan reads {name}: {self.text}')
            if given.get(name) is not None and not self.reads(name):
                raise TypeError(f'the plan does not read {name}: {self.text}')
        return _product(a, b, {**self.formats, 'scale': self._core.scale}, takes_others=True, **given)

    @property
    def stages(self) -> list[str]:
        """The texts of the stages, the innermost first.

        >>> Plan('sm_90/fma.rn.f32 | cut 8 | every 4: add | tail 2 | alpha*sum | f32').stages
        ['every 4: add', 'tail 2']
        """
        parts = [part.strip() for part in self.text.split('|')[1:-1]]
        return [part for part in parts if ':' in part or part.startswith('tail')]

    def ranges(self, k: int) -> list[drawing.Range]:
        """The ranges of k in the plan's order, those of inner stages before the outer one; their sums are 0, which are
        computed: k of millions take seconds.

        >>> [one.text for one in Plan('x86/vfmadd231ss | into 3 of 64: add | f32').ranges(1000)]
        ['0-383', '384-767', '768-999']
        """
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 0:
            raise ValueError(f'k={k!r}: an integer that is not negative')
        zeros = {name: np.zeros((1, 1), arrays.word_type(self._core.scale if name.startswith('block') else self.formats[
            'c' if name == 'c' else 'sum'])) for name in _READ if self.reads(name) and name not in ('alpha', 'beta')}
        if self.reads('bias'):
            zeros['bias'] = zeros['bias'][0]
        factors = {name: 0.0 for name in ('alpha', 'beta') if self.reads(name)}
        a, b = (np.broadcast_to(np.zeros((1, 1), arrays.word_type(self.formats[name])), shape)
                for name, shape in (('a', (1, k)), ('b', (k, 1))))
        product, _ = self._product(a, b, **zeros, **factors)
        return [drawing.Range(*one) for one in self._core.trace(product, 0, 0)[0]]

    def draw(self, k: int | None = None) -> drawing.Drawing:
        """The ranges of each stage along k, the innermost first; without k, of so many that all have several ranges (but at
        most 2^20). `draw().svg` is the text of the SVG."""
        if k is None:
            sizes = [int(count or 2) * int(size) for stage in self.stages
                     for count, size in re.findall(r'(?:every|(\d+) of) (\d+)', stage)]
            sizes += [int(size) for stage in self.stages if stage.startswith('at') for size in re.findall(r'\d+', stage)]
            k = min(4 * max([self._core.k, *sizes]), 1 << 20)
        residue, cut = (re.search(rf'\| {word} (\d+)', self.text) for word in ('residue', 'cut'))
        return drawing.of_ranges(self.stages, self.ranges(k), k, self._core.k, int(residue[1]) if residue else 0,
                                 k % int(cut[1]) if cut else 0)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f'Plan({self.text!r})'

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __reduce__(self):
        return Plan, (self.text,)

    def _repr_html_(self):
        formats = self.formats
        return self.draw()._repr_html_() + html.records([{'plan': self.text, 'operands': f"{formats['a']} x {formats['b']}", 'sums': formats['sum'],
                              'result': formats['d'], 'reads': ', '.join(name for name in _READ if self.reads(name))}])


def _more(name, x, formats):
    """(words, rows, columns, name) of an operand other than A and B, for `arrays.Stack`"""
    if x is None:
        return None
    if name.startswith('block'):
        return arrays.words(x, formats['scale'], name), None, None, name
    if name == 'c' and not isinstance(x, (int, float)):
        return arrays.words(x, formats['c'], name), None, None, name
    words = arrays.numbers(x, formats['sum'], name)
    if words.ndim < 2 and words.size == 1:
        words = words.reshape(1, 1)
    elif name == 'bias':
        words = np.expand_dims(words, -2)
    return words, 1 if name == 'bias' else None, None, name


def _product(a, b, formats, *, takes_others=False, alpha=None, beta=None, **operands):
    """The operands of a product for `_core`, and their stack; see `arrays.operand`. `formats` has those of 'sum', 'c' and
    'scale' too, if there are such operands."""
    read = {}
    product = _core.Product()
    others = {name: _more(name, x, formats) for name, x in operands.items()}
    for name, x in (('alpha', alpha), ('beta', beta)):
        if x is not None:
            setattr(product, name, _core.format_word(formats['sum'], float(x)))
    for name, x in (('a', a), ('b', b)):
        words, format = arrays.operand(x, formats.get(name), name, takes_others=takes_others)
        read[name] = (words, None, None, name)
        setattr(product, f'{name}_format', format)
    stack = arrays.Stack(**read, **others)
    if stack.a.shape[2] != stack.b.shape[1]:
        raise ValueError(f'a has {stack.a.shape[2]} columns, but b has {stack.b.shape[1]} rows: a is (..., m, k), '
                         'b is (..., k, n)')
    shape = stack.a.shape[1], stack.b.shape[2]
    for name in ('a', 'b', *others):
        words = getattr(stack, name)
        if name == 'c' and words is not None and words.shape[1:] != shape:
            raise ValueError(f'c has the shape (..., {words.shape[1]}, {words.shape[2]}); it must have '
                             f'(..., {shape[0]}, {shape[1]})')
        if name == 'bias' and words is not None:
            if words.shape[2] not in (1, shape[1]):
                raise ValueError(f'bias has {words.shape[2]} numbers, but D has {shape[1]} columns')
            words = np.broadcast_to(words, (*words.shape[:2], shape[1]))
        if words is not None:
            setattr(product, name, words)
    return product, stack


class FoundPlans:
    """The plans that give D. Prints as a report.

    Attributes: plans (that give every element), unsettled (further ones, compared on some elements only), same (for each of
    these plans, the other rows of those asked for with which it gives the same bits: {plan: [row, ...]}), regions
    (without such plans: pairs of a plan and its elements), nearest, differing and first (the plan that gives most
    elements, how many it does not give, the first of these), tried (the number of plans), deciding (if D rejects no
    plan: how many random elements would leave how many plans), may_be_chance (whether one of the plans may give so few
    elements by chance), hint (if no plan gives D).
    """

    def __init__(self, found: _core._Found, shape: tuple[int, int], hint: str = '') -> None:
        self.shape, self.hint = shape, hint
        self.plans = [Plan(text) for text in found['plans']]
        self.unsettled = [Plan(text) for text in found['unsettled']]
        self.regions = [(Plan(text), elements) for text, elements in found['regions']]
        self.same = {plan: rows.split() for plan, rows in zip([*self.plans, *self.unsettled], found['same'])}
        self.tried = found['tried']
        self.nearest = Plan(found['nearest']) if found['nearest'] else None
        self.differing = found['differing'] if self.nearest else 0
        self.first = found['first'] if self.nearest else None
        self.deciding = found['deciding'] if found['deciding'][0] else None
        self.may_be_chance = found['may_be_chance']

    @property
    def is_settled(self) -> bool:
        """Whether one plan is left, and D rejects others."""
        return len(self.plans) == 1 and not self.unsettled and not self.deciding

    @property
    def plan(self) -> Plan:
        """The only plan. Raises ValueError, with the report, if no plan or several give D."""
        if self.is_settled:
            return self.plans[0]
        several = f'{len(self.plans) + len(self.unsettled)} plans fit:\n' if self.plans else ''
        raise ValueError(f'{several}{self}')

    def __bool__(self) -> bool:
        return bool(self.plans)

    def _report(self, counts=True):
        """The lines of the report, with or without the numbers of elements and of plans."""
        elements = self.shape[0] * self.shape[1]
        lines = []
        for plan in self.plans[:_MOST_LINES]:
            same = self.same[plan]
            lines += [str(plan), *([f'  the same with {_few(same)}'] if counts and same else [])]
        if len(self.plans) > _MOST_LINES:
            lines += [f'and {len(self.plans) - _MOST_LINES} more']
        if self.unsettled:
            lines += [f'and {len(self.unsettled)} more that give the elements compared first']
        if self.deciding:
            lines += ['D rejects no plan' + (
                f'; {self.deciding[0]} elements of random operands would leave {self.deciding[1]}'
                if self.deciding[1] < self.tried else ', and those of random operands would not')]
        elif self.plans:
            lines[0] += f'   {elements} of {elements} elements, {self.tried} plans tried' if counts else ''
            if self.may_be_chance:
                lines += [f'so few elements may fit one of {self.tried} plans by chance: ask with a larger D']
            elif len(self.plans) + len(self.unsettled) > 1:
                lines += ['several plans fit: a larger D decides between them, or one in the format of sums']
        lines += [f'{where or "the other elements"}: {plan}' for plan, where in self.regions]
        if not self.plans and not self.regions:
            nearest = (f'; nearest: {self.nearest}, {self.differing} of {elements} elements differ, the first at '
                       f'{list(self.first or ())}') if self.nearest else ' of several products'
            lines += [f'none of {self.tried} plans gives every element{nearest}', *filter(None, [self.hint])]
        return lines

    def __str__(self) -> str:
        return '\n'.join(self._report())

    __repr__ = __str__

    def _repr_html_(self):
        return html.table([[line] for line in self._report()])


_MOST_LINES = 8  # plans of a report


def _few(names):
    return ', '.join(names[:4]) + (f' and {len(names) - 4} more' if len(names) > 4 else '')


def spread(scales: NDArray[Any], shape: tuple[int, int]) -> NDArray[Any]:
    """A scale for each element of a matrix of this shape."""
    for axis, (size, blocks) in enumerate(zip(shape, scales.shape)):
        scales = np.repeat(scales, _core.scale_block(size, blocks), axis).take(range(size), axis)
    return scales


def _scale_hint(product):
    """The blocks of scales as they were read, and another use of scales."""
    (m, k), n = product.a.shape[1:], product.b.shape[2]
    sizes = [(name, scales.shape[1:]) for name, scales in (('scale_a', product.scale_a), ('scale_b', product.scale_b))
             if scales is not None]
    texts = [f"{name} was read as one for each {_core.scale_block(k, ks)} of k and {_core.scale_block(rows, count)} of {side}"
             for name, shape in sizes
             for (count, ks), side, rows in [(shape, 'm', m) if name == 'scale_a' else (shape[::-1], 'n', n)]]
    return [f"{', '.join(texts)}; if a kernel multiplies A and B by their scales first, give it a * scale_a and b * scale_b"
            ] if texts else []


def _hint(words, format, given, product):
    """Reasons why no plan gives D."""
    absent = [name for name, of in (('scales', 'scale_a'), ('block scales', 'block_scale_a'), ('a bias', 'bias'), ('c', 'c'),
                                    ('alpha', 'alpha')) if of not in given]
    hints = [f"no plan that was tried has {', '.join(absent)}: give plan_of all that the kernel reads"] if absent else []
    hints += _scale_hint(product)
    if 'bias' in given:
        hints.append('if the kernel begins with the bias, give c=numpy.broadcast_to(bias, d.shape)')
    if 'alpha' in given:
        hints.append('if it multiplies an operand by alpha first, give that operand')
    for narrow in ('bf16', 'f16'):
        narrowed = format == 'f32' and arrays.converted(words, format, narrow)
        if format == 'f32' and np.isfinite(words.view('f4')).any() and np.array_equal(
                arrays.converted(narrowed, narrow, format), words):
            hints.insert(0, f'all numbers of d are {narrow} numbers: give the result in its own format')
    return '; '.join(hints)


def _read_scale_format(scales, named):
    """The format of block scales, '' without; float8_e4m3fn holds ue4m3."""
    formats = set()
    for x in scales.values():
        format = arrays.operand(x, named, 'scale')[1]  # what `formats` calls it
        formats.add('ue4m3' if format == 'e4m3' else format)
    if len(formats) > 1:
        raise ValueError(f"block scales have the formats {', '.join(sorted(formats))}: they must have one")
    return formats.pop() if formats else ''


def plan_of(a: ArrayLike, b: ArrayLike, d: ArrayLike, *, c: ArrayLike | None = None, bias: ArrayLike | None = None,
            scale_a: ArrayLike | None = None, scale_b: ArrayLike | None = None, block_scale_a: ArrayLike | None = None,
            block_scale_b: ArrayLike | None = None, alpha: float | None = None, beta: float | None = None,
            rows: str | Row | Iterable[str | Row] = '', formats: arrays.Formats = None,
            threads: int | None = None) -> FoundPlans:
    """Which plans give D? Tries those of public kernels, with the rows that match `rows` (globs, as in `rows`).

    a has the shape (m, k), b (k, n), d (m, n). `formats` names those of raw words, or of tf32 in an array of float32:
    'bf16,bf16,f32' or {'d': 'bf16', 'scale': 'ue8m0'}; 'sum' is that of sums, c, bias and scales, without it f64 if a or b
    is, else f32. The other operands are those of `Plan`, all that the kernel reads: plans that are tried read each of them
    (alpha=1 is none). c without beta has beta = 1.

    >>> rng = np.random.default_rng(1)
    >>> a, b = rng.standard_normal((32, 256)).astype('f2'), rng.standard_normal((256, 24)).astype('f2')
    >>> d = Plan('sm_90/wgmma.m64n8k16.f32.f16.f16 | every 128: add | f32')(a, b)
    >>> print(plan_of(a, b, d, rows='sm_90/wgmma*').plans[0])
    sm_90/wgmma.m64n8k16.f32.f16.f16 | every 128: add | f32
    """
    named = arrays.formats_of(formats)
    read = {name: arrays.operand(x, named.get(name), name) for name, x in (('a', a), ('b', b), ('d', d))}
    for name, (words, _) in read.items():
        if words.ndim != 2:
            raise ValueError(f'{name} has the shape {arrays.shape_text(words.shape)}: plan_of takes matrices')
    if c is None and beta is not None:
        raise TypeError('beta needs c')
    given: dict[str, Any] = {'bias': bias, 'scale_a': scale_a, 'scale_b': scale_b, 'block_scale_a': block_scale_a,
                             'block_scale_b': block_scale_b}
    if alpha is not None and alpha != 1:
        given['alpha'] = alpha
    if beta == 0:
        raise ValueError('beta=0: a kernel does not read c then; leave out both')
    if c is not None:
        given |= {'c': c, 'beta': 1 if beta is None else beta}
    given = {name: x for name, x in given.items() if x is not None}
    sums = named.get('sum') or ('f64' if 'f64' in (read['a'][1], read['b'][1]) else 'f32')
    scale = _read_scale_format({name: x for name, x in given.items() if name.startswith('block')}, named.get('scale'))
    product, stack = _product(read['a'][0], read['b'][0], {x: format for x, (_, format) in read.items()} | {
        'sum': sums, 'c': sums, 'scale': scale}, **given)
    words, format = read['d']
    shape = stack.a.shape[1], stack.b.shape[2]
    if words.shape != shape:
        raise ValueError(f'd has the shape {arrays.shape_text(words.shape)}; it must have {arrays.shape_text(shape)}')
    has_more = any(not name.startswith('block') for name in given)
    found = _core.find_plans(product, words[np.newaxis], format, sums if has_more else '', scale, 'alpha' in given,
                             'beta' in given, ' '.join(globs_of(rows)), threads_for(1 << 40, threads))
    return FoundPlans(found, shape, '' if found['plans'] or found['regions'] else _hint(words, format, given, product))
