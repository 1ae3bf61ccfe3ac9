"""Rows and conversions on arrays."""
import copy
import itertools
import os
import pathlib
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

from anything import anything
import mmadiff as mm
from mmadiff import arrays

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get('MMADIFF_PROGRAM', '')
NAME = 'sm_90/mma.m16n8k16.f32.f16.f16.f32'


def random_words(rng, format, shape):
    """Half of them any words, half of them near 1, where sums are inexact."""
    type = arrays.word_type(format)
    bits = mm._core.format_bits(format)
    words = rng.integers(0, 1 << bits, shape, dtype=np.uint64, endpoint=False) if bits < 64 else rng.integers(
        0, (1 << 64) - 1, shape, dtype=np.uint64, endpoint=True)
    words = words.astype(type)
    dtype = arrays.dtype(format)
    if dtype.kind == 'f':
        near = rng.standard_normal(shape).astype(dtype).view(type)
        words = np.where(rng.random(shape) < 0.5, words, near)
    return words


def operands(row, rng, count, m=None, n=None):
    m, n = m or row.m, n or row.n
    a = random_words(rng, row.formats['a'], (count, m, row.k))
    if row.is_conversion:
        return {'a': a}
    found = {'a': a, 'b': random_words(rng, row.formats['b'], (count, row.k, n)),
             'c': random_words(rng, row.formats['c'], (count, m, n))}
    if row.groups:
        found['metadata'] = rng.choice(np.uint8([0x4, 0xe] if row.k == 2 * row.groups else [0x4, 0x9, 0xc, 0xd]),
                                       (count, m, row.groups))
        dense, found['a'] = a, np.zeros_like(a)
        stored = row.stored(found['metadata'])
        np.put_along_axis(found['a'], stored, np.take_along_axis(dense, stored, -1), -1)
    if row.scales:
        found['scale_a'] = random_words(rng, row.formats['scale'], (count, m, row.scales))
        found['scale_b'] = random_words(rng, row.formats['scale'], (count, row.scales, n))
    return found


def bits(x):
    return x.view(f'u{x.itemsize}')


def lines_of(row, x):
    """The line protocol of docs/formats.md: a dot product a line."""
    count, m, k = x['a'].shape
    n = 1 if row.is_conversion else x['b'].shape[2]
    word = {name: 2 * x[name].itemsize for name in x}
    for e, i, j in itertools.product(range(count), range(m), range(n)):
        line = [(w, 'a') for w in x['a'][e, i]]
        if not row.is_conversion:
            line += [(w, 'b') for w in x['b'][e, :, j]] + [(x['c'][e, i, j], 'c')]
        if row.scales:
            line += [(w, 'scale_a') for w in x['scale_a'][e, i]] + [(w, 'scale_b') for w in x['scale_b'][e, :, j]]
        if row.groups:
            line += [(w, 'metadata') for w in x['metadata'][e, i]]
        yield ' '.join(f'{int(w):0{word[name]}x}' for w, name in line)


def one_of_each():
    """A row of each kind of operands and arithmetic."""
    kinds = {}
    for row in mm.rows('*'):
        family = row.algorithm.split('(')[0]
        kinds.setdefault((tuple(row.formats.items()), row.scales, row.groups > 0, family, row.m % 16 == 0), row)
    return list(kinds.values())


@pytest.mark.skipif(not PROGRAM, reason='no program: set MMADIFF_PROGRAM')
def test_rows_are_those_of_the_line_protocol():
    chosen = one_of_each()
    assert len(chosen) > 150
    rng = np.random.default_rng(52)
    for row in chosen:
        x = operands(row, rng, 2, m=min(row.m, 16), n=min(row.n, 3))
        d = bits(row(**x)).reshape(-1)
        lines = '\n'.join(lines_of(row, x)) + '\n'
        told = subprocess.run([PROGRAM, 'eval', row.name], input=lines, capture_output=True, text=True, cwd=ROOT)
        assert told.returncode == 0, (row.name, told.stderr)
        expected = [int(line.split()[-1], 16) for line in told.stdout.splitlines()]
        assert d.tolist() == expected, row.name


def test_the_docstring_of_an_h100():
    row = mm.Row(NAME)
    a, b = np.zeros((1, 16), np.float16), np.zeros((16, 1), np.float16)
    a[0, :2], b[:2, 0] = (1, -2.0 ** -12), (1, 2.0 ** -13)
    assert bits(row(a, b))[0, 0] == 0x3f7fffff
    assert row.grade == 'measured' and row.is_native and row.nan_bits


LAYOUTS = {
    'fortran': np.asfortranarray,
    'every second': lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    'backward': lambda x: np.ascontiguousarray(x[..., ::-1])[..., ::-1],
    'rows backward': lambda x: np.ascontiguousarray(x[..., ::-1, :])[..., ::-1, :],
    'products backward': lambda x: np.ascontiguousarray(x[::-1])[::-1],
    'transposed': lambda x: np.ascontiguousarray(np.swapaxes(x, -1, -2)).swapaxes(-1, -2),
    'big-endian': lambda x: x.astype(x.dtype.newbyteorder('>')),
    'unaligned': lambda x: np.frombuffer(b'x' + x.tobytes(), x.dtype, offset=1).reshape(x.shape),
    'more leading dimensions': lambda x: x.reshape(2, -1, *x.shape[1:]),
}


@pytest.mark.parametrize('name', [NAME, 'sm_70/mma.m8n8k4.f32.f16.f16.f32', 'gfx90a/v_mfma_f64_16x16x4f64',
                                  'sm_100/tcgen05.mma.m128n8k32.mxf8f6f4.f32.e4m3.e4m3.ue8m0', 'x86/vpdpbusd'])
def test_layouts_do_not_matter(name):
    row = mm.Row(name)
    for m, n in ((row.m, row.n), (1, 1), (5, 70), (67, 3)):
        x = operands(row, np.random.default_rng(1), 6, m, n)
        expected = bits(row(**x))
        for layout in LAYOUTS.values():
            other = {key: layout(value) for key, value in x.items()}
            for value in other.values():
                value.flags.writeable = False
            assert np.array_equal(bits(row(**other)).reshape(expected.shape), expected)
        single = [bits(row(**{key: value[i] for key, value in x.items()})) for i in range(6)]
        assert np.array_equal(np.stack(single), expected)
        assert np.array_equal(bits(row(**x, threads=3)), expected)


def test_leading_dimensions_are_broadcast():
    row = mm.Row(NAME)
    x = operands(row, np.random.default_rng(2), 6)
    a, b = x['a'].reshape(2, 3, 16, 16), x['b'][:3]
    d = row(a, b)
    assert d.shape == (2, 3, 16, 8)
    for i, j in itertools.product(range(2), range(3)):
        assert np.array_equal(bits(row(a[i, j], b[j])), bits(d[i, j]))


def test_nothing_is_copied_that_need_not_be():
    huge = np.broadcast_to(np.zeros((16, 16), np.float16), (1 << 30, 16, 16))
    stack = arrays.Stack(a=(arrays.words(huge, 'f16'), None, 16, 'a'), b=(np.zeros((16, 8), 'u2'), 16, None, 'b'))
    assert stack.a.strides[0] == 0 and stack.b.strides[0] == 0
    assert np.shares_memory(arrays.words(huge, 'f16'), huge)


@pytest.mark.parametrize('m, n, count', [(0, 8, 1), (16, 0, 1), (16, 8, 0)])
def test_empty(m, n, count):
    row = mm.Row(NAME)
    d = row(np.zeros((count, m, 16), np.float16), np.zeros((count, 16, n), np.float16))
    assert d.shape == (count, m, n) and d.dtype == np.float32


def test_payloads_of_nans_survive():
    row = mm.Row('x86/vfmadd231ss')
    for payload in (0x7fc12345, 0xffc00001, 0x7f800001, 0xff812345):
        a = np.array([[payload]], np.uint32).view(np.float32)
        one = np.ones((1, 1), np.float32)
        assert bits(row(a, one, one))[0, 0] == payload | 0x400000
        assert bits(row(one, one, a.astype('>f4') if payload & 0x400000 else a))[0, 0] == payload | 0x400000


def test_conversions_take_any_shape():
    row = mm.Row('ocp/cvt.rn.e4m3.f32')
    x = np.array([[464, 465, 1000], [np.inf, -1, 0.1]], np.float32)
    assert bits(row(x)).tolist() == [[0x7e, 0x7f, 0x7f], [0x7f, 0xb8, 0x1d]]
    assert bits(row(x.T)).tolist() == bits(row(x)).T.tolist()
    assert bits(row(np.float32(1))).tolist() == 0x38
    assert row(x[:0]).shape == (0, 3)


def test_rows_are_values():
    row = mm.Row('hopper/mma.m16n8k16.f32.f16.f16.f32')
    assert row == mm.Row(NAME) and str(row) == NAME and repr(row) == f"Row('{NAME}')"
    assert pickle.loads(pickle.dumps(row)) == row == copy.deepcopy(row) and len({row, mm.Row(NAME)}) == 1
    assert NAME in str(mm.rows('sm_90/mma*')) and '<table>' in mm.rows('sm_90/mma*')._repr_html_()
    assert mm.rows('no_such_thing*') == () and str(mm.rows('no_such_thing*')) == "no rows match 'no_such_thing*'"
    for one in (row, mm.Plan(f'{NAME} | f32')):
        for name in ('k', 'text', 'formats', 'new'):
            with pytest.raises(AttributeError, match='read-only'):
                setattr(one, name, 3)
        with pytest.raises(TypeError):
            one.formats['a'] = 'f32'
    assert 'scale' not in row.formats and '_core' not in dir(mm) and {*mm.__all__, '__doc__'} < {*dir(mm)}


def test_several_globs():
    wgmma, mma = mm.rows('sm_90/wgmma*'), mm.rows('sm_90/mma*')
    assert mm.rows('sm_90/wgmma* sm_90/mma*') == mm.rows(['sm_90/wgmma*', mma]) == wgmma + mma
    assert mm.rows([mm.Row(NAME), 'sm_90/mma*'])[0] == mm.Row(NAME) and len(mm.rows([NAME, 'sm_90/mma*'])) == len(mma)
    assert NAME in mma and mm.Row(NAME) in mma and NAME not in wgmma and 3 not in mma
    lines = str(mm.rows()).splitlines()
    assert len(lines) == 43 and lines[40:] == ['...', mm.rows()[-1].name, f'{len(mm.rows())} rows']
    assert len(str(mm.rows()[:42]).splitlines()) == 1  # a tuple


def test_a_frame_of_rows():
    pandas = pytest.importorskip('pandas')
    frame = mm.rows('sm_90/mma*').frame()
    assert isinstance(frame, pandas.DataFrame) and NAME in list(frame['row'])


@pytest.mark.parametrize('call, error, words', [
    (lambda r, a, b: mm.Row('sm_90/mma.m16n8k16.f32.f16.f16.f3'), ValueError, 'f16.f16.f32'),
    (lambda r, a, b: mm.rows('sm_90/no_such_row'), ValueError, 'no_such_row'),
    (lambda r, a, b: mm.Row(3), TypeError, 'the name of a row is 3'),
    (lambda r, a, b: mm.rows(None), TypeError, 'the name of a row is None'),
    (lambda r, a, b: mm.Row(NAME + '\0x'), ValueError, 'NUL'),
    (lambda r, a, b: mm.rows(NAME + '\0x'), ValueError, 'NUL'),
    (lambda r, a, b: mm.Plan(NAME + ' | f32\0x'), ValueError, 'NUL'),
    (lambda r, a, b: mm.Plan(None), TypeError, 'the plan is None'),
    (lambda r, a, b: r(a), TypeError, 'needs b'),
    (lambda r, a, b: r(None, b), TypeError, 'is None, not an array'),
    (lambda r, a, b: r(a.astype('f4'), b), TypeError, 'float32, not float16'),
    (lambda r, a, b: r(a.tolist(), b), TypeError, 'float64, not float16'),
    (lambda r, a, b: r(a, b, np.zeros((16, 8), 'f8')), TypeError, 'c of'),
    (lambda r, a, b: r(a[:, :8], b), ValueError, 'it must have (..., rows, 16)'),
    (lambda r, a, b: r(a, b[:8]), ValueError, 'it must have (..., 16, columns)'),
    (lambda r, a, b: r(a[0], b), ValueError, 'shape (16,)'),
    (lambda r, a, b: r(a, b, np.zeros((8, 16), 'f4')), ValueError, '(..., 16, 8)'),
    (lambda r, a, b: r(np.stack([a] * 2), np.stack([b] * 3)), ValueError, 'leading dimensions'),
    (lambda r, a, b: r(a, b, scale_a=a), TypeError, 'no scale_a'),
    (lambda r, a, b: r(a, b, threads=0), ValueError, 'threads=0'),
    (lambda r, a, b: r(np.ma.array(a), b), TypeError, 'masked'),
    (lambda r, a, b: r(a.astype(object), b), TypeError, 'object'),
    (lambda r, a, b: r(a.astype('c8'), b), TypeError, 'complex64'),
    (lambda r, a, b: r('abc', b), TypeError, 'not an array'),
    (lambda r, a, b: mm.Row('sm_100/mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0.2x'), ValueError, 'no'),
    (lambda r, a, b: mm.Row('ocp/cvt.rn.e4m3.f32')(a.astype('f4'), b), TypeError, 'no b'),
    (lambda r, a, b: mm.Row('sm_90/mma.m16n8k32.s32.s4.s4.s32')(np.full((16, 32), 16, 'u1'), np.zeros((32, 8), 'u1')),
     ValueError, 'have 4 bits'),
    (lambda r, a, b: r(np.broadcast_to(a, (1 << 50, 16, 16)), b), (MemoryError, ValueError), ''),
])
def test_wrong_calls_say_why(call, error, words):
    a, b = np.ones((16, 16), np.float16), np.ones((16, 8), np.float16)
    with pytest.raises(error) as raised:
        call(mm.Row(NAME), a, b)
    assert words in str(raised.value)


def test_a_thousand_wrong_calls_crash_nothing():
    rng = np.random.default_rng(3)
    chosen = [mm.Row(name) for name in (NAME, 'sm_90/mma.m16n8k32.s32.s4.s4.s32', 'ocp/cvt.rn.e4m3.f32',
                                        'sm_100/tcgen05.mma.m128n8k32.mxf8f6f4.f32.e4m3.e4m3.ue8m0')]

    returned = 0
    for _ in range(1000):
        row = chosen[rng.integers(len(chosen))]
        keys = [key for key in ('b', 'c', 'scale_a', 'scale_b') if rng.random() < 0.5]
        try:
            row(anything(rng), **{key: anything(rng) for key in keys})
            returned += 1
        except (TypeError, ValueError):
            pass
    assert returned < 500


def test_threads_of_python():
    row = mm.Row(NAME)
    x = operands(row, np.random.default_rng(4), 300)
    expected = bits(row(**x))
    wrong = []

    def ask():
        for _ in range(20):
            if not np.array_equal(bits(row(**x)), expected):
                wrong.append(1)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_import_is_light():
    code = 'import sys, mmadiff; print(sorted({"torch", "jax", "ml_dtypes", "pandas", "matplotlib", "json"} & set(sys.modules)))'
    told = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert told.stdout.strip() == '[]', told


def test_names_as_people_quote_them():
    assert mm.Row('h100/HGMMA.64x8x16.F32').name == 'sm_90/wgmma.m64n8k16.f32.f16.f16'
    assert mm.Row('mi300x/v_mfma_f32_16x16x16_f16').name == 'gfx942/v_mfma_f32_16x16x16_f16'
    assert mm.Plan('h100/HGMMA.64x8x16.F32 | f16').row == 'sm_90/wgmma.m64n8k16.f32.f16.f16'
    with pytest.raises(ValueError, match='may mean'):
        mm.Row('HMMA.16816.F32')


def test_models_with_changed_parameters():
    a, b = np.zeros((1, 16), np.float16), np.zeros((16, 1), np.float16)
    a[0, :2], b[:2, 0] = (1, -2.0 ** -12), (1, 2.0 ** -13)
    row = mm.Row(f'{NAME}:fraction_bits=24')
    assert row(a, b)[0, 0] == 1 and mm.Row(NAME)(a, b)[0, 0] < 1 and row.grade == 'changed'
    assert pickle.loads(pickle.dumps(row)) == row != mm.Row(NAME)
    with pytest.raises(ValueError, match='allowed: '):
        mm.Row(f'{NAME}:fraction_bits=xyz')
