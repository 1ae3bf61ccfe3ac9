"""Packed arrays: FP4, FP6, 4-bit integers and bits without gaps between them."""
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from . import _core, arrays


def _bits(format):
    bits = _core.format_bits(format)
    if not 0 < bits < 8:
        raise ValueError(f"formats of less than 8 bits are packed (e2m1, e2m3, e3m2, s4, u4, b1), not '{format}'")
    return bits


@overload
def unpack(packed: NDArray[Any], format: object, count: int | None = None) -> NDArray[Any]: ...


@overload
def unpack(packed: Any, format: object, count: int | None = None) -> Any: ...


def unpack(packed: Any, format: object, count: int | None = None) -> Any:
    """Bytes with numbers of less than 8 bits as an array of them, a byte each. The last axis is packed without gaps, the
    first number in the lowest bits of the first byte. `count` numbers of it are read; all if it is not given.

    >>> unpack(np.uint8([0x21, 0x43]), 'u4').view('u1')
    array([1, 2, 3, 4], dtype=uint8)
    """
    format = arrays.format_of(format)
    bits = _bits(format)
    words, read = arrays.read(packed, 'the packed array')
    if read is not None or words.dtype != np.uint8 or words.ndim == 0:
        raise TypeError('packed arrays have bytes (uint8), in one dimension or more')
    most = words.shape[-1] * 8 // bits
    if count is None:
        count = most
    if not 0 <= count <= most:
        raise ValueError(f'{words.shape[-1]} bytes have {most} numbers of {bits} bits, not {count}')
    flat = np.unpackbits(words, axis=-1, bitorder='little')[..., :count * bits]
    each = flat.reshape(*words.shape[:-1], count, bits)
    return arrays.array(np.packbits(each, axis=-1, bitorder='little')[..., 0], format, like=packed)


@overload
def pack(x: NDArray[Any], format: object = None) -> NDArray[Any]: ...


@overload
def pack(x: Any, format: object = None) -> Any: ...


def pack(x: Any, format: object = None) -> Any:
    """The inverse: bytes of an array of numbers, packed along its last axis. The last byte may have free bits, which are
    0. `format` is that of raw words.

    >>> pack(np.uint8([1, 2, 3]), 'u4')
    array([33,  3], dtype=uint8)
    """
    _, read = arrays.read(x, 'the array')
    if format is None and read is None:
        raise TypeError("the array has raw words: give their format, format='e2m1'")
    format = arrays.format_of(read if format is None else format)
    bits, words = _bits(format), arrays.words(x, format, 'the array')
    if words.ndim == 0:
        raise TypeError('a packed array has one dimension or more')
    if words.size and int(words.max()) >> bits:
        raise ValueError(f'the array has the word {int(words.max()):#x}, but words of {format} have {bits} bits')
    each = np.unpackbits(np.ascontiguousarray(words)[..., np.newaxis], axis=-1, bitorder='little')[..., :bits]
    flat = each.reshape(*words.shape[:-1], words.shape[-1] * bits)
    return arrays.array(np.packbits(flat, axis=-1, bitorder='little'), 'u8', like=x)
