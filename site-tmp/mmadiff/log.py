"""Logs of matrix products: files of safetensors with operands, results and plans."""
from __future__ import annotations

import json
import math
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from . import arrays
from .plans import Plan

_FORMATS = {'F64': 'f64', 'F32': 'f32', 'F16': 'f16', 'BF16': 'bf16', 'F8_E4M3': 'e4m3', 'F8_E5M2': 'e5m2',
            'F8_E4M3FNUZ': 'e4m3fnuz', 'F8_E5M2FNUZ': 'e5m2fnuz', 'F8_E8M0': 'ue8m0', 'I32': 's32', 'I16': 's16',
            'I8': 's8'}
_RAW = {'U8': 1, 'U16': 2, 'U32': 4, 'U64': 8}  # words, in bytes
_TYPES = {format: name for name, format in _FORMATS.items()}
_MOST_HEADER = 100 << 20  # that of safetensors itself
_MOST_DIMENSIONS = 8
_FACTORS = ('alpha', 'beta')
_TEXTS = ('plan', *_FACTORS)  # in the metadata
_OPERANDS = ('c', 'bias', 'scale_a', 'scale_b', 'block_scale_a', 'block_scale_b')


class Layer:
    """A product of a log: name, a, b, d, plan (None if the log names none), and `operands`, the others by name.

    `plan` and `operands` raise ValueError if the log has a wrong text for them.
    """

    def __init__(self, name: str, tensors: dict[str, Any], texts: dict[str, str]) -> None:
        self.name, self._tensors, self._texts = name, tensors, texts
        self.a, self.b, self.d = (tensors[operand] for operand in 'abd')

    def _read(self, key, read):
        try:
            return read(self._texts[key])
        except ValueError as error:
            raise ValueError(f'{self.name}.{key}: {error}') from None

    @property
    def plan(self) -> Plan | None:
        return self._read('plan', Plan) if 'plan' in self._texts else None

    @property
    def operands(self) -> dict[str, Any]:
        """{'scale_a': array, ..., 'alpha': number}: keyword arguments of a plan."""
        return {name: x for name, x in self._tensors.items() if name in _OPERANDS} | {
            name: self._read(name, float) for name in _FACTORS if name in self._texts}

    def __repr__(self) -> str:
        (m, k), n = self.a.shape, self.b.shape[1]
        more = [name for name in (*_OPERANDS, *_FACTORS) if name in self._tensors or name in self._texts]
        return ', '.join([f"{self.name}: {m} x {n} x {k}, {self._texts.get('plan', 'no plan')}", *more])


def read_log(path: str | os.PathLike[str]) -> Iterator[Layer]:
    """The products of a log, one after the other: a file of safetensors with the tensors NAME.a (m x k), NAME.b (k x n),
    NAME.d, perhaps NAME.c, NAME.bias, NAME.scale_a, NAME.block_scale_a ... (shapes as `Plan` takes them), and the metadata
    'NAME.plan', or 'plan' for all others, perhaps 'NAME.alpha' and 'NAME.beta'. Other tensors are left out. Tensors are
    mapped into memory, not read.

    Raises ValueError if the file is damaged, or if tensors of a product are missing or have no meaning.
    """
    path = os.fspath(path)
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError(f'{path} is not a regular file')
    with open(path, 'rb') as file:  # once, for the header and all tensors: the path may name another file later
        header, start = _header(path, file)
        data = np.memmap(file, np.uint8, 'r').view(np.ndarray)[start:]
    metadata = _metadata(path, header.pop('__metadata__', {}))
    _check_spans(path, [(*_span(path, key, entry), key) for key, entry in header.items()], data.size)
    groups: dict[str, dict[str, Any]] = {}
    for key, entry in header.items():
        name, _, operand = key.rpartition('.')
        groups.setdefault(name, {})[operand] = entry
    groups = {name: entries for name, entries in groups.items() if entries.keys() & {*'abd'}}
    if not groups:
        raise ValueError(f'{path} has no tensor NAME.a, NAME.b, NAME.d')
    for name, entries in groups.items():
        if missing := [operand for operand in 'abd' if operand not in entries]:
            raise ValueError(f"{path}: {name} lacks {', '.join(f'{name}.{operand}' for operand in missing)}")
        if unknown := sorted(entries.keys() - {*'abd', *_OPERANDS}):
            raise ValueError(f"{path}: {name} has {', '.join(unknown)}; a product has a, b, d, {', '.join(_OPERANDS)}")
    return (_layer(path, data, name, entries, metadata) for name, entries in groups.items())


def write_log(path: str | os.PathLike[str], products: Mapping[str, Mapping[str, Any]]) -> None:
    """Writes a log for `read_log`: {'mlp': {'a': a, 'b': b, 'd': d, 'plan': plan, 'scale_a': ...}, ...}. Arrays are NumPy's,
    ml_dtypes', PyTorch's or JAX's; raw words stay raw. The file appears when it is complete."""
    metadata: dict[str, str] = {}
    header: dict[str, Any] = {'__metadata__': metadata}
    data: list[NDArray[Any]] = []
    first = 0
    for name, product in products.items():
        for operand, x in _checked(name, product).items():
            if operand in _TEXTS:
                metadata[f'{name}.{operand}'] = str(Plan(x)) if operand == 'plan' else repr(float(x))
                continue
            words, kind = _stored(x, f'{name}.{operand}')
            header[f'{name}.{operand}'] = {'dtype': kind, 'shape': list(words.shape),
                                           'data_offsets': [first, first + words.nbytes]}
            first += words.nbytes
            data.append(words)
    if not data:
        raise ValueError('a log has at least one product')
    path = os.path.realpath(path)
    is_there = os.path.lexists(path)
    if is_there and not os.path.isfile(path):
        raise ValueError(f'{path} is not a regular file')
    text = json.dumps(header).encode()
    text += b' ' * (-len(text) % 8)  # tensors are aligned
    with tempfile.NamedTemporaryFile(dir=os.path.dirname(path), delete=False) as file:
        try:  # another name: the arrays may be mapped from the old file
            file.write(len(text).to_bytes(8, 'little') + text)
            for words in data:
                file.write(np.ascontiguousarray(words, words.dtype.newbyteorder('<')).tobytes())
            file.flush()
            os.chmod(file.name, stat.S_IMODE(os.stat(path).st_mode) if is_there else 0o666 & ~_umask())
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def _umask():
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _checked(name, product):
    """The members of a product that are not None."""
    arrays.text(name, 'the name of a product').encode()
    if not isinstance(product, Mapping):
        raise TypeError(f"{name} is {product!r:.40}, not a dictionary with a, b, d")
    given = {operand: x for operand, x in product.items() if x is not None}
    if unknown := given.keys() - {*'abd', *_OPERANDS, *_TEXTS}:
        raise ValueError(f"{name} has {', '.join(sorted(unknown))}: a product has a, b, d, {', '.join((*_OPERANDS, *_TEXTS))}")
    if missing := [operand for operand in 'abd' if operand not in given]:
        raise ValueError(f"{name} lacks {', '.join(missing)}")
    return given


def _stored(x, what):
    """The words of an array, and its type in the file."""
    if isinstance(x, (int, float)):
        raise TypeError(f'{what} is a number: give an array in the format of sums')
    words, format = arrays.read(x, what)
    kind = f'U{8 * words.itemsize}' if format is None else _TYPES.get(format)
    if kind is None:
        raise TypeError(f"{what} has the format {format}, which a log lacks: give raw words, unsigned integers")
    if what.rpartition('.')[2] in ('a', 'b', 'd') and words.ndim != 2 or words.ndim > _MOST_DIMENSIONS:
        raise ValueError(f'{what} has the shape {arrays.shape_text(words.shape)}: a matrix is needed')
    return words, kind


def _unique(pairs):
    """An object of JSON, whose names must differ."""
    names = dict(pairs)
    if len(names) != len(pairs):
        raise ValueError(f'a name is given twice among {[name for name, _ in pairs]!r:.80}')
    return names


def _header(path: str, file: IO[bytes]) -> tuple[dict[str, Any], int]:
    """The tensors of the file by name, and where their bytes begin."""
    size = os.fstat(file.fileno()).st_size
    length = int.from_bytes(file.read(8), 'little')
    if size < 8 or length > min(size - 8, _MOST_HEADER):
        raise ValueError(f'{path} is not a file of safetensors: its header has {length} bytes, the file {size}')
    try:
        header = json.loads(file.read(length).decode(), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise ValueError(f'{path}: the header is not JSON of safetensors: {error}') from None
    if not isinstance(header, dict):
        raise ValueError(f'{path}: the header is not an object of JSON')
    return header, 8 + length


def _metadata(path, metadata):
    if isinstance(metadata, dict) and all(isinstance(x, str) for x in metadata.values()):
        return metadata
    raise ValueError(f'{path}: __metadata__ is not an object of texts')


def _span(path, key, entry):
    """(first, end) of a tensor's bytes."""
    try:
        shape, (first, end) = tuple(entry['shape']), entry['data_offsets']
        str(entry['dtype'])
    except (TypeError, KeyError, ValueError):
        raise ValueError(f'{path}: {key} lacks dtype, shape or data_offsets') from None
    if len(shape) > _MOST_DIMENSIONS or not all(
            isinstance(x, int) and not isinstance(x, bool) and 0 <= x < 1 << 48 for x in (*shape, first, end)):
        raise ValueError(f'{path}: {key} has the shape {shape!r:.60} at bytes {first!r:.20} to {end!r:.20}')
    return first, end


def _check_spans(path, spans, size):
    """Tensors follow one another, as safetensors wants it: no byte is in two, and none in none."""
    at = 0
    for first, end, key in sorted(spans):
        if first != at or end < first:
            raise ValueError(f'{path}: {key} has the bytes {first} to {end}, but the tensor before ends at {at}')
        at = end
    if at != size:
        raise ValueError(f'{path}: tensors have {at} bytes, but the file has {size}')


def _layer(path, data, name, entries, metadata):
    tensors = {operand: _tensor(path, data, f'{name}.{operand}', entry) for operand, entry in entries.items()}
    for operand in 'abd':
        if tensors[operand].ndim != 2:
            raise ValueError(f'{path}: {name}.{operand} has the shape {arrays.shape_text(tensors[operand].shape)}: a matrix is '
                             'needed')
    texts = {key: metadata[f'{name}.{key}'] for key in _TEXTS if f'{name}.{key}' in metadata}
    return Layer(name, tensors, {'plan': metadata['plan'], **texts} if 'plan' in metadata else texts)


def _tensor(path, data, key, entry):
    """A tensor of the file, mapped."""
    kind, shape, (first, end) = str(entry['dtype']), tuple(entry['shape']), entry['data_offsets']
    format = _FORMATS.get(kind)
    if format is None and kind not in _RAW:
        raise ValueError(f"{path}: {key} has the type {kind!r:.40}; read_log has {', '.join([*_FORMATS, *_RAW])}")
    words = np.dtype(f'<u{_RAW[kind]}') if format is None else arrays.word_type(format).newbyteorder('<')
    if end - first != math.prod(shape) * words.itemsize:
        raise ValueError(f'{path}: {key} needs {math.prod(shape) * words.itemsize} bytes, but has {end - first}')
    mapped = data[first:end].view(words).reshape(shape)
    return mapped if format is None else arrays.array(mapped, format)
