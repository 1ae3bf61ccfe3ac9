"""Arrays of numbers as arrays of words, and back.

A word is the bit pattern of a number, an unsigned integer of the array's own width. Arrays come from NumPy,
ml_dtypes, PyTorch, JAX, or anything that has `__array__` or `__dlpack__`.
"""
import functools
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core

# The type in which an array holds each format, NumPy's or ml_dtypes'.
_TYPES = {
    'f64': 'float64', 'f32': 'float32', 'tf32': 'float32', 'tf32_amx': 'float32', 'f16': 'float16',
    'bf16': 'bfloat16', 'e4m3': 'float8_e4m3fn', 'e5m2': 'float8_e5m2', 'e4m3fnuz': 'float8_e4m3fnuz',
    'e5m2fnuz': 'float8_e5m2fnuz', 'e2m3': 'float6_e2m3fn', 'e3m2': 'float6_e3m2fn', 'e2m1': 'float4_e2m1fn',
    'ue8m0': 'float8_e8m0fnu', 'ue4m3': 'float8_e4m3fn', 's32': 'int32', 's16': 'int16', 's8': 'int8', 'u8': 'uint8',
    's4': 'int4', 'u4': 'uint4', 'b1': 'bool'}
FORMATS = tuple(_TYPES)
_MOST_DIMENSIONS = 31  # some functions of NumPy take one more
Formats = str | Sequence[object] | Mapping[str, object] | None  # of several operands: see formats_of
_WORD_BYTES = {'f64': 8, 'f32': 4, 'tf32': 4, 'tf32_amx': 4, 'f16': 2, 'bf16': 2, 's32': 4, 's16': 2}  # others: 1
# Formats that a type means if nothing else is known.
_FORMAT_OF = {type_name: format for format, type_name in reversed(_TYPES.items())}


def is_integer(format: str) -> bool:
    return format[0] in 'sub' and format[1:].isdigit()


def text(x: object, what: str) -> str:
    """A name or a line of text for `_core`."""
    if not isinstance(x, str):
        raise TypeError(f'{what} is {x!r:.40}, not a text')
    if '\0' in x:
        raise ValueError(f'{what} has a NUL character: {x!r}')
    return x


def format_of(x: object) -> str:
    """The format of a name or a type of NumPy, ml_dtypes or PyTorch. Other names raise ValueError, with all formats.

    >>> format_of('bf16'), format_of('float8_e4m3fn'), format_of(np.float32)
    ('bf16', 'e4m3', 'f32')
    """
    if isinstance(x, str):
        name = x.strip()
    elif is_torch(x, 'dtype'):
        name = _torch_name(x)
    else:
        try:
            name = np.dtype(x).name if isinstance(x, (type, np.dtype)) else f'{x!r:.40}'
        except TypeError:
            name = str(x)
    if name in _TYPES:
        return name
    if name in _FORMAT_OF:
        return _FORMAT_OF[name]
    raise ValueError(f"no format '{name}' (formats: {', '.join(FORMATS)})")


def formats_of(formats: Formats) -> dict[str, str]:
    """The formats of A, B and perhaps D, from a text with commas, a sequence, or a dictionary with some of 'a', 'b', 'd',
    'scale' (block scales), 'sum'.

    >>> formats_of('e4m3, e4m3, bf16')
    {'a': 'e4m3', 'b': 'e4m3', 'd': 'bf16'}
    """
    if formats is None:
        return {}
    if isinstance(formats, str):
        formats = formats.split(',')
    if isinstance(formats, Mapping):
        given = dict(formats)
    else:
        listed = list(formats) if isinstance(formats, Iterable) else []
        given = dict(zip('abd', listed)) if len(listed) in (2, 3) else {'': None}
    if not set(given) <= {'a', 'b', 'd', 'scale', 'sum'}:
        raise ValueError(f"formats={formats!r}: those of A, B and D, such as 'f16,f16,f32' or {{'a': 'bf16'}}, of block scales "
                         "('scale') or of sums ('sum')")
    return {name: format_of(format) for name, format in given.items()}


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
    name = _TYPES[format_of(format)]
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


def is_torch(x: object, type_name: str = 'Tensor') -> bool:
    torch = sys.modules.get('torch')
    return torch is not None and isinstance(x, getattr(torch, type_name))


def _torch_name(dtype):
    """The name of a type of PyTorch, of one number of a pair."""
    return str(dtype).removeprefix('torch.').removesuffix('_x2')


def _from_torch(x, what):
    """(words or array of NumPy, name of the type)"""
    torch = sys.modules['torch']
    name = _torch_name(x.dtype)
    if x.layout is not torch.strided or x.is_quantized or x.is_nested:
        raise TypeError(f'{what} is a tensor of PyTorch that is sparse, quantized or nested: use a dense one')
    if name not in _FORMAT_OF and not name.startswith('uint'):
        raise TypeError(f'{what} has the type {x.dtype}, which mmadiff does not have')
    try:
        here = x.detach().resolve_neg().cpu()
        if str(x.dtype).endswith('_x2'):
            return _unpacked(here.view(torch.uint8).numpy(), _packed_axis(x, what)), name
        if name.startswith(('float8_', 'float4_', 'float6_')):
            return here.view(torch.uint8).numpy(), name
        if name == 'bfloat16':
            return here.view(torch.int16).numpy().view(np.uint16), name
        return here.numpy(), name
    except (NotImplementedError, RuntimeError, TypeError) as error:
        raise TypeError(f'{what} is a tensor of PyTorch without data that can be read: {error}') from None


def _packed_axis(x, what):
    """The axis of pairs: the one that is contiguous in memory."""
    axes = [i for i, stride in enumerate(x.stride()) if stride == 1]
    if len(axes) != 1:
        raise ValueError(f'{what} has pairs of numbers, shape {shape_text(tuple(x.shape))} and strides {x.stride()}: the '
                         'axis of the pairs is the one with stride 1; use a contiguous tensor')
    return axes[0]


def _unpacked(pairs, axis):
    """Bytes of two words, the first in the low bits, as words."""
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
    if isinstance(x, np.ndarray) or hasattr(x, '__array__') or not hasattr(x, '__dlpack__'):
        x = np.asarray(x)
    else:
        x = np.from_dlpack(x)
    return x, x.dtype.name


def _aligned(words):
    """A copy of a field of structures, whose strides may be other than multiples of its size."""
    return words.copy() if any(stride % words.itemsize for stride in words.strides) else words


def is_void(x: object) -> bool:
    """Whether the type of an array has lost its name: numpy.load gives V2 for bfloat16."""
    return isinstance(x, np.ndarray) and x.dtype.type is np.void and x.dtype.names is None


def read(x: Any, what: str = 'the array') -> tuple[NDArray[Any], str | None]:
    """(words, format) of an array; format is None if it has raw words (unsigned integers, or V1 to V8)."""
    x, name = _as_numpy(x, what)
    format = _FORMAT_OF.get(name)
    raw = name in ('uint8', 'uint16', 'uint32', 'uint64') or is_void(x) and x.dtype.itemsize in (1, 2, 4, 8)
    if x.ndim > _MOST_DIMENSIONS:
        raise ValueError(f'{what} has {x.ndim} dimensions; it may have {_MOST_DIMENSIONS}')
    if not raw and format is None:
        raise TypeError(f'{what} has the type {name}, which mmadiff does not have')
    words = _aligned(x.view(f'{x.dtype.byteorder}u{x.dtype.itemsize}'))
    return words.astype(words.dtype.newbyteorder('='), copy=False), None if raw else format


def operand(x: Any, format: str | None, what: str, *, takes_others: bool = False) -> tuple[NDArray[Any], str]:
    """(words, format) of an array; `format` is that of raw words, or tf32 for float32. Arrays of other types keep theirs if
    takes_others, else they are refused."""
    found, own = read(x, what)
    if own is None and format is None:
        view = ', or view them, as .view(ml_dtypes.bfloat16)' if is_void(x) else ''
        raise TypeError(f'{what} has raw words ({found.dtype}): give their format, formats={{{what!r}: ...}}{view}')
    if own is not None and (format is None or takes_others and _TYPES[own] != _TYPES[format]):
        return found, own
    return words(found if own is None else x, str(format), what), str(format)


@functools.lru_cache(maxsize=None)
def _holds(type, format):
    """Whether arrays of the type of NumPy hold numbers or words of the format, in this machine's byte order."""
    return type.isnative and (type == word_type(format) or (type.kind in 'fiV' and type.name == _TYPES[format]))


def words(x: Any, format: str, what: str = 'the array') -> NDArray[Any]:
    """The words of an array of the format: unsigned integers of its width, without a copy where the layout allows.

    The array may hold numbers of the format or raw words.
    """
    if type(x) is np.ndarray and _holds(x.dtype, format) and x.ndim <= _MOST_DIMENSIONS:
        return _aligned(x.view(word_type(format)))
    got, name = read(x, what)
    wanted = word_type(format)
    if name is None and got.dtype == wanted:
        return got
    if name is not None and _TYPES[name] == _TYPES[format]:
        return got
    package = 'torch.' if is_torch(x) else ''
    type_name, right_name = (package + _TYPES[f] if package else type_text(f) for f in (name or format, format))
    advice = f"; mm.convert(..., '{format}') rounds" if name and not is_integer(name) and not is_integer(format) else ''
    raise TypeError(f'{what} has the type {type_name if name else got.dtype.name}, not {right_name} or {wanted.name} '
                    f'(words of {format}){advice}')


def converted(words: NDArray[Any], source: str, target: str, saturate: bool = False, threads: int = 1) -> NDArray[Any]:
    """Words of one format as words of another, rounded to nearest even."""
    made = np.empty(words.shape, word_type(target))
    _core.Row(source, target, saturate).execute(words.reshape(-1, 1, 1), None, None, None, None, None,
                                                made.reshape(-1, 1, 1), threads)
    return made


def numbers(x: ArrayLike, format: str, what: str) -> NDArray[Any]:
    """The words of numbers of the format: a number of Python, rounded, or an array, of another type if no number of it
    must be rounded."""
    if isinstance(x, (int, float)) and not isinstance(x, bool):
        return np.array(_core.format_word(format, float(x)), word_type(format))
    found, read_format = read(x, what)
    if read_format not in (None, format) and not is_integer(read_format):
        made = converted(found, read_format, format)
        if np.array_equal(converted(made, format, read_format), found):
            return made
    return words(x, format, what)


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
    metadata: NDArray[Any] | None

    def __init__(self, **operands: tuple[NDArray[Any], int | None, int | None, str] | None) -> None:
        """Operands: (words, rows, columns, name), or None; rows and columns are None if any number fits."""
        given = [operand for operand in operands.values() if operand is not None]
        for words, rows, columns, name in given:
            shape = words.shape
            if len(shape) < 2 or rows not in (None, shape[-2]) or columns not in (None, shape[-1]):
                text = ', '.join(('...', 'rows' if rows is None else str(rows), 'columns' if columns is None else str(columns)))
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
