"""Packed arrays."""
import numpy as np
import pytest

import mmadiff as mm


@pytest.mark.parametrize('format, bits', [('e2m1', 4), ('e2m3', 6), ('e3m2', 6), ('s4', 4), ('u4', 4), ('b1', 1)])
def test_numbers_are_bits_of_one_integer(format, bits):
    rng = np.random.default_rng(1)
    words = rng.integers(0, 1 << bits, (3, 5, 23)).astype(np.uint8)
    packed = mm.pack(words, format)
    assert packed.shape == (3, 5, -(-23 * bits // 8)) and packed.dtype == np.uint8
    for i in range(3):
        for j in range(5):
            number = int.from_bytes(packed[i, j].tobytes(), 'little')
            assert number == sum(int(word) << (bits * at) for at, word in enumerate(words[i, j]))
    assert np.array_equal(mm.unpack(packed, format, 23).view(np.uint8), words)
    assert np.array_equal(mm.unpack(np.asfortranarray(packed), format, 23).view(np.uint8), words)
    assert mm.unpack(packed, format).shape[-1] == packed.shape[-1] * 8 // bits


def test_packed_operands_of_a_row():
    row = mm.Row('sm_100/tcgen05.mma.m128n8k32.mxf8f6f4.f32.e2m3.e2m3.ue8m0')
    words = np.random.default_rng(2).integers(0, 64, (4, 32)).astype(np.uint8)
    packed = mm.pack(words, 'e2m3')
    ones = np.full((4, 1), 127, np.uint8)
    d = row(mm.unpack(packed, 'e2m3'), words.T, scale_a=ones, scale_b=ones.T)
    assert np.array_equal(d, mm.exact(words, words.T, formats={'a': 'e2m3', 'b': 'e2m3'})[0])


@pytest.mark.parametrize('call, error, words', [
    (lambda: mm.unpack(np.uint8([1]), 'f16'), ValueError, "not 'f16'"),
    (lambda: mm.unpack(np.uint8([1]), 'e2m1', 3), ValueError, '1 bytes have 2 numbers'),
    (lambda: mm.unpack(np.uint16([1]), 'e2m1'), TypeError, 'bytes'),
    (lambda: mm.unpack(np.uint8(1), 'e2m1'), TypeError, 'dimension'),
    (lambda: mm.pack(np.uint8([16]), 'e2m1'), ValueError, '0x10'),
    (lambda: mm.pack(np.uint8([1])), TypeError, 'raw words'),
    (lambda: mm.pack(np.uint8(1), 'e2m1'), TypeError, 'dimension'),
    (lambda: mm.pack(np.uint8([1]), 'f99'), ValueError, 'formats: f64'),
    (lambda: mm.pack(np.float32([1]), 'e2m1'), TypeError, 'float32'),
])
def test_wrong_calls_say_why(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_pairs_of_pytorch():
    torch = pytest.importorskip('torch')
    pairs = torch.tensor([[0x21, 0x43]], dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
    row = mm.Row('sm_100/tcgen05.mma.m128n8k32.mxf8f6f4.f32.e2m1.e2m1.ue8m0')
    x = torch.cat([pairs.view(torch.uint8)] * 8, 1).view(pairs.dtype)
    ones = np.full((1, 1), 127, np.uint8)
    d = row(x, x.t(), scale_a=ones, scale_b=ones)
    words = mm.unpack(np.uint8([[0x21, 0x43] * 8]), 'e2m1')
    assert d.shape == (1, 1) and float(d[0, 0]) == float(row(words, words.T, scale_a=ones, scale_b=ones)[0, 0])
