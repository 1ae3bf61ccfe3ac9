"""mm.copy against NumPy: a swizzled tile, and rows out of bounds."""
import numpy as np
import pytest

import mmadiff as mm


def test_a_swizzled_tile():
    tensor = np.arange(8 * 64, dtype=np.int16).reshape(8, 64)
    tile = mm.copy(dim=(64, 8), type='u16', swizzle='128B')
    shared = np.zeros(8 * 64, np.int16)
    shared[tile['shared'] // 2] = tensor.ravel()[tile['global'] // 2]
    row, chunk = np.divmod(np.arange(64), 8)
    assert (shared.reshape(64, 8) == tensor.reshape(8, 8, 8)[row, chunk ^ row]).all()
    assert (tensor[tile['at'][:, 1], tile['at'][:, 0]] == np.arange(512)).all()


def test_elements_out_of_bounds():
    tile = mm.copy(dim=(8, 3), box=(8, 4), at=(0, -1))
    assert (tile['global'][:8] == -1).all()
    assert (tile['global'][8:] == np.arange(0, 48, 2)).all()


def test_an_illegal_copy_is_a_usage_error():
    with pytest.raises(mm.UsageError, match='box_size'):
        mm.copy(dim=(64, 300), box=(64, 300))
