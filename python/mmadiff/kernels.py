"""Kernels: functions that multiply matrices, asked for products of several sizes."""
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from . import arrays, html
from .comparisons import convert
from .plans import FoundPlans, plan_of


def _sizes(sizes, name):
    listed = [sizes] if isinstance(sizes, (int, np.integer)) else list(sizes)
    if not listed or any(isinstance(size, bool) or size < 1 for size in listed):
        raise ValueError(f'{name}={sizes!r}: a size or several, each at least 1')
    return [int(size) for size in listed]


def _formats(formats):
    names = formats.split(',') if isinstance(formats, str) else list(formats)
    if len(names) != 3:
        raise ValueError(f"formats={formats!r}: those of A, B and D, such as 'f16,f16,f32'")
    for name in names:
        arrays.dtype(name)
    return [name.strip() for name in names]


class KernelPlans:
    """The plans of a kernel by size. Prints as a report.

    found: {(m, n, k): FoundPlans}; changes_at: {(n, k): [m, ...]}, each m at which the bits of the first row of D are
    others than at the m before, though the first row of A and B are the same: a kernel that is batch invariant has none.
    """

    def __init__(self, found: dict[tuple[int, int, int], FoundPlans], changes_at: dict[tuple[int, int], list[int]]) -> None:
        self.found, self.changes_at = found, changes_at

    def __getitem__(self, size: int | tuple[int, int, int]) -> FoundPlans:
        """FoundPlans of (m, n, k), or of m if there is one n and one k."""
        if isinstance(size, tuple):
            return self.found[size]
        fitting = [found for (m, _, _), found in self.found.items() if m == size]
        if len(fitting) != 1:
            raise KeyError(size)
        return fitting[0]

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    @property
    def is_batch_invariant(self) -> bool | None:
        """Whether the first row never changed, in two m or more. None if there is only one m."""
        if len({m for m, _, _ in self.found}) < 2:
            return None
        return not any(self.changes_at.values())

    def _lines(self):
        for (m, n, k), found in self.found.items():
            yield f'{m} x {n} x {k}', str(found).split('   ')[0]

    def __str__(self) -> str:
        lines = ['\n  '.join([size, *plans.splitlines()]) for size, plans in self._lines()]
        for (n, k), changes in self.changes_at.items():
            if self.is_batch_invariant is not None:
                where = f"changes at m = {', '.join(map(str, changes))}" if changes else 'is the same for every m'
                lines.append(f'n = {n}, k = {k}: the first row {where}')
        return '\n'.join(lines)

    __repr__ = __str__

    def _repr_html_(self):
        return html.table(self._lines(), ('m x n x k', 'plans'))


def plans_of(kernel: Callable[[Any, Any], Any], formats: str | Sequence[str], *, m: int | Iterable[int],
             n: int | Iterable[int], k: int | Iterable[int], rows: str | Iterable[object] = '', seed: int = 1,
             like: Any = None, threads: int | None = None) -> KernelPlans:
    """Asks kernel(a, b), a (m, k) and b (k, n), for products of normally distributed numbers, and finds the plans.

    formats: those of A, B and D, such as 'bf16,bf16,bf16'; m, n, k: a size or several; rows: as `plan_of`; like: a tensor of
    PyTorch on the device where the kernel wants its operands

    >>> from mmadiff import Plan
    >>> kernel = Plan('x86/vfmadd231ss | every 64: add | f32')
    >>> plans_of(kernel, 'f32,f32,f32', m=(1, 2), n=40, k=192, rows=kernel.row)
    1 x 40 x 192
      x86/vfmadd231ss | every 64: add | f32
    2 x 40 x 192
      x86/vfmadd231ss | every 64: add | f32
    n = 40, k = 192: the first row is the same for every m
    """
    names = _formats(formats)
    ms, ns, ks = _sizes(m, 'm'), _sizes(n, 'n'), _sizes(k, 'k')
    found, changes_at = {}, {}
    for columns, depth in itertools.product(ns, ks):
        rng = np.random.default_rng(seed)
        a, b = (arrays.array(arrays.words(convert(rng.standard_normal(shape), name), name), name, like)
                for shape, name in (((max(ms), depth), names[0]), ((depth, columns), names[1])))
        first, changes = None, []
        for size in ms:
            d = kernel(a[:size], b)
            words = arrays.words(d, names[2], "the kernel's result")
            if words.shape != (size, columns):
                raise ValueError(f"the kernel's result has the shape {arrays.shape_text(words.shape)}; it must have "
                                 f'{arrays.shape_text((size, columns))}')
            if first is not None and not np.array_equal(words[0], first):
                changes.append(size)
            first = words[0].copy()
            found[size, columns, depth] = plan_of(a[:size], b, words, rows=rows, threads=threads,
                                                  formats={'a': names[0], 'b': names[1], 'd': names[2]})
        changes_at[columns, depth] = changes
    return KernelPlans(found, changes_at)
