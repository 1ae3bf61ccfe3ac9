"""The operands of a dot product, as records of the binary protocol and lines of the line protocol."""
import dataclasses
import functools
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import arrays, program

_ABSENT = '-'  # the format of b and c of a conversion
_DIGITS = np.frombuffer(b'0123456789abcdef', np.uint8)


@dataclasses.dataclass(frozen=True)
class Operation:
    """d = c + a0 * b0 + .. with formats, or a conversion of a to d (b and c have the format '-').

    k products; with block scales: `scales` words of the format `scale` for each of a and b. If a is sparse: `groups` words
    of metadata.
    """
    a: str
    b: str
    c: str
    d: str
    k: int = 1
    scale: str = ''
    scales: int = 0
    groups: int = 0
    name: str = ''
    per_case: int = 1  # dot products of an execution

    @property
    def is_conversion(self) -> bool:
        return self.b == _ABSENT

    @property
    def inputs(self) -> dict[str, tuple[str, int]]:
        """{name: (format, number of words)}, in the order of the protocols."""
        if self.is_conversion:
            return {'a': (self.a, 1)}
        all = {'a': (self.a, self.k), 'b': (self.b, self.k), 'c': (self.c, 1)}
        if self.scales:
            all |= {'scale_a': (self.scale, self.scales), 'scale_b': (self.scale, self.scales)}
        if self.groups:
            all |= {'metadata': ('u4', self.groups)}
        return all

    def shape(self, name: str, count: int) -> tuple[int, ...]:
        """The shape of an input of so many dot products, as a batch of matrices."""
        if self.is_conversion:
            return (count,)
        words = self.inputs[name][1]
        return (count, words, 1) if name in ('b', 'scale_b') else (count, 1, words)

    @functools.cached_property
    def record(self) -> np.dtype[Any]:
        """The type of NumPy of a dot product in the binary protocol."""
        return np.dtype([(name, arrays.word_type(format).newbyteorder('<'), (words,))
                         for name, (format, words) in self.inputs.items()])

    def unpacked(self, fields: Any, like: Any = None) -> dict[str, Any]:
        """{name: array} of {name: words of shape (N, number of words)}; each array is a copy."""
        unpacked = {}
        for name, (format, _) in self.inputs.items():
            words = fields[name].astype(arrays.word_type(format), order='C', copy=True)
            type = 'u8' if name == 'metadata' else format  # without need of ml_dtypes
            unpacked[name] = arrays.array(words.reshape(self.shape(name, len(words))), type, like)
        return unpacked

    def read(self, given: Mapping[str, ArrayLike | None], d: ArrayLike | None = None) -> list[NDArray[Any]]:
        """[(N, number of words)] of arrays by name, and of the results d if there are any."""
        inputs = self.inputs
        if given.get('metadata') is None:
            inputs.pop('metadata', None)  # the zeros of a give it
        fields = [_flat(given.get(name), format, words, name) for name, (format, words) in inputs.items()]
        if d is not None:
            fields.append(_flat(d, self.d, 1, 'd'))
        unknown = [name for name, x in given.items() if x is not None and name not in self.inputs]
        if unknown:
            raise ValueError(f"{self.name or 'the instruction'} has no {' and no '.join(unknown)}")
        names = [*inputs, 'd']
        for name, field in zip(names, fields):
            if len(field) != len(fields[0]):
                raise ValueError(f'a has the words of {len(fields[0])} dot products, {name} those of {len(field)}')
        return fields


def _flat(x, format, words, what):
    """The array's words as (N, words): those of a dot product follow each other, in any shape."""
    got = arrays.words(x, format, what)
    if got.size % words:
        raise ValueError(f'{what} has {got.size} elements, not a multiple of {words}')
    return np.ascontiguousarray(got).reshape(-1, words)


def _hex(words):
    """(N, n) words as (N, characters of n words, each followed by a blank)."""
    bytes = words.astype(words.dtype.newbyteorder('>')).view(np.uint8).reshape(*words.shape, words.itemsize)
    text = np.full((*words.shape, 2 * words.itemsize + 1), ord(' '), np.uint8)
    text[..., 0:-1:2] = _DIGITS[bytes >> 4]
    text[..., 1:-1:2] = _DIGITS[bytes & 15]
    return text.reshape(len(words), -1)


def to_lines(fields: Sequence[NDArray[Any]]) -> bytes:
    """Fields of `Operation.read` as bytes in the line protocol."""
    text = np.concatenate([_hex(field) for field in fields], axis=1)
    text[:, -1] = ord('\n')
    return text.tobytes()


def from_lines(operation: Operation, text: bytes) -> dict[str, NDArray[Any]]:
    """{name: (N, number of words)} of lines without results, all digits written; comments are left out."""
    text = re.sub(rb'^#.*\n', b'', text, flags=re.MULTILINE)
    if not text:
        return {name: np.zeros((0, words), arrays.word_type(format))
                for name, (format, words) in operation.inputs.items()}
    lines = np.frombuffer(text, np.uint8).reshape(-1, text.index(b'\n') + 1)
    digits = np.where(lines > ord('9'), lines - (ord('a') - 10), lines - ord('0')).astype(np.uint8)
    fields, at = {}, 0
    for name, (format, words) in operation.inputs.items():
        type = arrays.word_type(format)
        width = words * (2 * type.itemsize + 1)
        one = digits[:, at:at + width].reshape(len(lines), words, -1)[..., :-1]
        pairs = np.ascontiguousarray(one[..., 0::2] << 4 | one[..., 1::2])
        fields[name] = pairs.view(type.newbyteorder('>'))[..., 0].astype(type)
        at += width
    return fields


def of_formats(formats: str | Sequence[str] | Mapping[str, str], k: int | None,
               scale: str | None = None) -> Operation:
    """An operation outside the tables. `formats`: 'f16,f16,f32,f32', a sequence, or a dict with a, b, c, d.

    >>> of_formats('f16,f16,f32,f32', 4).record.itemsize
    20
    """
    if isinstance(formats, str):
        formats = formats.split(',')
    elif isinstance(formats, Mapping):
        wrong = set(formats) ^ set('abcd')
        if wrong:
            raise ValueError(f"formats are those of a, b, c and d, not of {', '.join(map(str, sorted(wrong)))}")
        formats = [formats[name] for name in 'abcd']
    names = [str(format).strip() for format in formats]
    if len(names) != 4:
        raise ValueError(f"formats are those of a, b, c and d, such as 'f16,f16,f32,f32', not {','.join(names)!r}")
    if k is None or isinstance(k, bool) or not hasattr(k, '__index__') or k.__index__() < 1:
        raise ValueError(f'k is the number of products of a dot product, at least 1, not {k!r}')
    for format in names:
        if format != _ABSENT:
            arrays.dtype(format)
    scale_format, block = scale.split(':') if scale else ('', k)
    a, b, c, d = names
    return Operation(a, b, c, d, int(k), scale_format, -(-k // int(block)) if scale else 0)


@functools.lru_cache(maxsize=None)
def _listed(path, glob):
    """The output of `list instructions` for the names; one call for each path and glob."""
    done = program.run(['list', 'instructions', glob, '--json'])
    if error := done.error():
        raise error
    return json.loads(done.stdout)


def of_instruction(instr: object) -> list[Operation]:
    """The operations of the instructions that match a glob of ARCH/INSTRUCTION."""
    known = [row for row in _listed(program.checked(), str(instr)) if 'k' in row]
    if not known:
        raise ValueError(f'the formats of {instr} are unknown: give them, with `formats=` and `k=`')
    return [Operation(**{name: row[name] for name in ('a', 'b', 'c', 'd', 'k', 'scale', 'scales', 'groups', 'name')},
                      per_case=row['m'] * row['n'] * row['blocks']) for row in known]


def of_one_instruction(instr: object) -> Operation:
    """The operation of the only instruction that matches."""
    if instr is None:
        raise ValueError("no instruction: give `instr='ARCH/INSTRUCTION'` (mm.ask('list', 'instructions') lists them)")
    found = of_instruction(instr)
    if len(found) > 1:
        raise ValueError(f'{instr} matches {len(found)} instructions; a function serves one')
    return found[0]
