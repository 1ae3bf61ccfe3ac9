"""Kernels: functions that multiply matrices, asked for products of several sizes."""
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from . import arrays, html
from .comparisons import convert
from .plans import FoundPlans, plan_of
from .rows import Row

_MOST_PRODUCTS = 4  # of a size
_FEWEST_PRODUCTS = 2


def _sizes(sizes, name):
    listed: list[Any] = list(sizes) if isinstance(sizes, Iterable) else [sizes]
    if any(isinstance(size, bool) or not isinstance(size, (int, np.integer)) for size in listed):
        raise TypeError(f'{name}={sizes!r}: an integer or several')
    if not listed or min(listed) < 1:
        raise ValueError(f'{name}={sizes!r}: a size or several, each at least 1')
    return sorted({int(size) for size in listed})


def _operands(rng, product, m, n, k, formats):
    """Words of a and b, normally distributed. In every second column of D, pairs of products cancel, and D is the error of
    the sum: even a narrow format shows its bits."""
    a, b = rng.standard_normal((m, k)), rng.standard_normal((k, n))
    first, second = rng.permutation(k)[:k // 2 * 2].reshape(2, -1)
    a[:, second] = -a[:, first]
    columns = np.arange(product % 2, n, 2)
    b[:, columns] *= 16  # against underflow of f16
    b[np.ix_(second, columns)] = b[np.ix_(first, columns)]
    return [arrays.words(convert(x, format), format) for x, format in zip((a, b), formats)]


def _both(one, other):
    """The plans that give both products, in the report on one of them."""
    left = {*other.plans, *other.unsettled}
    if one and other:
        one.plans = [plan for plan in one.plans if plan in left]
        one.unsettled = [plan for plan in one.unsettled if plan in left]
    return one


class KernelPlans:
    """The plans of a kernel by size. Prints as a report.

    found: {(m, n, k): FoundPlans}; changes_at: {(n, k): [m, ...]}, each m at which a row of D has other bits than at the m
    before, though this row of A and B are the same; compared: {(n, k): the number of elements that were compared}.
    """

    def __init__(self, found: dict[tuple[int, int, int], FoundPlans], changes_at: dict[tuple[int, int], list[int]],
                 compared: dict[tuple[int, int], int]) -> None:
        self.found, self.changes_at, self.compared = found, changes_at, compared

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
        """False if a row of D changes with m. True if none did, and of all plans that were tried one is left, the same for
        every m. Else None: elements that are equal prove nothing about others."""
        if any(self.changes_at.values()):
            return False
        is_known = all(count and not self._unsettled(size) for size, count in self.compared.items())
        return True if self.compared and is_known else None

    def _unsettled(self, size):
        """The m of which the plan is not known, and all if plans differ."""
        plans = {m: found for (m, *rest), found in self.found.items() if tuple(rest) == size}
        are_equal = len({found.plans[0] for found in plans.values() if found.is_settled}) < 2
        return [m for m, found in plans.items() if not (are_equal and found.is_settled)]

    def _change_text(self, size):
        if self.changes_at[size]:
            return f"rows change at m = {', '.join(map(str, self.changes_at[size]))}"
        unsettled = ', '.join(map(str, self._unsettled(size)))
        plans = f'plans are not settled: m = {unsettled}' if unsettled else 'the plan is the same for every m'
        return f'no change was seen in {self.compared[size]} elements; {plans}'

    def _lines(self):
        """(sizes, report): neighbors of one n and k with equal reports together."""
        groups: list[tuple[list[tuple[int, int, int]], list[str]]] = []
        for (m, n, k), found in self.found.items():
            report = found._report(counts=False)
            if groups and groups[-1][1] == report and groups[-1][0][-1][1:] == (n, k):
                groups[-1][0].append((m, n, k))
            else:
                groups.append(([(m, n, k)], report))
        for sizes, report in groups:
            runs: list[list[int]] = []
            for m, n, k in sizes:
                if runs and runs[-1][-1] == m - 1:
                    runs[-1].append(m)
                else:
                    runs.append([m])
            ms = ', '.join(f'{run[0]} to {run[-1]}' if len(run) > 1 else str(run[0]) for run in runs)
            yield f'{ms} x {n} x {k}', report

    def _changes(self):
        return [f'n = {n}, k = {k}: {self._change_text((n, k))}' for (n, k), count in self.compared.items() if count]

    def __str__(self) -> str:
        return '\n'.join(['\n  '.join([size, *report]) for size, report in self._lines()] + self._changes())

    __repr__ = __str__

    def _repr_html_(self):
        lines = [(size, '; '.join(report)) for size, report in self._lines()] + [('', text) for text in self._changes()]
        return html.table(lines, ('m x n x k', 'plans'))


def plans_of(kernel: Callable[[Any, Any], Any], formats: arrays.Formats, *, m: int | Iterable[int], n: int | Iterable[int],
             k: int | Iterable[int], rows: str | Row | Iterable[str | Row] = '', seed: int = 1, like: Any = None,
             threads: int | None = None) -> KernelPlans:
    """Asks kernel(a, b), a (m, k) and b (k, n), for products, and finds the plans. Row i of D must have the same bits for
    every m: these are compared.

    Each size gets two products, up to four while several plans are left. Numbers are normally distributed; the sums of
    every second column cancel, and show all bits of the error. Each call gets copies.

    formats: those of A, B and D, such as 'bf16,bf16,bf16'; m, n, k: a size or several; rows: as `plan_of`; like: a tensor of
    PyTorch on the device where the kernel wants its operands

    >>> from mmadiff import Plan
    >>> kernel = Plan('x86/vfmadd231ss | every 64: add | f32')
    >>> plans_of(kernel, 'f32,f32,f32', m=(1, 2), n=40, k=192, rows=kernel.row)
    1 to 2 x 40 x 192
      x86/vfmadd231ss | every 64: add | f32
    n = 40, k = 192: no change was seen in 80 elements; the plan is the same for every m
    """
    named = arrays.formats_of(formats)
    if len(named) != 3:
        raise ValueError(f"formats={formats!r}: those of A, B and D, such as 'f16,f16,f32'")
    found: dict[tuple[int, int, int], FoundPlans] = {}
    changes_at, compared = {}, {}
    ms = _sizes(m, 'm')
    if not callable(kernel):
        raise TypeError(f'plans_of takes a function of a and b, not {kernel!r:.40}')
    for columns, depth in itertools.product(_sizes(n, 'n'), _sizes(k, 'k')):
        rng, changes, count = np.random.default_rng(seed), set(), 0
        for product in range(_MOST_PRODUCTS):
            a, b = _operands(rng, product, max(ms), columns, depth, (named['a'], named['b']))
            before = None
            for size in ms:
                d = _ask(kernel, a[:size], b, named, like)
                if before is not None:
                    count += before.size
                    changes |= {size} if not np.array_equal(d[:len(before)], before) else set()
                before, at = d, (size, columns, depth)
                if at not in found or found[at].plans and not found[at].is_settled:
                    plans = plan_of(a[:size], b, d, rows=rows, threads=threads, formats=named)
                    found[at] = _both(plans, found.get(at, plans))
            open_sizes = [size for size in ms if found[size, columns, depth].plans
                          and not found[size, columns, depth].is_settled]
            if product + 1 >= _FEWEST_PRODUCTS and not open_sizes:
                break
        changes_at[columns, depth], compared[columns, depth] = sorted(changes), count
    return KernelPlans(found, changes_at, compared)


def _ask(kernel, a, b, formats, like):
    """The words of kernel(a, b), of copies."""
    operands = (arrays.array(words.copy(), formats[name], like) for name, words in (('a', a), ('b', b)))
    words = arrays.words(kernel(*operands), formats['d'], "the kernel's result")
    if words.shape != (len(a), b.shape[1]):
        raise ValueError(f"the kernel's result has the shape {arrays.shape_text(words.shape)}; it must have "
                         f'{arrays.shape_text((len(a), b.shape[1]))}')
    return words.copy()
