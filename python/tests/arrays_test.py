"""Arrays of any library, as words, and names of formats."""
import numpy as np
import pytest

import mmadiff as mm
from mmadiff import arrays

HALVES = np.arange(24, dtype=np.float16).reshape(4, 6)
WORDS = HALVES.view(np.uint16)


def of_structures():
    field = np.zeros(4, [('tag', 'u1'), ('x', 'f2', (6,))])
    field['x'] = HALVES
    return field['x']


@pytest.mark.filterwarnings('ignore:the matrix subclass')
@pytest.mark.parametrize('x', [HALVES.astype('>f2'), of_structures(), HALVES.view(np.matrix), WORDS, WORDS.astype('>u2'),
                               WORDS.view('V2'), memoryview(HALVES), HALVES[::-1][::-1]])
def test_words(x):
    words = arrays.words(x, 'f16')
    assert type(words) is np.ndarray and words.dtype == np.dtype('u2') and words.dtype.isnative
    assert np.array_equal(words, WORDS) and not any(stride % 2 for stride in words.strides)
    assert np.array_equal(arrays.operand(x, 'f16', 'x')[0], WORDS)
    a, b = (np.zeros(shape, np.float16) for shape in ((4, 16), (16, 8)))
    a[:, :6], b[:6] = HALVES, 1
    one = np.zeros(4, [('tag', 'u1'), ('x', 'f2', (16,))])
    one['x'] = a
    row = mm.Row('sm_90/mma.m16n8k16.f32.f16.f16.f32')
    assert np.array_equal(row(one['x'], b), row(a.view(np.matrix), b)) and row(a, b)[3, 0] == HALVES[3].sum()


def test_types_of_ml_dtypes():
    ml_dtypes = pytest.importorskip('ml_dtypes')
    x = np.float32([1, 2.5, -3]).astype(ml_dtypes.bfloat16)
    big = x.view('u2').astype('>u2').view(x.dtype.newbyteorder('>'))
    for one in (x, big):
        words, format = arrays.read(one)
        assert format == 'bf16' and words.dtype.isnative and words.tolist() == [0x3f80, 0x4020, 0xc040]
        assert arrays.words(one, 'bf16').tolist() == words.tolist()
    for type, wrong in ((ml_dtypes.bfloat16, 'f16'), (ml_dtypes.float8_e5m2, 'e4m3'), (np.float16, 'bf16'),
                        (ml_dtypes.float8_e4m3fn, 'e4m3fnuz'), (np.float32, 's32'), (np.int8, 'e4m3')):
        with pytest.raises(TypeError, match=f'words of {wrong}'):
            arrays.words(np.zeros(2, type), wrong)
    assert arrays.words(np.zeros(2, np.float32), 'tf32').tolist() == [0, 0]
    with pytest.raises(TypeError, match=r"not float16 or uint16 \(words of f16\); mm.convert\(..., 'f16'\) rounds"):
        arrays.words(x, 'f16')
    assert mm.convert(np.float32([1]), ml_dtypes.bfloat16).dtype == ml_dtypes.bfloat16


@pytest.mark.parametrize('x, error, words', [
    (np.longdouble([1]), TypeError, 'longdouble|float128'), (of_structures().base, TypeError, 'void'),
    (np.zeros(2, 'V3'), TypeError, 'void24'), (np.zeros((1,) * 64, 'f2'), ValueError, 'has 64 dimensions'),
    (np.zeros(2, 'U1'), TypeError, 'str'), (np.zeros(2, 'M8[s]'), TypeError, 'datetime'),
])
def test_other_types(x, error, words):
    with pytest.raises(error, match=words):
        arrays.read(x)
    with pytest.raises(error):
        mm.convert(x, 'f32')


def test_names_of_formats():
    assert [arrays.format_of(x) for x in ('bf16', ' bfloat16', 'float8_e4m3fn', np.float16, np.dtype('i4'), float, bool)] == [
        'bf16', 'bf16', 'e4m3', 'f16', 's32', 'f64', 'b1']
    for x in ('f17', '', None, 3, np.complex64, 'F16', [], object()):
        with pytest.raises(ValueError, match='formats: f64, f32'):
            arrays.format_of(x)
    assert arrays.formats_of(None) == {}
    assert arrays.formats_of(['f16', np.float16]) == arrays.formats_of({'a': 'f16', 'b': 'float16'})
    for x in ('f16', 'f16,f16,f16,f16', {'c': 'f16'}, 3, []):
        with pytest.raises(ValueError, match='those of A, B and D'):
            arrays.formats_of(x)


torch = None
try:
    import torch
except ImportError:
    pass
needs_torch = pytest.mark.skipif(torch is None, reason='no PyTorch')


@needs_torch
def test_pairs_of_pytorch_are_on_the_contiguous_axis():
    pairs = torch.arange(0x10, 0x10 + 32, dtype=torch.uint8).reshape(4, 8).view(torch.float4_e2m1fn_x2)
    expected = np.array([[word >> shift & 15 for word in range(0x10 + 8 * i, 0x18 + 8 * i) for shift in (0, 4)]
                         for i in range(4)])
    assert np.array_equal(arrays.read(pairs)[0], expected) and arrays.read(pairs)[1] == 'e2m1'
    assert np.array_equal(arrays.read(pairs.t())[0], expected.T)
    assert np.array_equal(arrays.read(pairs[::2])[0], expected[::2])
    assert np.array_equal(arrays.read(pairs.view(torch.uint8)[:, :1].view(pairs.dtype))[0], expected[:, :2])
    for x in (pairs[:, ::2].t(), pairs[:, ::2], pairs[0, 0], pairs[:, :1].contiguous().t()):
        with pytest.raises(ValueError, match='the axis of the pairs is the one with stride 1'):
            arrays.read(x)


@needs_torch
def test_tensors_that_cannot_be_read():
    from torch._subclasses.fake_tensor import FakeTensorMode
    with FakeTensorMode():
        fake = torch.zeros(2)
    for x, words in ((torch.zeros(2, device='meta'), 'without data'), (fake, 'without data'),
                     (torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)]), 'nested'),
                     (torch.zeros(2, dtype=torch.complex64).conj(), 'torch.complex64'),
                     (torch.zeros(2, dtype=torch.int64), 'torch.int64')):
        with pytest.raises(TypeError, match=words):
            mm.convert(x, 'f16')
    with pytest.raises(TypeError, match='torch.bfloat16, not torch.float16'):
        arrays.words(torch.zeros(2, dtype=torch.bfloat16), 'f16')
    negative = torch.complex(torch.zeros(2), torch.ones(2)).conj().imag
    assert negative.is_neg() and mm.convert(negative, torch.float64).tolist() == [-1, -1]


@needs_torch
def test_packed_tensors():
    packed = mm.pack(torch.tensor([1, 2, 3, 4], dtype=torch.uint8), torch.float4_e2m1fn_x2)
    assert isinstance(packed, torch.Tensor) and packed.tolist() == [0x21, 0x43]
    assert mm.unpack(packed, 'e2m1').tolist() == [1, 2, 3, 4] and isinstance(mm.unpack(packed, 'e2m1'), torch.Tensor)
