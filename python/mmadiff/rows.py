"""Rows: an instruction on an architecture, such as sm_90/mma.m16n8k16.f32.f16.f16.f32."""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NoReturn, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core, arrays, html

_DOTS_PER_THREAD = 1 << 15  # so many make a thread worth its start
_MOST_NAMES = 42  # that rows print


def threads_for(work, threads):
    """The number of threads for so many dot products of 16 products."""
    if threads is not None:
        if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= 1024:
            raise ValueError(f'threads={threads!r}: a number from 1 to 1024')
        return threads
    return max(1, min(len(os.sched_getaffinity(0)), work // _DOTS_PER_THREAD))


class ReadOnly:
    """An object whose attributes cannot be set."""

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"attributes of {type(self).__name__} are read-only: '{name}'")


class Row(ReadOnly):
    """An instruction on an architecture, as a function on arrays.

    >>> row = Row('sm_90/mma.m16n8k16.f32.f16.f16.f32')
    >>> a, b = np.ones((16, 16), np.float16), np.ones((16, 8), np.float16)
    >>> row(a, b)[0, 0]
    np.float32(16.0)

    Attributes: name, m, n, k, blocks, formats (of 'a', 'b', 'c', 'd', and of 'scale' if there are scales; a conversion
    has 'a' and 'd'), scales (of a row of A), groups (metadata words of a row
    of a sparse A, each for k / groups elements; 0: A is dense), grade and evidence (how sure the model is), algorithm, is_native, nan_bits
    (whether the bits of a NaN are promised).
    """

    name: str
    m: int
    n: int
    k: int
    blocks: int
    scales: int
    groups: int
    grade: str
    evidence: str
    algorithm: str
    is_native: bool
    nan_bits: bool
    formats: Mapping[str, str]
    _core: _core.Row

    def __init__(self, name: str | Row) -> None:
        core = _core.Row(name.name if isinstance(name, Row) else arrays.text(name, 'the name of a row'))
        read = {x: getattr(core, x) for x in ('name', 'm', 'n', 'k', 'blocks', 'scales', 'groups', 'grade', 'evidence',
                                          'algorithm')}
        read |= {x: bool(getattr(core, x)) for x in ('is_native', 'nan_bits')}
        formats = {x: getattr(core, x) for x in ('a', 'b', 'c', 'd', 'scale') if getattr(core, x) not in ('', '-')}
        self.__dict__.update(read, formats=MappingProxyType(formats), _core=core)

    @property
    def is_conversion(self) -> bool:
        return 'b' not in self.formats

    @overload
    def __call__(self, a: NDArray[Any], b: ArrayLike | None = None, c: ArrayLike | None = None, *,
                 scale_a: ArrayLike | None = None, scale_b: ArrayLike | None = None, metadata: ArrayLike | None = None,
                 threads: int | None = None) -> NDArray[Any]: ...

    @overload
    def __call__(self, a: Any, b: ArrayLike | None = None, c: ArrayLike | None = None, *,
                 scale_a: ArrayLike | None = None, scale_b: ArrayLike | None = None, metadata: ArrayLike | None = None,
                 threads: int | None = None) -> Any: ...

    def __call__(self, a: Any, b: ArrayLike | None = None, c: ArrayLike | None = None, *,
                 scale_a: ArrayLike | None = None, scale_b: ArrayLike | None = None, metadata: ArrayLike | None = None,
                 threads: int | None = None) -> Any:
        """D = A B + C: a has the shape (..., m, k), b (..., k, n), c and the result (..., m, n), where k is the row's, m
        and n are arbitrary. Without c, C is +0. Scales of instructions that have them: (..., m, scales) and
        (..., scales, n). A conversion takes `a` alone, of any shape.

        A sparse instruction also takes all k of a; those that are not stored are +0. metadata (..., m, groups), words of
        uint8, say which are stored; without them, `metadata(a)` does. A stored +0 is multiplied: with an infinity, it
        gives a NaN.

        Leading dimensions are broadcast. The result is a tensor of PyTorch on its device if `a` is one, else an array
        of NumPy. Raises TypeError for arrays of another type, ValueError for other shapes and words.
        """
        if self.is_conversion:
            self._refuse(b=b, c=c, scale_a=scale_a, scale_b=scale_b, metadata=metadata)
            return self._convert(a, threads)
        if b is None:
            raise TypeError(f'{self.name} needs b')
        if not self.scales:
            self._refuse(scale_a=scale_a, scale_b=scale_b)
        elif scale_a is None or scale_b is None:
            raise TypeError(f'{self.name} needs scale_a and scale_b')
        if not self.groups:
            self._refuse(metadata=metadata)
        stack = arrays.Stack(
            a=self._operand('a', a, None, self.k), b=self._operand('b', b, self.k, None),
            c=self._operand('c', c, None, None),
            scale_a=self._operand('scale_a', scale_a, None, self.scales),
            scale_b=self._operand('scale_b', scale_b, self.scales, None),
            metadata=self._operand('metadata', metadata, None, self.groups))
        flat_a, flat_b = stack.a, stack.b
        m, n = flat_a.shape[1], flat_b.shape[2]
        d, flat = stack.empty(m, n, self.formats['d'])
        try:
            self._core.execute(flat_a, flat_b, self._fits(stack.c, (m, n), 'c'),
                               self._fits(stack.scale_a, (m, self.scales), 'scale_a'),
                               self._fits(stack.scale_b, (self.scales, n), 'scale_b'),
                               self._fits(stack.metadata, (m, self.groups), 'metadata'),
                               flat, threads_for(d.size * self.k // 16, threads))
        except ValueError as error:
            raise ValueError(f'{self.name}: {error}') from None
        return arrays.array(d, self.formats['d'], like=a)

    @overload
    def metadata(self, a: NDArray[Any]) -> NDArray[Any]: ...

    @overload
    def metadata(self, a: Any) -> Any: ...

    def metadata(self, a: Any) -> Any:
        """The metadata (..., m, groups) of a sparse a (..., m, k): the least words that store all elements other than +0.

        >>> Row('sm_90/mma.sp.m16n8k16.f32.f16.f16.f32').metadata(np.tile(np.float16([0, 1, 0, 2]), (1, 4)))
        array([[13, 13, 13, 13]], dtype=uint8)
        """
        self._require_sparse()
        stack = arrays.Stack(a=self._operand('a', a, None, self.k))
        words, flat = stack.empty(stack.a.shape[1], self.groups, 'u8')
        try:
            self._core.metadata(stack.a, flat)
        except ValueError as error:
            raise ValueError(f'{self.name}: {error}') from None
        return arrays.array(words, 'u8', like=a)

    def stored(self, metadata: ArrayLike) -> NDArray[np.intp]:
        """The k (..., m, k / 2), ascending, of the elements that metadata (..., m, groups) store:
        `np.take_along_axis(a, row.stored(metadata), -1)` is the compressed a.

        >>> Row('sm_90/mma.sp.m16n8k16.f32.f16.f16.f32').stored(np.uint8([[0x4, 0xe, 0x4, 0x4]]))
        array([[ 0,  1,  6,  7,  8,  9, 12, 13]])
        """
        self._require_sparse()
        words, *_ = self._operand('metadata', metadata, None, self.groups)
        if words.ndim < 2 or words.shape[-1] != self.groups:
            raise ValueError(f'metadata of {self.name} has the shape {arrays.shape_text(words.shape)}; it must have '
                             f'(..., rows, {self.groups})')
        group = self.k // self.groups
        places = np.zeros((16, group // 2), np.intp)
        for word in np.unique(words):
            try:
                places[word & 15] = self._core.stored(int(word))
            except ValueError as error:
                raise ValueError(f'{self.name}: {error}') from None
        stored = places[words] + group * np.arange(self.groups)[:, None]
        return stored.reshape(*words.shape[:-1], self.k // 2)

    def _require_sparse(self):
        if not self.groups:
            raise TypeError(f'{self.name} is not sparse: it has no metadata')

    def _operand(self, name, x, rows, columns):
        if x is None and name != 'a':
            return None
        what = f'{name} of {self.name}'
        if name == 'metadata':
            return self._metadata_words(x, what), rows, columns, what
        format = self.formats['scale' if name.startswith('scale') else name]
        return arrays.words(x, format, what), rows, columns, what

    def _metadata_words(self, x, what):
        try:
            return arrays.words(x, 'u4', what)
        except TypeError:
            raise TypeError(f'{what}: words of uint8, an array (..., rows, {self.groups}), not {type(x).__name__}'
                            + (f' of {x.dtype}' if hasattr(x, 'dtype') else '')) from None

    def _fits(self, words, shape, name):
        if words is not None and words.shape[1:] != shape:
            raise ValueError(f'{name} has the shape (..., {words.shape[1]}, {words.shape[2]}); '
                             f'it must have (..., {shape[0]}, {shape[1]})')
        return words

    def _refuse(self, **operands):
        for name, x in operands.items():
            if x is not None:
                raise TypeError(f'{self.name} has no {name}')

    def _convert(self, a, threads):
        words = arrays.words(a, self.formats['a'], f'a of {self.name}')
        d = np.empty(words.shape, arrays.word_type(self.formats['d']))
        self._core.execute(words.reshape(-1, 1, 1), None, None, None, None, None, d.reshape(-1, 1, 1),
                           threads_for(d.size // 16, threads))
        return arrays.array(d, self.formats['d'], like=a)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f'Row({self.name!r})'

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Row) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self):
        return Row, (self.name,)

    def _fields(self):
        formats = self.formats
        operands = formats['a'] if self.is_conversion else f"{formats['a']} x {formats['b']} + {formats['c']}"
        if self.scales:
            operands += f", {formats['scale']} scale for each {self.k // self.scales} k"
        return {'row': self.name, 'm x n x k': f'{self.m} x {self.n} x {self.k}', 'operands': operands,
                'result': formats['d'], 'evidence': f'{self.grade}: {self.evidence}'}

    def _repr_html_(self):
        return html.records([self._fields() | {'algorithm': self.algorithm}])


class Rows(tuple[Row, ...]):
    """Rows of the tables; prints as a list of their names, as a table in a notebook. `name in rows` works too."""

    globs: str = ''

    def __contains__(self, row: object) -> bool:
        return any(row in (one, one.name) for one in self)

    def frame(self) -> Any:
        """A DataFrame of pandas, a row each."""
        import pandas
        return pandas.DataFrame([row._fields() for row in self])

    def __repr__(self) -> str:
        if not self:
            return f"no rows match '{self.globs}'" if self.globs else 'no rows'
        names = [row.name for row in self]
        return '\n'.join(names if len(names) <= _MOST_NAMES else
                         [*names[:_MOST_NAMES - 2], '...', names[-1], f'{len(names)} rows'])

    def _repr_html_(self):
        return html.records([row._fields() for row in self])


def globs_of(rows: object) -> list[str]:
    """The names and globs in a text with spaces, in a row, or in a sequence of these."""
    if isinstance(rows, Row):
        return [rows.name]
    if isinstance(rows, Iterable) and not isinstance(rows, str):
        return [glob for one in rows for glob in globs_of(one)]
    return arrays.text(rows, 'the name of a row').split()


def rows(globs: str | Iterable[str | Row] = '*') -> Rows:
    """The rows whose names match a glob, or any of several: a sequence, or a text with spaces. '*' also matches '/'.

    >>> rows('sm_90/mma.m16n8k8.*.f16')
    sm_90/mma.m16n8k8.f16.f16.f16.f16
    """
    names: dict[str, None] = {}
    for glob in globs_of(globs):
        matches = _core.row_names(glob)
        if not matches and not any(character in glob for character in '*?['):
            Row(glob)  # says why there is none
        names |= dict.fromkeys(matches)
    found = Rows(map(Row, names))
    found.globs = ' '.join(globs_of(globs))
    return found
