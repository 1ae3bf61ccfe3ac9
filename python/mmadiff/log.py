"""Logs of matrix products: files of safetensors with operands, results and plans."""
from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from typing import Any

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
_FACTORS = ('alpha', 'beta')
_TEXTS = ('plan', *_FACTORS)  # in the metadata
_OPERANDS = ('c', 'bias', 'scale_a', 'scale_b', 'block_scale_a', 'block_scale_b')


class Layer:
    """A product of a log: name, a, b, d, plan (None if the log names none), and `operands`, the others by name."""

    def __init__(self, name: str, tensors: dict[str, Any], plan: Plan | None, operands: dict[str, Any]) -> None:
        self.name, self.plan, self.operands = name, plan, operands
        self.a, self.b, self.d = (tensors[operand] for operand in 'abd')

    def __repr__(self) -> str:
        (m, k), n = self.a.shape, self.b.shape[1]
        more = f", {', '.join(self.operands)}" if self.operands else ''
        return f'{self.name}: {m} x {n} x {k}, {self.plan or "no plan"}{more}'


def read_log(path: str | os.PathLike[str]) -> Iterator[Layer]:
    """The products of a log, one after the other: a file of safetensors with the tensors NAME.a (m x k), NAME.b (k x n),
    NAME.d, perhaps NAME.c, NAME.bias, NAME.scale_a, NAME.block_scale_a ... (shapes as `Plan` takes them), and the metadata
    'NAME.plan', or 'plan' for all others, perhaps 'NAME.alpha' and 'NAME.beta'. Tensors are mapped, not read.

    Raises ValueError if the file is damaged, or if tensors of a product are missing.
    """
    path = os.fspath(path)
    header, start = _header(path)
    metadata = _metadata(path, header.pop('__metadata__', {}))
    groups: dict[str, dict[str, Any]] = {}
    for key, entry in header.items():
        name, _, operand = key.rpartition('.')
        if operand in ('a', 'b', 'd', *_OPERANDS):
            groups.setdefault(name, {})[operand] = entry
    if not groups:
        raise ValueError(f'{path} has no tensor NAME.a, NAME.b, NAME.d')
    for name, entries in groups.items():
        if missing := [operand for operand in 'abd' if operand not in entries]:
            raise ValueError(f"{path}: {name} lacks {', '.join(f'{name}.{operand}' for operand in missing)}")
    return (_layer(path, start, name, entries, metadata) for name, entries in groups.items())


def write_log(path: str | os.PathLike[str], products: Mapping[str, Mapping[str, Any]]) -> None:
    """Writes a log for `read_log`: {'mlp': {'a': a, 'b': b, 'd': d, 'plan': plan, 'scale_a': ...}, ...}. Arrays are NumPy's,
    ml_dtypes', PyTorch's or JAX's; raw words stay raw."""
    header: dict[str, Any] = {'__metadata__': {}}
    data: list[NDArray[Any]] = []
    for name, product in products.items():
        if unknown := product.keys() - {*'abd', *_OPERANDS, *_TEXTS}:
            raise ValueError(f"{name} has {', '.join(sorted(unknown))}: a product has a, b, d, {', '.join((*_OPERANDS, *_TEXTS))}")
        if missing := [operand for operand in 'abd' if operand not in product]:
            raise ValueError(f"{name} lacks {', '.join(missing)}")
        for operand, x in product.items():
            if operand in _TEXTS:
                header['__metadata__'][f'{name}.{operand}'] = str(x)
                continue
            words, format = arrays.read(x, f'{name}.{operand}')
            kind = f'U{8 * words.itemsize}' if format is None else _TYPES.get(format)
            if kind is None:
                raise TypeError(f'{name}.{operand} has the format {format}, which safetensors lacks')
            first = sum(one.nbytes for one in data)
            header[f'{name}.{operand}'] = {'dtype': kind, 'shape': list(words.shape), 'data_offsets': [first, first + words.nbytes]}
            data.append(words)
    text = json.dumps(header).encode()
    text += b' ' * (-len(text) % 8)  # tensors are aligned
    with open(path, 'wb') as file:
        file.write(len(text).to_bytes(8, 'little') + text)
        for words in data:
            file.write(np.ascontiguousarray(words, words.dtype.newbyteorder('<')).tobytes())


def _header(path):
    """The tensors of the file by name, and where their bytes begin."""
    size = os.path.getsize(path)
    with open(path, 'rb') as file:
        length = int.from_bytes(file.read(8), 'little')
        if size < 8 or length > min(size - 8, _MOST_HEADER):
            raise ValueError(f'{path} is not a file of safetensors: its header has {length} bytes, the file {size}')
        text = file.read(length)
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f'{path}: the header is not JSON: {error}') from None
    if not isinstance(header, dict):
        raise ValueError(f'{path}: the header is not an object of JSON')
    return header, 8 + length


def _metadata(path, metadata):
    if isinstance(metadata, dict) and all(isinstance(x, str) for x in metadata.values()):
        return metadata
    raise ValueError(f'{path}: __metadata__ is not an object of texts')


def _layer(path, start, name, entries, metadata):
    tensors = {operand: _tensor(path, start, f'{name}.{operand}', entry) for operand, entry in entries.items()}
    for operand in 'abd':
        if tensors[operand].ndim != 2:
            raise ValueError(f'{path}: {name}.{operand} has the shape {arrays.shape_text(tensors[operand].shape)}: a matrix is '
                             'needed')
    operands = {operand: tensor for operand, tensor in tensors.items() if operand in _OPERANDS}
    for factor in _FACTORS:
        if (number := metadata.get(f'{name}.{factor}')) is not None:
            operands[factor] = float(number)
    text = metadata.get(f'{name}.plan', metadata.get('plan'))
    return Layer(name, tensors, None if text is None else Plan(text), operands)


def _tensor(path, start, key, entry):
    """A tensor of the file, mapped."""
    try:
        kind, shape, (first, end) = str(entry['dtype']), tuple(entry['shape']), entry['data_offsets']
    except (TypeError, KeyError, ValueError):
        raise ValueError(f'{path}: {key} lacks dtype, shape or data_offsets') from None
    format = _FORMATS.get(kind)
    if format is None and kind not in _RAW:
        raise ValueError(f"{path}: {key} has the type {kind!r:.40}; read_log has {', '.join([*_FORMATS, *_RAW])}")
    if not all(isinstance(x, int) and not isinstance(x, bool) and 0 <= x < 1 << 48 for x in (*shape, first, end)):
        raise ValueError(f'{path}: {key} has the shape {shape!r:.60} at bytes {first!r:.20} to {end!r:.20}')
    words = np.dtype(f'<u{_RAW[kind]}') if format is None else arrays.word_type(format).newbyteorder('<')
    if end - first != math.prod(shape) * words.itemsize or start + end > os.path.getsize(path):
        raise ValueError(f'{path}: {key} needs {math.prod(shape) * words.itemsize} bytes, but has those from {first} to {end}')
    if end == first:
        mapped = np.empty(shape, words)
    else:
        mapped = np.memmap(path, words, 'r', start + first, shape)
    return mapped.view(np.ndarray) if format is None else arrays.array(mapped.view(np.ndarray), format)
