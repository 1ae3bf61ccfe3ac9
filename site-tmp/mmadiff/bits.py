"""Comparisons of words."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core, arrays


def element_text(word: Any, format: str | None) -> str:
    """'0x3c00 = 1': a word of NumPy and its number."""
    text = f'0x{int(word):0{2 * word.itemsize}x}'
    if format is None:
        return text
    if arrays.is_integer(format):
        return f'{text} = {_integer(int(word), format)}'
    return f"{text} = {arrays.converted(word.reshape(1), format, 'f64').view(np.float64)[0]:.9g}"


def _integer(word, format):
    bits = _core.format_bits(format)
    return word - (1 << bits) if format[0] == 's' and word >> (bits - 1) & 1 else word


def _is_nan(words, format):
    if arrays.is_integer(format):
        return np.zeros(words.shape, bool)
    return np.isnan(arrays.converted(words, format, 'f64').view(np.float64))


def words_of_both(got: ArrayLike, want: ArrayLike, format: object) -> tuple[NDArray[Any], NDArray[Any], str | None]:
    """The words of both arrays, and their format; None if both have raw words. AssertionError if types or shapes differ."""
    if format is None:
        found = [arrays.read(x, name)[1] for name, x in (('got', got), ('want', want))]
        if None not in found and found[0] != found[1]:
            raise AssertionError(f'the formats differ: got {found[0]}, want {found[1]}')
        format = found[0] or found[1]
    if format is not None:
        format = arrays.format_of(format)
        x, y = arrays.words(got, format, 'got'), arrays.words(want, format, 'want')
    else:
        x, y = arrays.read(got, 'got')[0], arrays.read(want, 'want')[0]
    if x.shape != y.shape:
        raise AssertionError(f'the shapes differ: got {arrays.shape_text(x.shape)}, want {arrays.shape_text(y.shape)}')
    if x.dtype != y.dtype:
        raise AssertionError(f'the words differ in width: got {x.dtype}, want {y.dtype}')
    return x, y, format


class Difference(NamedTuple):
    """Words that differ: how many, the first place, and both numbers there."""

    differing: int
    at: tuple[int, ...]
    got: str
    want: str


def differ(got: NDArray[Any], want: NDArray[Any], format: str | None, any_nan: bool) -> NDArray[np.bool_]:
    """Which words differ; any_nan: two NaNs are equal."""
    if any_nan and format is None:
        raise TypeError('any_nan=True needs the format of the words')
    wrong = np.asarray(got != want)
    if any_nan and wrong.any():
        wrong &= ~(_is_nan(got, format) & _is_nan(want, format))
    return wrong


def first_difference(got: NDArray[Any], want: NDArray[Any], format: str | None, any_nan: bool) -> Difference | None:
    """None if all words are equal; any_nan: two NaNs are equal."""
    wrong = differ(got, want, format, any_nan)
    count = int(np.count_nonzero(wrong))
    if count == 0:
        return None
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return Difference(count, at, *(element_text(words[at], format) for words in (got, want)))
