"""Arrays of numbers as arrays of words, and back.

A word is the bit pattern of a number, an unsigned integer of the array's own width. Arrays come from NumPy,
ml_dtypes, PyTorch, JAX, or anything that has `__array__` or `__dlpack__`.
"""
import functools
import math
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The type in which an array holds each format, NumPy's or ml_dtypes'.
_TYPES = {
    'f64': 'float64', 'f32': 'float32', 'tf32': 'float32', 'tf32_amx': 'float32', 'f16': 'float16',
    'bf16': 'bfloat16', 'e4m3': 'float8_e4m3fn', 'e5m2': 'float8_e5m2', 'e4m3fnuz': 'float8_e4m3fnuz',
    'e5m2fnuz': 'float8_e5m2fnuz', 'e2m3': 'float6_e2m3fn', 'e3m2': 'float6_e3m2fn', 'e2m1': 'float4_e2m1fn',
    'ue8m0': 'float8_e8m0fnu', 'ue4m3': 'float8_e4m3fn', 's32': 'int32', 's16': 'int16', 's8': 'int8', 'u8': 'uint8',
    's4': 'int4', 'u4': 'uint4', 'b1': 'bool'}
FORMATS = tuple(_TYPES)
_WORD_BYTES = {'f64': 8, 'f32': 4, 'tf32': 4, 'tf32_amx': 4, 'f16': 2, 'bf16': 2, 's32': 4, 's16': 2}  # others: 1
# Formats that a type means if nothing else is known.
_FORMAT_OF = {type_name: format for format, type_name in reversed(_TYPES.items())}


def is_integer(format: str) -> bool:
    return format[0] in 'sub' and format[1:].isdigit()


def integer_type(format: str) -> np.dtype[Any]:
    """The type of NumPy with the integers of the format, right-aligned words of which are read without their sign."""
    return np.dtype(_TYPES[format]) if hasattr(np, _TYPES[format]) and format != 'b1' else word_type(format)


@functools.lru_cache(maxsize=None)
def word_type(format: str) -> np.dtype[Any]:
    """The unsigned integer type of the format's words."""
    return np.dtype(f'u{_WORD_BYTES.get(format, 1)}')


@functools.lru_cache(maxsize=None)
def dtype(format: str) -> np.dtype[Any]:
    """The type of arrays of the format: NumPy's, ml_dtypes' if that is installed, else the type of its words.

    >>> dtype('f16')
    dtype('float16')
    """
    if format not in _TYPES:
        raise ValueError(f"no format '{format}' (formats: {', '.join(FORMATS)})")
    name = _TYPES[format]
    try:
        return np.dtype(name)
    except TypeError:
        pass
    try:
        import ml_dtypes
        return np.dtype(getattr(ml_dtypes, name))
    except (ImportError, AttributeError):
        return word_type(format)


def type_text(format: str) -> str:
    """'float16', 'ml_dtypes.bfloat16': how to name the type to a user."""
    name = _TYPES[format]
    return name if hasattr(np, name) else f'ml_dtypes.{name}'


def is_torch(x: object) -> bool:
    torch = sys.modules.get('torch')
    return torch is not None and isinstance(x, torch.Tensor)


def _from_torch(x, what):
    """(words or array of NumPy, name of the type)"""
    torch = sys.modules['torch']
    if x.layout is not torch.strided or x.is_quantized:
        raise TypeError(f'{what} is a tensor of PyTorch that is sparse or quantized: use a dense one')
    name = str(x.dtype).removeprefix('torch.')
    x = x.detach().resolve_conj().resolve_neg().cpu()
    if name.endswith('_x2'):
        return _unpacked(x.view(torch.uint8).numpy(), what), name.removesuffix('_x2')
    if name.startswith(('float8', 'float4', 'float6')):
        return x.view(torch.uint8).numpy(), name
    if name == 'bfloat16':
        return x.view(torch.int16).numpy().view(np.uint16), name
    try:
        return x.numpy(), name
    except TypeError:
        raise TypeError(f'{what} has the type {x.dtype}, which mmadiff does not have') from None


def _unpacked(pairs, what):
    """Bytes of two words, the first in the low bits: consecutive elements of the axis that is contiguous in memory."""
    if pairs.ndim == 0:
        raise ValueError(f'{what} has no axis along which its pairs are')
    axis = next((i for i in reversed(range(pairs.ndim)) if pairs.strides[i] == 1), pairs.ndim - 1)
    both = np.stack((pairs & 15, pairs >> 4), axis=axis + 1)
    shape = list(pairs.shape)
    shape[axis] *= 2
    return both.reshape(shape)


def _as_numpy(x, what):
    """(array, name of its type)"""
    if is_torch(x):
        return _from_torch(x, what)
    if x is None or isinstance(x, (str, bytes)):
        raise TypeError(f'{what} is {x!r:.40}, not an array')
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError(f'{what} is a masked array: fill it first')
    if not isinstance(x, np.ndarray):
        if hasattr(x, '__array__') or not hasattr(x, '__dlpack__'):
            x = np.asarray(x)
        else:
            x = np.from_dlpack(x)
    return x, x.dtype.name


def _native(x):
    """The array in this machine's byte order; NaNs keep their payloads."""
    return x if x.dtype.isnative else x.astype(x.dtype.newbyteorder('='))


def read(x: Any, what: str = 'the array') -> tuple[NDArray[Any], str | None]:
    """(words, format) of an array; format is None if it has raw words (unsigned integers)."""
    x, name = _as_numpy(x, what)
    if x.dtype.kind == 'f' or x.dtype.kind in 'iu':
        x = _native(x.view(f'{x.dtype.byteorder}u{x.dtype.itemsize}'))
    if name in ('uint8', 'uint16', 'uint32', 'uint64'):
        return x, None
    format = _FORMAT_OF.get(name)
    if format is None or x.dtype.hasobject:
        raise TypeError(f'{what} has the type {name}, which mmadiff does not have')
    return x.view(word_type(format)), format


@functools.lru_cache(maxsize=None)
def _holds(type, format):
    """Whether arrays of the type of NumPy hold numbers or words of the format, in this machine's byte order."""
    return type.isnative and (type == word_type(format) or (type.kind in 'fiV' and type.name == _TYPES[format]))


def words(x: Any, format: str, what: str = 'the array') -> NDArray[Any]:
    """The words of an array of the format: unsigned integers of its width, without a copy where the layout allows.

    The array may hold numbers of the format or raw words.
    """
    if type(x) is np.ndarray and _holds(x.dtype, format):
        return x.view(word_type(format))
    got, name = read(x, what)
    wanted = word_type(format)
    if name is None and got.dtype == wanted:
        return got
    if name is not None and _TYPES[name] == _TYPES[format]:
        return got
    type_name = got.dtype.name if name is None else type_text(name)
    raise TypeError(f'{what} has the type {type_name}, not {type_text(format)} or {wanted.name} (words of {format})')


def array(words: NDArray[Any], format: str, like: Any = None) -> Any:
    """Words as an array of numbers, without a copy: a tensor of PyTorch if `like` is one, on its device; else NumPy's.

    >>> array(np.array([0x3c00], np.uint16), 'f16')
    array([1.], dtype=float16)
    """
    if not is_torch(like):
        return words.view(dtype(format))
    torch = sys.modules['torch']
    name = _TYPES[format]
    signed = torch.from_numpy(words.view(f'i{words.itemsize}'))
    to = getattr(torch, name, None)
    if to is None or name in ('int4', 'uint4', 'bool'):
        return signed.view(torch.uint8).to(like.device)
    return signed.view(to).to(like.device)


def shape_text(shape: tuple[int, ...]) -> str:
    """(16, 8)"""
    return '(' + ', '.join(map(str, shape)) + (',)' if len(shape) == 1 else ')')


def _lead(operands):
    """The leading dimensions of all operands, broadcast."""
    shapes = [words.shape[:-2] for words, *_ in operands]
    if all(shape == shapes[0] for shape in shapes):
        return shapes[0]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        text = ', '.join(f'{name} {shape_text(words.shape)}' for words, _, _, name in operands)
        raise ValueError(f'the leading dimensions do not fit: {text}') from None


class Stack:
    """Matrices with equal numbers of leading dimensions, as attributes [count][rows][columns]."""

    a: NDArray[Any]
    b: NDArray[Any]
    c: NDArray[Any] | None
    scale_a: NDArray[Any] | None
    scale_b: NDArray[Any] | None

    def __init__(self, **operands: tuple[NDArray[Any], int | None, int | None, str] | None) -> None:
        """Operands: (words, rows, columns, name), or None; rows and columns are None if any number fits."""
        given = [operand for operand in operands.values() if operand is not None]
        for words, rows, columns, name in given:
            shape = words.shape
            if len(shape) < 2 or rows not in (None, shape[-2]) or columns not in (None, shape[-1]):
                text = ', '.join(('...', *('any' if size is None else str(size) for size in (rows, columns))))
                raise ValueError(f'{name} has the shape {shape_text(shape)}; it must have ({text})')
        self.lead = _lead(given)
        self.count = math.prod(self.lead)
        for key, operand in operands.items():
            setattr(self, key, None if operand is None else self._flat(operand[0]))

    def _flat(self, words):
        """A copy only if it must be."""
        lead, core = words.shape[:-2], words.shape[-2:]
        if lead == self.lead:
            return words if len(lead) == 1 else words.reshape(self.count, *core)
        if math.prod(lead) == 1:
            return np.broadcast_to(words.reshape(core), (self.count, *core))
        return np.broadcast_to(words, (*self.lead, *core)).reshape(self.count, *core)

    def empty(self, rows: int, columns: int, format: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """Words for results: [..., rows, columns], and the same as [count][rows][columns]."""
        flat = np.empty((self.count, rows, columns), word_type(format))
        return flat.reshape(*self.lead, rows, columns), flat
