"""Bits against MMA-Sim 2.1.1 (PyPI: mmasim, which needs PyTorch), with the same words; `pytest -s` shows the times."""
import time

import numpy as np
import pytest

import mmadiff as mm
from mmadiff import arrays

torch = pytest.importorskip('torch')
nvidia = pytest.importorskip('mmasim.nv_ptx.sim')
amd = pytest.importorskip('mmasim.amd.sim')

CASES = {
    'sm_70/mma.m8n8k4.f32.f16.f16.f32': lambda: nvidia.MMA('Volta', 'm8n8k4.f32.f16.f16.f32'),
    'sm_80/mma.m16n8k16.f32.bf16.bf16.f32': lambda: nvidia.MMA('Ampere', 'm16n8k16.f32.bf16.bf16.f32'),
    'sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32': lambda: nvidia.MMA('Ada Lovelace', 'm16n8k32.f32.e4m3.e4m3.f32'),
    'sm_90/mma.m16n8k16.f32.f16.f16.f32': lambda: nvidia.MMA('Hopper', 'm16n8k16.f32.f16.f16.f32'),
    'sm_90/wgmma.m64n8k32.f32.e5m2.e4m3': lambda: nvidia.WGMMA('Hopper', 'm64n8k32.f32.e5m2.e4m3'),
    'gfx908/v_mfma_f32_16x16x16f16': lambda: amd.MFMA('CDNA1', 'f32_16x16x16f16'),
    'gfx90a/v_mfma_f32_16x16x16f16': lambda: amd.MFMA('CDNA2', 'f32_16x16x16f16'),
    'gfx90a/v_mfma_f64_16x16x4f64': lambda: amd.MFMA('CDNA2', 'f64_16x16x4f64'),
    'gfx942/v_mfma_f32_16x16x16_f16': lambda: amd.MFMA('CDNA3', 'f32_16x16x16_f16'),
}
torch.set_num_threads(1)
COUNT = 32


def words(rng, format, shape):
    """Half of them any words, half of them normally distributed numbers."""
    type = arrays.word_type(format)
    any = rng.integers(0, np.iinfo(type).max, shape, dtype=type, endpoint=True)
    near = arrays.words(mm.convert(rng.standard_normal(shape), format), format)
    return np.where(rng.random(shape) < 0.5, any, near)


def tensor(x, type):
    signed = {1: np.uint8, 2: np.int16, 4: np.int32, 8: np.int64}[x.itemsize]
    return torch.from_numpy(x.view(signed)).view(type)


@pytest.mark.parametrize('name', CASES)
def test_equal_bits(name):
    row, other, rng = mm.Row(name), CASES[name](), np.random.default_rng(7)
    a = words(rng, row.formats['a'], (COUNT, row.m, row.k))
    b = words(rng, row.formats['b'], (COUNT, row.k, row.n))
    c = words(rng, row.formats['c'], (COUNT, row.m, row.n))
    begin = time.process_time()
    d = row(a, b, c, threads=1)
    ours = time.process_time() - begin
    given = tensor(a, other.a_type), tensor(b, other.b_type), tensor(c, other.c_type)
    begin = time.process_time()
    expected = torch.stack([other(*(x[i] for x in given)) for i in range(COUNT)]).contiguous().numpy()
    theirs = time.process_time() - begin
    print(f'{name}: {d.size} results; {ours / d.size * 1e9:.1f} ns each, MMA-Sim {theirs / d.size * 1e9:.0f} ns')
    mm.assert_same_bits(d, expected, any_nan=not row.nan_bits)
