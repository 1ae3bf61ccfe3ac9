"""Which element of a tensor a tensor copy (TMA) of NVIDIA puts at which address of shared memory."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .questions import _ask


def _text(value):
    return ','.join(map(str, value)) if isinstance(value, Iterable) and not isinstance(value, str) else value


def copy(form: str | None = None, **fields: Any) -> dict[str, Any]:
    """The elements of the tile of a tensor copy, in the order of the tile before it is swizzled.

    form: 'load.im2col.4d', 'sm_100/load.tile_gather4.2d', or the name of a case; None: load.tile of the rank of `dim`
    fields: those of `mmadiff copy --help`: dim=(64, 8), box=(64, 8), type='f16', swizzle='128B', at=(0, 0), ...;
            dimension 0, the dense one, first

    Returns arrays: 'shared' (N,) and 'global' (N,), addresses in bytes, and 'at' (N, rank), coordinates. 'global' is -1
    for elements out of bounds.

    >>> copy(dim=(64, 2), swizzle='128B')['shared'][64:73]
    array([144, 146, 148, 150, 152, 154, 156, 158, 128])
    """
    flags = {name: _text(value) for name, value in fields.items()}
    elements = _ask('copy', [form] if form else [], **flags).json['elements']
    return {'shared': np.array([e['shared'] for e in elements], np.int64),
            'global': np.array([e.get('global', -1) for e in elements], np.int64),
            'at': np.array([e['at'] for e in elements], np.int64)}
