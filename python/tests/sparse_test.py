"""Sparse instructions: rows with metadata, their helpers, functions as devices."""
import os

import numpy as np
import pytest

import mmadiff as mm
from mmadiff import arrays, operation, program

FLOAT, DENSE = 'sm_90/mma.sp.m16n8k16.f32.f16.f16.f32', 'sm_90/mma.m16n8k16.f32.f16.f16.f32'
needs_program = pytest.mark.skipif(not os.environ.get('MMADIFF_PROGRAM'), reason='no program: set MMADIFF_PROGRAM')
# (row, elements of a group): those of PTX ISA and of AMD.
GROUPS = [('sm_90/mma.sp.m16n8k16.f32.f16.f16.f32', 4), ('sm_80/mma.sp.m16n8k8.f32.tf32.tf32.f32', 2),
          ('sm_80/mma.sp.m16n8k64.s32.s4.s4.s32', 8), ('gfx942/v_smfmac_f32_16x16x32_f16', 4)]


def random_metadata(rng, row, shape):
    words = np.uint8([0x4, 0xe] if row.k // row.groups == 2 else [0x4, 0x8, 0x9, 0xc, 0xd, 0xe])
    return rng.choice(words, (*shape, row.groups))


def k_of(metadata, group):
    """The k of stored elements by the words of PTX ISA: two quarters of each group."""
    quarters = np.stack((metadata & 3, metadata >> 2), axis=-1).astype(int)
    if group == 2:
        places = quarters[..., :1] // 2
    else:
        places = (quarters[..., None] * (group // 4) + np.arange(group // 4)).reshape(*metadata.shape, -1)
    return (places + group * np.arange(metadata.shape[-1])[:, None]).reshape(*metadata.shape[:-1], -1)


@pytest.mark.parametrize('name', ['sm_80/mma.sp.m16n8k32.s32.s8.s8.s32', 'sm_90/mma.sp.m16n8k64.s32.u8.u8.s32',
                                  'gfx942/v_smfmac_i32_16x16x64_i8'])
def test_ten_thousand_integer_dot_products(name):
    row, rng = mm.Row(name), np.random.default_rng(3)
    count, m, n = 80, 16, 8
    metadata = random_metadata(rng, row, (count, m))
    type = arrays.dtype(row.formats['a'])
    stored = rng.integers(np.iinfo(type).min, np.iinfo(type).max + 1, (count, m, row.k // 2)).astype(type)
    b = rng.integers(np.iinfo(type).min, np.iinfo(type).max + 1, (count, row.k, n)).astype(type)
    c = rng.integers(-1 << 20, 1 << 20, (count, m, n)).astype(np.int32)
    ks = k_of(metadata, 4)
    chosen = b.astype(int)[np.arange(count)[:, None, None], ks]  # [count][m][stored][n]
    expected = c + (stored.astype(int)[..., None] * chosen).sum(-2)
    a = np.zeros((count, m, row.k), type)
    np.put_along_axis(a, row.stored(metadata), stored, -1)
    assert expected.size >= 10000
    assert np.array_equal(row(a, b, c, metadata=metadata), expected)
    assert np.array_equal(row(a, b, c), expected)  # whatever the zeros say


@pytest.mark.parametrize('name, group', GROUPS)
def test_groups_stored_and_metadata(name, group):
    row, rng = mm.Row(name), np.random.default_rng(4)
    assert row.groups == row.k // group and mm.Row(DENSE).groups == 0
    metadata = random_metadata(rng, row, (5, 3))
    stored = row.stored(metadata)
    assert np.array_equal(stored, k_of(metadata, group)) and (np.diff(stored) > 0).all()
    assert np.array_equal(row.stored(metadata[0]), stored[0])
    a = np.zeros((5, 3, row.k), arrays.word_type(row.formats['a']))
    np.put_along_axis(a, stored, 1, -1)
    found = row.metadata(a)  # of a whose stored elements all differ from +0
    assert found.dtype == np.uint8 and np.array_equal(found, metadata)
    assert np.array_equal(row.metadata(np.asfortranarray(a)), metadata)
    assert (row.metadata(np.zeros_like(a)) == 4).all()


def test_metadata_are_the_least_that_store_all_elements():
    row = mm.Row(FLOAT)
    a = np.zeros((6, 16), np.float16)
    a[1, 3] = a[2, 1] = a[3, 2] = a[4, 0] = a[4, 2] = 1
    a[5, 3] = -0.0  # differs from +0
    assert row.metadata(a)[:, 0].tolist() == [0x4, 0xc, 0x4, 0x8, 0x8, 0xc]


def test_the_metadata_say_which_zero_meets_an_infinity():
    row = mm.Row(FLOAT)
    a, b = np.zeros((16, 16), np.float16), np.zeros((16, 8), np.float16)
    a[:, 5], b[5], b[6] = 1, 2, np.inf
    metadata = np.full((16, 4), 0x4, np.uint8)
    metadata[::2, 1] = 0x9  # elements 5 and 6
    d = row(a, b, metadata=metadata)
    assert np.isnan(d[::2]).all() and (d[1::2] == 2).all() and (row(a, b) == 2).all()
    leading = row(np.broadcast_to(a, (2, 3, 16, 16)), b, metadata=metadata[None, None, :, ::-1][..., ::-1])
    assert leading.shape == (2, 3, 16, 8) and np.array_equal(leading[1, 2], d, equal_nan=True)
    ml_dtypes = pytest.importorskip('ml_dtypes')
    assert np.array_equal(row(a, b, metadata=metadata.astype(ml_dtypes.uint4)), d, equal_nan=True)


def test_rows_of_a_tile_are_those_of_one_row():
    """The width of the machine's vectors decides nothing."""
    rng = np.random.default_rng(5)
    for name in (FLOAT, 'sm_80/mma.sp.m16n8k16.f32.bf16.bf16.f32', 'gfx942/v_smfmac_f32_16x16x32_f16'):
        row = mm.Row(name)
        stored = rng.standard_normal((64, row.k // 2)).astype(np.float32)
        a = np.zeros((64, row.k), np.float32)
        np.put_along_axis(a, row.stored(random_metadata(rng, row, (64,))), stored, -1)
        a, b = (mm.convert(x, row.formats['a']) for x in (a, rng.standard_normal((row.k, 8)).astype(np.float32)))
        assert np.array_equal(row(a, b), np.concatenate([row(one[None], b) for one in a])), name


def test_refused():
    row = mm.Row(FLOAT)
    a, b, legal = np.zeros((16, 16), np.float16), np.ones((16, 8), np.float16), np.full((16, 4), 0x4, np.uint8)
    for shape in ((16, 3), (15, 4), (4,), (2, 16, 5)):
        with pytest.raises(ValueError, match=r'metadata .*has the shape .* must have \(\.\.\., (rows|16), 4\)'):
            row(a, b, metadata=np.full(shape, 4, np.uint8))
    with pytest.raises(ValueError, match='leading dimensions'):
        row(np.zeros((2, 16, 16), np.float16), b, metadata=np.stack([legal] * 3))
    for word in (0, 0x5, 0xf, 0x44):
        wrong = legal.copy()
        wrong[7, 2] = word
        with pytest.raises(ValueError, match=f'row 7 of A: .* e2 is {word:02x}, which is undefined; '
                                             'defined are 04 08 09 0c 0d 0e'):
            row(a, b, metadata=wrong)
        with pytest.raises(ValueError, match=f'is {word:02x}, which is undefined'):
            row.stored(wrong)
    with pytest.raises(ValueError, match='defined are 04 0e$'):
        mm.Row(GROUPS[1][0]).stored(np.full((1, 4), 0x8, np.uint8))
    for x in (legal.astype(int), legal.tolist()):
        with pytest.raises(TypeError, match=r'metadata of .* words of uint8, an array \(\.\.\., rows, 4\), not'):
            row(a, b, metadata=x)
    full = a.copy()
    full[3, 4:7] = 1
    for call in (row.metadata, lambda x: row(x, b)):
        with pytest.raises(ValueError, match='row 3 of A: .* at most two of each group of four .* a4 to a7'):
            call(full)
    full[3, 6] = 0
    with pytest.raises(ValueError, match='row 1 of A of product 1: .* a5 differs from .0, but metadata word e1'):
        row(np.stack([a, full])[:, 2:], b, metadata=np.full((14, 4), 0x8, np.uint8))
    with pytest.raises(ValueError, match=r'a of .* has the shape \(16, 8\)'):
        row(a[:, :8], b, metadata=legal)
    for call in (lambda: mm.Row(DENSE)(a, b, metadata=legal), lambda: mm.Row(DENSE).metadata(a),
                 lambda: mm.Row(DENSE).stored(legal), lambda: mm.Row('x86/vcvtps2ph.rn')(np.ones(2, 'f4'), metadata=legal)):
        with pytest.raises(TypeError, match='has no metadata'):
            call()


def test_tensors():
    torch = pytest.importorskip('torch')
    row, a = mm.Row(FLOAT), torch.zeros((16, 16), dtype=torch.float16)
    metadata = row.metadata(a)
    assert metadata.dtype == torch.uint8 and torch.is_tensor(row(a, a, metadata=metadata))


def test_what_a_function_gets_needs_no_ml_dtypes():
    sparse = operation.Operation('f16', 'f16', 'f32', 'f32', 16, groups=4)
    given = sparse.unpacked({name: np.zeros((3, words), arrays.word_type(format))
                             for name, (format, words) in sparse.inputs.items()})
    assert given['metadata'].dtype == np.uint8 and given['metadata'].shape == (3, 1, 4)


@needs_program
def test_generated_cases_go_to_the_row_and_to_check():
    for name, _ in GROUPS:
        cases = mm.generate(name, 500)
        d = mm.Row(name)(**cases)
        assert cases['metadata'].dtype == np.uint8 and mm.check(name, **cases, d=d).agrees
        words = d.view(f'u{d.itemsize}').copy()
        words[np.flatnonzero(np.isfinite(d))[77]] ^= 1  # a NaN may have any bits
        assert not mm.check(name, **cases, d=words).agrees
    cases['metadata'][0, 0, 0] = 5
    with pytest.raises(program.ProgramError, match='e0 is 05, which is undefined'):
        mm.check(name, **cases, d=d)


@needs_program
def test_explain():
    row = mm.Row(FLOAT)
    a, b = [0.0] * 5 + [1.0] + [0.0] * 10, [0.0] * 5 + [2.0, np.inf] + [0.0] * 9
    assert mm.explain(FLOAT, a, b).model == '40000000'
    metadata = np.uint8([0x4, 0x9, 0x4, 0x4])  # elements 5 and 6: +0 times infinity
    asked = mm.explain(FLOAT, a, b, metadata=metadata, device=row)
    assert asked.model == asked.dot_product.d == '7fffffff' and asked.dot_product.metadata[1] == '09'
    assert 'metadata  04 09 04 04' in str(asked)
    asked = mm.explain(FLOAT, a, [2.0] * 16, 1.0, device=row)
    assert asked.model == '40400000' and 'stage' in str(asked) and asked.svg
    for wrong, why in (([0x4, 0xe], 'a5 differs from .0, but metadata word e1'), ([5], 'e0 is 05, which is undefined'),
                       ([4] * 5, 'metadata has 5 numbers; the instruction takes 4'), (['0'], 'e0 is 00, which')):
        with pytest.raises(program.ProgramError, match=why):
            mm.explain(FLOAT, a, b, metadata=wrong)


@needs_program
def test_functions_as_devices():
    row = mm.Row(FLOAT)
    for takes in (row, lambda a, b, c, **more: row(a, b, c, **more), lambda a, b, c, *, metadata: row(a, b, c, metadata=metadata)):
        ran = mm.run(takes, FLOAT, cases=3)
        assert ran.mismatches == 0 and ran.dot_products == 3 * 128
    unsound = mm.run(lambda a, b, c, metadata: mm.Row(DENSE)(a, b, c), FLOAT, cases=10)
    assert unsound.mismatches > 0

    def dense(a, b, c):
        raise AssertionError('it is not called')

    for ask in (mm.run, mm.probe, mm.identify):
        with pytest.raises(TypeError, match=r'dense must also take metadata= for sm_90/mma.sp.m16n8k16.f32.f16.f16.f32: '
                                            r'metadata \(N, 1, 4\), words of uint8'):
            ask(dense, FLOAT)
    with pytest.raises(TypeError, match=r'must also take scale_a= and scale_b= for .*: scale_a \(N, 1, 2\), .*; '
                                        r'scale_b \(N, 2, 1\)'):
        mm.run(dense, 'sm_100/tcgen05.mma.m128n8k64.mxf4.f32.e2m1.e2m1.ue8m0')
