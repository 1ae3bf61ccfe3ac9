"""Plans on arrays: execution and the inverse."""
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import mmadiff as mm
from mmadiff import arrays

HOPPER = 'sm_90/wgmma.m64n8k16.f32.f16.f16'
FP8 = 'sm_90/wgmma.m64n8k32.f32.e4m3.e4m3'


def bits(x):
    return x.view(f'u{x.itemsize}')


def halves(shape, seed=1):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float16)


def test_a_plan_is_its_row_in_a_loop():
    row, plan = mm.Row(HOPPER), mm.Plan(f'{HOPPER} | into 2 of 32: add | f16')
    a, b = halves((5, 96)), halves((96, 3), 2)

    def chain(first, last):
        c = None
        for k in range(first, last, 16):
            c = row(a[:, k:k + 16], b[k:k + 16], c)
        return c
    fma = mm.Row('sm_90/fma.rn.f32')
    x, y = chain(0, 64), chain(64, 96)
    one = np.ones((1, 1), np.float32)
    d = np.array([[fma(y[i:i + 1, j:j + 1], one, x[i:i + 1, j:j + 1])[0, 0] for j in range(3)] for i in range(5)])
    assert np.array_equal(bits(plan(a, b)), bits(d.astype(np.float16)))


def test_layouts_and_leading_dimensions_do_not_matter():
    plan = mm.Plan(f'{HOPPER} | every 64: add | f32')
    a, b = halves((2, 3, 20, 200)), halves((3, 200, 9), 2)
    d = plan(a, b)
    assert d.shape == (2, 3, 20, 9) and d.dtype == np.float32
    for i in range(2):
        for j in range(3):
            for x, y in ((a[i, j], b[j]), (np.asfortranarray(a[i, j]), b[j].astype('>f2'))):
                assert np.array_equal(bits(plan(x, y, threads=2)), bits(d[i, j]))


def test_other_formats_and_all_operands():
    plan = mm.Plan('x86/vfmadd231ss | every 64: add | fma(beta, c, alpha*sum) + bias | f32')
    a, b, c = (np.random.default_rng(i).standard_normal(s).astype('f4') for i, s in enumerate([(4, 9), (9, 5), (4, 5)]))
    d = plan(a.astype(np.float16), b, c, alpha=0.3, beta=2, bias=c[0])
    other = plan(a.astype(np.float16).astype(np.float32), b, c, alpha=np.float32(0.3), beta=2.0, bias=c[0])
    assert np.array_equal(bits(d), bits(other))
    exact = 0.3 * (a.astype(np.float16).astype('f8') @ b) + 2 * c.astype('f8') + c[0]
    assert np.abs(d - exact).max() < 1e-5


def test_scales_lie_as_their_matrices():
    plan = mm.Plan(f'{FP8} | every 128: fma (a*b) | f32')
    rng = np.random.default_rng(3)
    a, b = (rng.integers(0, 0x7e, s).astype(np.uint8) for s in ((128, 256), (256, 256)))
    scale_a, scale_b = rng.random((128, 2)).astype('f4'), rng.random((2, 2)).astype('f4')
    d = plan(a, b, scale_a=scale_a, scale_b=scale_b)
    for i, j in ((0, 0), (127, 128), (5, 255)):
        one = plan(a[i:i + 1], b[:, j:j + 1], scale_a=scale_a[i:i + 1], scale_b=scale_b[:, j // 128:j // 128 + 1])
        assert bits(one)[0, 0] == bits(d)[i, j]
    assert not np.array_equal(bits(plan(a, b, scale_a=scale_a, scale_b=scale_b.T)), bits(d))
    with pytest.raises(ValueError, match='no blocks of powers of two'):
        plan(a, b, scale_a=scale_a, scale_b=scale_b[:, [0, 1, 1]])
    # The scales of an N x K matrix whose transposition was forgotten: 2 of N and 4 of K.
    x, w = np.full((1, 512), 0x38, 'u1'), np.full((256, 512), 0x38, 'u1')
    scales = rng.random((2, 4)).astype('f4')
    plan(x, w.T, scale_a=np.ones((1, 4), 'f4'), scale_b=scales.T)
    with pytest.raises(ValueError, match='2 scales along k and 4 along its columns, .* transpose the scales'):
        plan(x, w.T, scale_a=np.ones((1, 4), 'f4'), scale_b=scales)
    with pytest.raises(ValueError, match='several of these'):
        plan(a, b, scale_a=np.ones((128, 8), 'f4'), scale_b=scale_b)


def test_scales_and_bias_of_other_types():
    plan = mm.Plan(f'{FP8} | every 128: fma (a*b) | f32')
    rng = np.random.default_rng(4)
    a, b = (rng.integers(0, 0x7e, s).astype(np.uint8) for s in ((3, 128), (128, 8)))
    expected = plan(a, b, scale_a=np.float32([[0.5]]), scale_b=np.float32([[3]]))
    for x, y in ((0.5, 3), (np.float16(0.5), np.float64(3)), (np.float32([0.5]), np.full((1, 1), 3.0)),
                 (np.float32(0.5).view('u4'), np.float16([[3]]))):
        assert np.array_equal(bits(plan(a, b, scale_a=x, scale_b=y)), bits(expected))
    assert np.array_equal(bits(plan(a, b, scale_a=0.1, scale_b=1)), bits(plan(a, b, scale_a=np.float32(0.1), scale_b=1)))
    for wrong, error in ((np.float32([1, 2, 3]), ValueError), (np.float64([[0.1]]), TypeError), ([[1]], TypeError),
                         ('1', TypeError), (True, TypeError)):
        with pytest.raises(error, match='scale_a'):
            plan(a, b, scale_a=wrong, scale_b=1)
    x, y = halves((3, 16)), halves((16, 8))
    plan = mm.Plan(f'{HOPPER} | sum + bias | f32')
    bias = halves(8)
    expected = plan(x, y, bias=bias.astype('f4'))
    for other in (bias, bias.astype('f8'), bias.astype('>f2'), bias.astype('f4').view('u4')):
        assert np.array_equal(bits(plan(x, y, bias=other)), bits(expected))
    assert np.array_equal(bits(plan(x, y, bias=0.1)), bits(plan(x, y, bias=np.full(8, 0.1, 'f4'))))


def test_block_scales():
    """Their words are those of ue8m0; the plan is its row."""
    row = mm.Row('sm_100/tcgen05.mma.m128n8k32.mxf8f6f4.f32.e4m3.e4m3.ue8m0')
    plan = mm.Plan(f'{row.name} | f32')
    rng = np.random.default_rng(5)
    a, b = (rng.integers(0, 0x7e, s).astype(np.uint8) for s in ((4, 64), (64, 8)))
    scale_a, scale_b = (rng.integers(120, 135, s).astype(np.uint8) for s in ((4, 2), (2, 8)))
    c = row(a[:, :32], b[:32], scale_a=scale_a[:, :1], scale_b=scale_b[:1])
    d = row(a[:, 32:], b[32:], c, scale_a=scale_a[:, 1:], scale_b=scale_b[1:])
    assert np.array_equal(bits(plan(a, b, block_scale_a=scale_a, block_scale_b=scale_b)), bits(d))
    typed = scale_a.view(mm.convert(np.float32([1]), 'ue8m0').dtype)
    assert np.array_equal(bits(plan(a, b, block_scale_a=typed, block_scale_b=scale_b)), bits(d))
    for wrong in (mm.convert(np.ones((4, 2)), 'e5m2'), np.ones((4, 2), 'f4')):
        if wrong.dtype != np.uint8:
            with pytest.raises(TypeError, match='words of ue8m0'):
                plan(a, b, block_scale_a=wrong, block_scale_b=scale_b)


def test_plans_are_values():
    plan = mm.Plan(f'{HOPPER}|every 64:add|f16')
    assert str(plan) == f'{HOPPER} | every 64: add | f16' and plan.formats == {
        'a': 'f16', 'b': 'f16', 'c': 'f32', 'd': 'f16', 'sum': 'f32'}
    assert mm.Plan(plan) == plan and '<table>' in plan._repr_html_()
    assert pickle.loads(pickle.dumps(plan)) == plan and plan.row == HOPPER and not plan.reads('c')


@pytest.mark.parametrize('call, error, words', [
    (lambda p, a, b: mm.Plan('no plan'), ValueError, ''),
    (lambda p, a, b: mm.Plan(f'{HOPPER} | every 0: add | f16'), ValueError, ''),
    (lambda p, a, b: p(a, b.T), ValueError, 'a has 64 columns, but b has 8 rows'),
    (lambda p, a, b: p(a.astype('f8'), b), ValueError, 'A has the format f64'),
    (lambda p, a, b: p(a, b, np.zeros((4, 8), 'f4')), TypeError, 'does not read c'),
    (lambda p, a, b: p(a, b, alpha=2), TypeError, 'does not read alpha'),
    (lambda p, a, b: mm.Plan(f'{HOPPER} from c | f32')(a, b), TypeError, 'reads c'),
    (lambda p, a, b: mm.Plan(f'{HOPPER} from c | f32')(a, b, np.zeros((8, 4), 'f4')), ValueError, '(..., 4, 8)'),
    (lambda p, a, b: mm.Plan(f'{HOPPER} | sum + bias | f32')(a, b, bias=np.zeros(3, 'f4')), ValueError, '8 columns'),
    (lambda p, a, b: mm.plan_of(a, b, np.zeros((8, 4), 'f4')), ValueError, 'd has the shape (8, 4)'),
    (lambda p, a, b: mm.plan_of(a[None], b, p(a, b)), ValueError, 'takes matrices'),
    (lambda p, a, b: mm.plan_of(a, b, p(a, b).view('u2')), TypeError, "formats={'d': ...}"),
    (lambda p, a, b: mm.plan_of(a, b, p(a, b), rows='sm_91/*'), ValueError, 'sm_91'),
    (lambda p, a, b: mm.plan_of(a, b, p(a, b), rows=FP8), ValueError, 'none of the instructions multiplies f16'),
    (lambda p, a, b: mm.plan_of(a[:0], b, p(a[:0], b)), ValueError, 'no elements'),
    (lambda p, a, b: p(a, None), TypeError, 'b is None, not an array'),
])
def test_wrong_calls_say_why(call, error, words):
    a, b = halves((4, 64)), halves((64, 8))
    with pytest.raises(error) as raised:
        call(mm.Plan(f'{HOPPER} | f16'), a, b)
    assert words in str(raised.value)


def test_plan_of():
    a, b = halves((64, 512)), halves((512, 32), 2)
    plan = mm.Plan(f'{HOPPER} | every 128: add | f32')
    found = mm.plan_of(a, b, plan(a, b), rows=HOPPER)
    assert found.plans == [plan] == [found.plan] and found and found.tried > 10 and not found.regions
    assert str(plan) in str(found) and '2048 of 2048' in str(found) and str(plan) in found._repr_html_()
    wrong = plan(a, b)
    wrong[3, 4] *= 2
    found = mm.plan_of(a, b, wrong, rows=[HOPPER])
    assert not found and found.nearest == plan and found.differing == 1 and found.first == (3, 4)
    assert '1 of 2048 elements differ, the first at [3, 4]' in str(found)
    with pytest.raises(ValueError, match='nearest'):
        found.plan


ROWWISE = {'scale_a': (64, 1), 'scale_b': (1, 48)}
BLOCKWISE = {'scale_a': (64, 4), 'scale_b': (4, 1)}


@pytest.mark.parametrize('text, shapes', [
    ('every 128: fma (a*b) | f32', BLOCKWISE), ('every 128: fma a*b | f32', BLOCKWISE),
    ('every 128: fma a*b | sum + bias | f32', BLOCKWISE | {'bias': (48,)}),
    ('b*(a*sum) + bias | f32', ROWWISE | {'bias': (48,)}), ('fma(a, b*sum, bias) | f32', ROWWISE | {'bias': (48,)}),
    ('every 128: add | a*(b*sum) | f32', ROWWISE), ('every 128: add | sum + beta*c | f32', {'c': (64, 48)}),
    ('every 128: add | alpha*sum + beta*c | f32', {'c': (64, 48), 'alpha': 0.3, 'beta': 0.7}),
    ('every 128: add | alpha*sum | f32', {'alpha': 0.3}),
])
def test_plan_of_with_all_operands(text, shapes):
    rng = np.random.default_rng(5)
    a, b = (mm.convert(rng.standard_normal(shape), 'e4m3').view('u1') for shape in ((64, 512), (512, 48)))
    operands = {name: shape if isinstance(shape, float) else rng.uniform(0.5, 1, shape).astype('f4')
                for name, shape in shapes.items()}
    plan = mm.Plan(f'{FP8} | {text}')
    d = plan(a, b, **({'beta': 1} if 'c' in shapes else {}) | operands)
    found = mm.plan_of(a, b, d, rows='sm_90/wgmma*e4m3*', formats='e4m3,e4m3,f32', **operands)
    assert found.plan == plan
    # Without one of them, no plan is right, and the hint says so.
    for name in operands:
        rest = {other: x for other, x in operands.items() if other not in (name, 'beta') and not
                (name.startswith('scale') and other.startswith('scale'))}
        less = mm.plan_of(a, b, d, rows='sm_90/wgmma*e4m3*', formats='e4m3,e4m3,f32', **rest)
        if name not in ('beta', 'bias'):
            assert not less and {'scale_a': 'scales', 'scale_b': 'scales'}.get(name, name) in less.hint


@pytest.mark.parametrize('format', ['e4m3', 'e5m2'])
def test_fp8_results_saturate_as_the_instruction(format):
    [row] = mm.rows(f'sm_90/cvt.rn.satfinite.{format}x2.f32')
    words = np.random.default_rng(1).integers(0, 1 << 32, 20000, dtype=np.uint64).astype('u4')
    x = np.concatenate([words.view('f4'), np.float32([448, 464, 465, 57344, 61440, 61441, np.inf, -np.inf, np.nan, 0, 2**-10])])
    plan, one = mm.Plan(f'sm_90/fma.rn.f32 | {format}'), np.ones((1, 1), 'f4')
    got = bits(plan(x[:, None], one))[:, 0]
    assert np.array_equal(got[x != 0], bits(row(x))[x != 0]) and not got[x == 0].any()      # +0 + -0 is +0
    a, b = halves((512, 64)), halves((64, 512), 2)
    wide = mm.Plan(f'{HOPPER} | every 32: add | f32')
    d = mm.Plan(f'{HOPPER} | every 32: add | {format}')(a, b)
    assert np.array_equal(bits(d), bits(mm.convert(wide(a, b), format, saturate=True)))
    found = mm.plan_of(a, b, d, rows=HOPPER)
    assert found.plans or found.unsettled


def test_sums_of_f64():
    rng, plan = np.random.default_rng(3), mm.Plan('x86/vfmadd231sd | every 256: add | alpha*sum + beta*c | f64')
    a, b, c = (rng.standard_normal(shape) for shape in ((24, 1000), (1000, 16), (24, 16)))
    found = mm.plan_of(a, b, plan(a, b, c, alpha=0.3, beta=0.7), c=c, alpha=0.3, beta=0.7, rows=plan.row)
    assert found.plan == plan and found.same == {plan: []}


def test_equal_rows_are_named():
    a, b = halves((32, 256)), halves((256, 24), 2)
    found = mm.plan_of(a, b, mm.Plan(f'{HOPPER} | every 128: add | f32')(a, b), rows='sm_90/*')
    assert HOPPER in found.same[found.plan] and f'the same with' in str(found) and len(found.same[found.plan]) > 1


def test_plan_of_block_scales():
    row = 'sm_100/tcgen05.mma.m128n8k64.mxf4nvf4.f32.e2m1.e2m1.ue4m3'
    row = next(one.name for one in mm.rows('sm_100/*e2m1*ue4m3*')) if row not in mm.rows('sm_100/*ue4m3*') else row
    rng = np.random.default_rng(7)
    a, b = (rng.integers(0, 16, shape, 'u1') for shape in ((32, 256), (256, 24)))
    size = mm.Row(row).k // mm.Row(row).scales
    scales = {'block_scale_a': rng.integers(0x30, 0x40, (32, 256 // size), 'u1'),
              'block_scale_b': rng.integers(0x30, 0x40, (256 // size, 24), 'u1')}
    plan = mm.Plan(f'{row} | every 128: add | f32')
    d = plan(a, b, **scales)
    found = mm.plan_of(a, b, d, rows=row, formats={'a': 'e2m1', 'b': 'e2m1', 'scale': 'ue4m3'}, **scales)
    assert plan in found.plans and len(found.plans) < found.tried
    ml_dtypes = pytest.importorskip('ml_dtypes')
    typed = {name: x.view(ml_dtypes.float8_e4m3fn) for name, x in scales.items()}       # as files and PyTorch have ue4m3
    assert mm.plan_of(a, b, d, rows=row, formats={'a': 'e2m1', 'b': 'e2m1'}, **typed).plans == found.plans
    with pytest.raises(ValueError, match='block scales have the formats ue4m3, ue8m0'):
        mm.plan_of(a, b, d, rows=row, formats={'a': 'e2m1', 'b': 'e2m1'}, **typed | {
            'block_scale_b': scales['block_scale_b'].view(ml_dtypes.float8_e8m0fnu)})
    with pytest.raises(ValueError, match='one for each'):
        plan(a, b, **{name: np.repeat(x, 2, axis=axis) for axis, (name, x) in zip((1, 0), scales.items())})
    with pytest.raises(ValueError, match='none of the instructions .* with scales in ue8m0'):
        mm.plan_of(a, b, d, rows=FP8, formats={'a': 'e2m1', 'b': 'e2m1', 'scale': 'ue8m0'}, **scales)


def test_formats_of_plan_of():
    a, b = halves((32, 256)), halves((256, 24), 2)
    plan = mm.Plan(f'{HOPPER} | every 128: add | f16')
    d = plan(a, b).view('u2')
    for formats in ({'d': 'f16'}, 'f16,f16,f16', ['float16', np.float16, np.dtype('f2')]):
        for rows in (mm.Row(HOPPER), mm.rows(HOPPER), HOPPER, [HOPPER, mm.Row(HOPPER)]):
            assert plan in mm.plan_of(a, b, d, rows=rows, formats=formats).plans
            assert plan in mm.plan_of(a, b, d.view('V2'), rows=rows, formats=formats).plans
    with pytest.raises(TypeError, match='ml_dtypes.bfloat16'):
        mm.plan_of(a, b, d.view('V2'))
    for wrong, error in (({'d': 'bf16', 'a': 'bf16'}, TypeError), ('f16,f16,f17', ValueError), ({'c': 'f16'}, ValueError)):
        with pytest.raises(error):
            mm.plan_of(a, b, d, rows=HOPPER, formats=wrong)
    x, y = (x.astype('f4') + np.float32(2 ** -20) for x in (a, b))
    plan = mm.Plan('sm_90/wgmma.m64n8k8.f32.tf32.tf32 | f32')
    assert mm.plan_of(x, y, plan(x, y), rows=plan.row, formats='tf32,tf32,f32').plan == plan


def test_hints():
    a, b = halves((16, 64)), halves((64, 16), 2)
    for format in ('bf16', 'f16'):
        d = mm.Plan(f'{HOPPER} | every 32: add | {format}')(a, b)
        report = str(mm.plan_of(a, b, mm.convert(d, 'f32'), rows=HOPPER))
        assert f'all numbers of d are {format} numbers' in report and 'no plan that was tried has scales' in report
    report = str(mm.plan_of(a, b, 3 * mm.Plan(f'{HOPPER} | f32')(a, b), rows=HOPPER))
    assert 'all numbers' not in report and 'no plan that was tried has scales' in report


def test_several_plans_are_not_one():
    found = mm.FoundPlans({'plans': [f'{HOPPER} | f32'], 'unsettled': [], 'same': [''], 'regions': [], 'tried': 9, 'nearest': '',
                           'differing': 0, 'first': (0, 0), 'may_be_chance': False, 'deciding': (0, 0)}, (2, 2))
    assert found.is_settled and found.plan == mm.Plan(f'{HOPPER} | f32')
    for name, value in (('unsettled', found.plans), ('deciding', (9, 2)), ('plans', found.plans * 2), ('plans', [])):
        kept = getattr(found, name)
        setattr(found, name, value)
        assert not found.is_settled
        with pytest.raises(ValueError):
            found.plan
        setattr(found, name, kept)


def test_plan_of_regions():
    a, b = halves((40, 300)), halves((300, 32), 2)
    x, y = (mm.Plan(f'{HOPPER} | {how} | f32') for how in ('every 64: add', 'every 192: add'))
    d = x(a, b)
    d[32:] = y(a[32:], b)
    found = mm.plan_of(a, b, d, rows=HOPPER)
    assert {(plan, where) for plan, where in found.regions} == {(x, 'rows 0-31'), (y, 'rows 32-39')}
    assert 'rows 32-39' in str(found) and not found.plans


def test_too_few_elements_reject_no_plan():
    ones = np.ones((1, 256), np.float16)
    found = mm.plan_of(ones, ones.T, np.array([[256]], np.float16), rows='sm_90/wgmma*')
    assert found.deciding and found.deciding[0] > 1 and 'rejects no plan' in str(found)
    with pytest.raises(ValueError):
        found.plan


def test_ctrl_c_ends_a_product_while_other_threads_run():
    code = textwrap.dedent('''
        import os, signal, threading
        import numpy as np, mmadiff as mm
        plan = mm.Plan('x86/vfmadd231sd | f64')
        a = np.broadcast_to(np.float64(1), (4096, 1 << 20))
        threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT]).start()
        try:
            plan(a, a.T, threads=2)
        except KeyboardInterrupt:
            print('interrupted')
    ''')
    told = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, timeout=500)
    assert told.stdout == 'interrupted\n', told


torch = None
try:
    import torch
except ImportError:
    pass


@pytest.mark.skipif(torch is None, reason='no PyTorch')
def test_tensors_of_pytorch():
    plan = mm.Plan('sm_90/wgmma.m64n8k16.f32.bf16.bf16 | bf16')
    a = torch.randn(8, 64, requires_grad=True).to(torch.bfloat16)
    d = plan(a, a.t())
    assert isinstance(d, torch.Tensor) and d.dtype == torch.bfloat16 and d.shape == (8, 8)
    words = a.detach().view(torch.int16).numpy().view('u2')
    raw = mm.Plan('sm_90/wgmma.m64n8k16.f32.bf16.bf16 | bf16')(words, words.T)
    assert np.array_equal(bits(np.asarray(raw)), d.view(torch.int16).numpy().view('u2'))
    fp8 = torch.randn(4, 64).to(torch.float8_e4m3fn)
    e = mm.Row(FP8)(fp8[:, :32], fp8[:, :32].t())
    words = fp8[:, :32].view(torch.uint8).numpy()
    assert e.dtype == torch.float32 and np.array_equal(bits(e.numpy()), bits(mm.Row(FP8)(words, words.T)))
    assert mm.plan_of(a, a.t(), d, rows='sm_90/wgmma*').plans
    with pytest.raises(TypeError, match='sparse'):
        plan(a.to_sparse(), a.t())
    for format, name in arrays._TYPES.items():
        if name in ('uint8', 'bool', 'int4', 'uint4') or not hasattr(torch, name):
            continue
        x = torch.ones(3, 4, dtype=torch.float32).to(getattr(torch, name))
        words, read = arrays.read(x)
        assert words.shape == (3, 4) and read == arrays._FORMAT_OF[name] and words.dtype == arrays.word_type(format)
    wide = torch.randn(4, 16, dtype=torch.float64)
    assert mm.Plan('x86/vfmadd231sd | f64')(wide, wide.t()).dtype == torch.float64
    mm.assert_same_bits(wide, wide.numpy())


def test_few_elements_may_fit_by_chance():
    a, b = halves((1, 256)), halves((256, 1), 2)
    d = mm.Plan(f'{HOPPER} | every 64: add | f32')(a, b)
    found = mm.plan_of(a, b, d, rows=HOPPER)
    assert found.plans and found.may_be_chance and 'by chance' in str(found)
    a, b = halves((64, 256)), halves((256, 8), 2)
    assert not mm.plan_of(a, b, mm.Plan(f'{HOPPER} | every 64: add | f32')(a, b), rows=HOPPER).may_be_chance
