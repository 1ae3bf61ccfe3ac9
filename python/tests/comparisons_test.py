"""Conversions, comparisons and errors, against exact fractions."""
from fractions import Fraction
import itertools
import math

import numpy as np
import pytest

import mmadiff as mm
from mmadiff import arrays

FLOATS = [name for name in arrays.FORMATS if not arrays.is_integer(name)]
HOPPER = 'sm_90/wgmma.m64n8k16.f32.f16.f16'


def bits(x):
    return x.view(f'u{x.itemsize}')


def random_words(rng, format, shape):
    return rng.integers(0, 1 << 63, shape, dtype=np.uint64).view(np.uint64).astype(arrays.word_type(format)) & \
        np.array((1 << mm._core.format_bits(format)) - 1, arrays.word_type(format))


def test_conversions_of_numpy():
    rng = np.random.default_rng(1)
    words = rng.integers(0, 1 << 32, 200000, dtype=np.uint64).astype(np.uint32)
    x = words.view(np.float32)
    with np.errstate(all='ignore'):
        expected = x.astype(np.float16)
    d = mm.convert(x, 'f16')
    number = ~np.isnan(x)
    assert np.array_equal(bits(d)[number], bits(expected)[number])
    assert np.array_equal(np.isnan(d), np.isnan(x))
    wide = mm.convert(x, 'f64')
    assert np.array_equal(bits(wide)[number], bits(x[number].astype(np.float64)))
    assert np.array_equal(bits(mm.convert(wide, 'f32')), bits(x) | np.where(number, 0, 0x400000).astype(np.uint32))


def test_conversions_of_ml_dtypes():
    ml_dtypes = pytest.importorskip('ml_dtypes')
    x = np.random.default_rng(2).integers(0, 1 << 32, 100000, dtype=np.uint64).astype(np.uint32).view(np.float32)
    number = ~np.isnan(x)
    for format in ('bf16', 'e4m3', 'e5m2', 'e4m3fnuz', 'e5m2fnuz'):
        with np.errstate(all='ignore'):
            expected = x.astype(arrays.dtype(format))
        assert np.array_equal(bits(mm.convert(x, format))[number], bits(expected)[number]), format


def test_there_and_back():
    for format in FLOATS:
        count = 1 << min(mm._core.format_bits(format), 16)
        words = np.arange(count, dtype=np.uint32).astype(arrays.word_type(format))
        back = mm.convert(mm.convert(words, 'f64', format=format), format)
        assert back.shape == words.shape
        wide = mm.convert(words, 'f64', format=format)
        ignored = {'tf32': 0x1fff, 'tf32_amx': 0x1fff}.get(format, 0)
        same = (bits(back) == words & ~np.array(ignored, words.dtype)) | np.isnan(wide)
        if format == 'ue4m3':
            same |= words > 0x7f  # its top bit is not read
        assert same.all(), (format, words[~same][:5])


def test_saturation_and_names():
    assert bits(mm.convert(np.float32([1000, np.inf, np.nan]), 'e4m3')).tolist() == [0x7f, 0x7f, 0x7f]
    assert bits(mm.convert(np.float32([1000, np.inf]), 'e4m3', saturate=True)).tolist() == [0x7e, 0x7f]
    assert bits(mm.convert(np.float64([100]), 'e2m1')).tolist() == [7]
    assert bits(mm.convert(np.float32([1000]), 'hopper/cvt.rn.satfinite.e4m3x2.f32')).tolist() == [0x7e]
    for call, words in ((lambda: mm.convert(np.int8([1]), 'f16'), 'floating-point formats, not from s8 to f16'),
                        (lambda: mm.convert(np.float32([1]), HOPPER), 'is not a conversion'),
                        (lambda: mm.convert(np.float32([1]), 'f17'), "f17")):
        with pytest.raises(ValueError, match=words):
            call()
    with pytest.raises(TypeError, match='raw words'):
        mm.convert(np.uint16([1]), 'f32')
    for options in ({'saturate': True}, {'format': 'f32'}):
        with pytest.raises(TypeError, match='fixes the format'):
            mm.convert(np.float32([1]), 'ocp/cvt.rn.e4m3.f32', **options)


def value_of(words, format):
    return [[Fraction(float(x)) for x in row] for row in mm.convert(words, 'f64', format=format)]


def finite(rng, format, shape):
    words = random_words(rng, format, shape)
    return np.where(np.isfinite(mm.convert(words, 'f64', format=format)), words, 0).astype(words.dtype)


@pytest.mark.parametrize('formats', [('f64', 'f64'), ('f32', 'f32'), ('bf16', 'bf16'), ('f16', 'e5m2'), ('e4m3', 'e2m1'),
                                     ('f64', 'e4m3')])
def test_exact_products_are_fractions(formats):
    rng = np.random.default_rng(4)
    for k in (0, 1, 2, 37):
        a, b = finite(rng, formats[0], (5, k)), finite(rng, formats[1], (k, 4))
        if k == 37:  # sums that cancel
            a[:, 18:36], b[18:36] = a[:, :18], b[:18]
            a[:, :18] ^= np.array(1 << (mm._core.format_bits(formats[0]) - 1), a.dtype)
        high, low = mm.exact(a, b, formats={'a': formats[0], 'b': formats[1]})
        x, y = value_of(a, formats[0]), value_of(b, formats[1])
        for i, j in itertools.product(range(5), range(4)):
            expected = sum((x[i][p] * y[p][j] for p in range(k)), Fraction(0))
            try:
                nearest = float(expected)
            except OverflowError:
                nearest = math.inf if expected > 0 else -math.inf
            assert high[i, j] == nearest
            if math.isfinite(nearest):
                assert low[i, j] == float(expected - Fraction(nearest))


def test_exact_sums_of_specials():
    inf, nan = np.inf, np.nan
    a = np.float32([[1, inf], [inf, -inf], [0, inf], [nan, 1], [inf, inf]])
    high, low = mm.exact(a, np.float32([[1, 0], [1, -1]]))
    assert np.array_equal(high[:, 0], [inf, nan, inf, nan, inf], equal_nan=True)
    assert np.array_equal(high[:, 1], [-inf, nan, -inf, nan, nan], equal_nan=True)
    assert not low.any()


def test_error_of_a_plan():
    rng = np.random.default_rng(5)
    a, b = rng.standard_normal((6, 200)).astype('f2'), rng.standard_normal((200, 7)).astype('f2')
    plan = mm.Plan(f'{HOPPER} | f32')
    d = plan(a, b)
    exact = np.array([[sum((Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a[i], b[:, j])), Fraction(0))
                       for j in range(7)] for i in range(6)])
    errors = np.array([[float(Fraction(float(d[i, j])) - exact[i, j]) for j in range(7)] for i in range(6)]).ravel()
    scale = np.sqrt(np.mean(np.square(exact.astype(float))))
    found = mm.error(plan, a, b)
    assert np.allclose(found.errors, errors / scale, rtol=1e-12, atol=0) and found.count == 42 and not found.left_out
    assert found.max == np.abs(found.errors).max() and found.bias == found.errors.mean()
    assert found.toward_zero == -np.mean(found.errors * np.sign(exact.astype(float).ravel())) > 0
    assert found.bias < 0 < found.rms  # sums are cut, and their sign is random; most are not 0
    assert mm.error(d, a, b, exactly=mm.exact(a, b)).rms == found.rms == mm.error(str(plan), a, b).rms
    counts, edges = found.histogram(11)
    assert counts.sum() == 42 and edges[0] == -edges[-1] and 'rms' in str(found) and '<table>' in found._repr_html_()
    broken = d.copy()
    broken[0, 0] = np.inf
    assert mm.error(broken, a, b).left_out == 1
    high, low = mm.exact(a, b)
    high[0, 1] = np.inf
    none = mm.error(np.full((6, 7), np.inf), a, b)
    assert (none.count, none.left_out, none.scale) == (0, 42, 0) and np.isnan(none.rms)
    found = mm.error(d, a, b, exactly=(high, low))
    assert found.left_out == 1 and found.count == 41 and np.isfinite(found.rms)


def test_the_rest_of_exact_sums_is_subtracted():
    a, b = np.float64([[1, 2.0 ** -60]]), np.float64([[1], [1]])
    found = mm.error(np.float64([[1]]), a, b)
    assert found.errors.tolist() == [-2.0 ** -60] and found.max == 2.0 ** -60


@pytest.mark.parametrize('size', [1e200, 1e-200, 1e-300, 1e300])
def test_errors_do_not_depend_on_the_size(size):
    size = 2.0 ** np.round(np.log2(size))
    rng = np.random.default_rng(6)
    a, b = rng.standard_normal((4, 50)).astype('f4').astype('f8'), rng.standard_normal((50, 5)).astype('f4').astype('f8')
    d = mm.convert(a @ b, 'f32').astype('f8')
    one, other = mm.error(d, a, b), mm.error(d * size, a * size, b)
    assert np.array_equal(one.errors, other.errors) and other.scale == one.scale * size
    assert (one.rms, one.max, one.bias) == (other.rms, other.max, other.bias) and one.rms > 0


def test_texts_of_errors():
    zero = mm.error(np.zeros((50, 50)), np.zeros((50, 1)), np.zeros((1, 50)))
    assert str(zero) == 'rms 0, max 0, bias +0, toward zero +0 of 2500 elements' and '>2500<' in zero._repr_html_()


def test_errors_of_several():
    rng = np.random.default_rng(7)
    a, b = rng.standard_normal((6, 64)).astype('f2'), rng.standard_normal((64, 7)).astype('f2')
    plan, text = mm.Plan(f'{HOPPER} | f32'), f'{HOPPER} | f16'

    def kernel(a, b):
        return plan(a, b)
    found = mm.error([plan, text, kernel, plan(a, b), plan(a, b).view('u4')], a, b, formats={'d': 'f32'})
    assert [x.rms for x in found] == [mm.error(x, a, b).rms for x in (plan, text, plan, kernel, plan(a, b))]
    assert found.names == [str(plan), text, 'kernel', 'results 3', 'results 4'] and found[1].rms > found[0].rms
    assert len(str(found).splitlines()) == 5 and str(found).startswith(f'{plan}: rms ') and text in found._repr_html_()
    assert mm.error(plan(a, b).tolist(), a, b).rms == found[0].rms
    pandas = pytest.importorskip('pandas')
    assert isinstance(found.frame(), pandas.DataFrame) and list(found.frame().index) == found.names


def test_raw_words_of_several_plans():
    words = np.random.default_rng(8).integers(0, 0x70, (8, 8)).astype(np.uint8)
    plans = [f'sm_90/wgmma.m64n8k32.f32.{x}.{x} | f32' for x in ('e4m3', 'e5m2')]
    assert [x.rms for x in mm.error(plans, words, words)] == [mm.error(plan, words, words).rms for plan in plans]


def test_errors_of_scaled_products():
    plan = mm.Plan('sm_90/wgmma.m64n8k32.f32.e4m3.e4m3 | every 128: fma (a*b) | f32')
    rng = np.random.default_rng(9)
    a, b = (mm.convert(rng.standard_normal(shape), 'e4m3') for shape in ((4, 256), (256, 8)))
    scales = {'scale_a': np.float32([[0.3, 0.7]] * 4), 'scale_b': np.float32([[1.1], [0.9]])}
    exactly = mm.exact(*(mm.convert(x, 'f64') * np.repeat(scale, 128, axis=axis) for x, scale, axis in (
        (a, scales['scale_a'].astype('f8'), 1), (b, scales['scale_b'].astype('f8'), 0))))
    found = mm.error(plan, a, b, exactly=exactly, **scales)
    assert 0 < found.rms < 1e-2 and found.rms == mm.error(plan, a, b, **scales).rms


@pytest.mark.parametrize('text, operands', [
    ('b*(a*sum) + bias | f32', {'scale_a': (40, 1), 'scale_b': (1, 24), 'bias': (24,)}),
    ('every 64: add | alpha*sum + bias | f32', {'bias': (24,), 'alpha': 0.3}), ('alpha*sum | f32', {'alpha': 2}),
    ('every 64: fma a*b | f32', {'scale_a': (5, 3), 'scale_b': (3, 6)}), ('(a*b)*sum | f32', {'scale_a': 3, 'scale_b': 0.1}),
])
def test_exact_sums_have_the_operands(text, operands):
    rng, plan = np.random.default_rng(9), mm.Plan(f'sm_90/wgmma.m64n8k32.f32.e4m3.e4m3 | {text}')
    a, b = (mm.convert(rng.standard_normal(shape), 'e4m3').view('u1') for shape in ((40, 192), (192, 24)))
    given = {name: rng.uniform(0.5, 2, x).astype('f4') if isinstance(x, tuple) else x for name, x in operands.items()}
    x, y = ([[Fraction(float(one)) for one in line] for line in mm.convert(z, 'f64', format='e4m3')] for z in (a, b))

    def scale(name, i, k, rows):
        s = np.asarray(given.get(name, 1.0), 'f4')
        if s.ndim < 2:
            return Fraction(float(s.reshape(-1)[0]))
        s = s if name == 'scale_a' else s.T
        return Fraction(float(s[i * s.shape[0] // rows if s.shape[0] > 1 else 0, k * s.shape[1] // 192 if s.shape[1] > 1 else 0]))
    alpha = Fraction(float(np.float32(given.get('alpha', 1))))
    d = mm.convert(plan(a, b, **given), 'f64')
    errors = []
    for i, j in ((0, 0), (39, 23), (17, 5)):
        exact = sum(alpha * x[i][k] * scale('scale_a', i, k, 40) * y[k][j] * scale('scale_b', j, k, 24) for k in range(192))
        exact += Fraction(float(given['bias'][j])) if 'bias' in given else 0
        errors.append(Fraction(d[i, j]) - exact)
    found = mm.error(plan, a, b, **given)
    for at, error in zip(((0, 0), (39, 23), (17, 5)), errors):
        assert math.isclose(found.errors.reshape(40, 24)[at] * found.scale, float(error), rel_tol=1e-9)


def test_operands_that_are_not_given():
    a, b = np.full((4, 64), 0x38, 'u1'), np.full((64, 4), 0x31, 'u1')
    plan = f'sm_90/wgmma.m64n8k32.f32.e4m3.e4m3 | f32'
    assert mm.error(plan, a, b, alpha=None, bias=None, c=None, scale_a=None).rms == mm.error(plan, a, b).rms
    # Each plan has its own formats of operands.
    x, y = (np.random.default_rng(i).standard_normal(shape).astype('f2') for i, shape in enumerate([(4, 64), (64, 3)]))
    plans = [f'sm_90/wgmma.m64n8k16.{sums}.f16.f16 | alpha*sum | {sums}' for sums in ('f16', 'f32')]
    assert [one.rms for one in mm.error(plans, x, y, alpha=.3)] == [mm.error(one, x, y, alpha=.3).rms for one in plans]
    scaled = 'sm_90/wgmma.m64n8k32.f32.e4m3.e4m3 | (a*b)*sum | f32'
    assert mm.error(scaled, a[None], b, scale_a=2, scale_b=3).rms == mm.error(scaled, a, b, scale_a=2, scale_b=3).rms


def test_exact_sums_with_block_scales():
    plan = mm.Plan('sm_100/tcgen05.mma.m128n8k32.mxf8f6f4.f32.e4m3.e4m3.ue8m0 | f32')
    rng = np.random.default_rng(3)
    a, b = (rng.integers(0x30, 0x48, shape, 'u1') for shape in ((4, 64), (64, 8)))
    scales = {'block_scale_a': rng.integers(126, 129, (4, 2), 'u1'), 'block_scale_b': rng.integers(126, 129, (2, 8), 'u1')}
    assert mm.error(plan, a, b, **scales).rms < 1e-6
    with pytest.raises(TypeError, match='exact sums have no beta, c: give exactly='):
        mm.error('x86/vfmadd231ss | sum + beta*c | f32', np.ones((2, 2), 'f4'), np.ones((2, 2), 'f4'), c=np.ones((2, 2), 'f4'), beta=2)
    with pytest.raises(TypeError, match='a times its factors has 72 bits'):
        mm.error('x86/vfmadd231ss | alpha*sum | f32', np.ones((2, 2), 'f4'), np.ones((2, 2), 'f4'), alpha=2) and mm.error(
            'x86/vfmadd231ss | (a*b)*sum | f32', np.ones((2, 2), 'f4'), np.ones((2, 2), 'f4'), scale_a=2, scale_b=3) and mm.error(
            'x86/vfmadd231ss | every 2: fma (a*b) | alpha*sum | f32', np.ones((2, 2), 'f4'), np.ones((2, 2), 'f4'), scale_a=2,
            scale_b=3, alpha=2)


def test_formats_of_typed_arrays():
    x = np.float32([[1 + 2.0 ** -20]])
    assert mm.exact(x, x, formats='tf32,tf32')[0] == 1 == mm.exact(x, x, formats={'a': 'tf32', 'b': 'tf32'})[0]
    assert mm.exact(x, x, formats='f32,f32')[0] > 1 and mm.exact(x, x)[0] > 1
    assert mm.error(np.float32([[1]]), x, x, formats='tf32,tf32,f32').max == 0
    plan = mm.Plan('sm_90/wgmma.m64n8k8.f32.tf32.tf32 | f32')
    assert mm.error(plan, x, x).max == 0 < mm.error(plan, x, x, formats='f32,f32').max
    for call in (mm.exact, lambda a, b, **options: mm.error('x86/vfmadd231ss | f32', a, b, **options)):
        with pytest.raises(TypeError, match='words of bf16'):
            call(x, x, formats='bf16,f32')
    half = x.astype('f2')
    assert mm.error('x86/vfmadd231ss | f32', half, x).max == 0


@pytest.mark.parametrize('call, error, words', [
    (lambda a: mm.error(None, a, a), TypeError, 'a plan, its text, a kernel, or results, not None'),
    (lambda a: mm.error(3, a, a), TypeError, 'a plan, its text, a kernel, or results, not 3'),
    (lambda a: mm.error(lambda a, b: None, a, a), TypeError, 'd is None'),
    (lambda a: mm.error('no plan', a, a), ValueError, "no instruction 'no'"),
    (lambda a: mm.error(a, a, a, exactly=a), TypeError, 'a pair of f64 arrays'),
    (lambda a: mm.error(a, a, a, exactly=(a, a[:1])), ValueError, 'exact sums'),
    (lambda a: mm.error(a, a, a, exactly=(a, a), alpha=2), TypeError, 'only a plan reads alpha'),
    (lambda a: mm.error(a[:1], a, a), ValueError, 'the results have the shape'),
    (lambda a: mm.race(3, 'x | f32'), TypeError, 'a plan is 3'),
    (lambda a: mm.assert_same_bits(a.view('u8'), a.view('u8'), format='f17'), ValueError, 'f17'),
    (lambda a: mm.assert_same_bits(np.uint8([1]), np.uint8([1]), format='f17'), ValueError, 'f17'),
    (lambda a: mm.assert_same_bits(np.uint8([1]), np.uint8([1]), format='f16'), TypeError, 'words of f16'),
])
def test_wrong_calls_say_why(call, error, words):
    with pytest.raises(error, match=words):
        call(np.ones((2, 2)))


def test_race():
    found = mm.race(f'{HOPPER} | every 64: add | f32', mm.Plan(f'{HOPPER} | every 128: add | f32'))
    assert found and found.k > 64 and found.a.shape == (1, found.k)
    assert bits(found.x(found.a, found.b)) == bits(found.of_x) != bits(found.of_y) == bits(found.y(found.a, found.b))
    assert f'k = {found.k}' in str(found)
    terms = found.a.ravel() != 0
    line = str(found).splitlines()[1]
    assert f"  {found.a[0, terms][0]} x {found.b[terms, 0][0]}" in line and found.a[0, terms][0] != found.b[terms, 0][0]
    assert f'\nthe first gives {found.of_x[0, 0]!s}, the second {found.of_y[0, 0]!s}\nk = 0-63 is a range of the first, ' in str(found)
    same = mm.race(f'{HOPPER} | f16', 'sm_90/mma.m16n8k16.f32.f16.f16.f32 | f16')
    assert not same and 'no product distinguishes them' in str(same)
    with pytest.raises(ValueError):
        mm.race(f'{HOPPER} | f16', 'x86/vfmadd231ss | f32')


@pytest.mark.parametrize('got, want, options, words', [
    (np.float32([[1, 2]]), np.float32([[1, 3]]), {}, '1 of 2 elements differ, the first at [0, 1]: got 0x40000000 = 2, want '
                                                    '0x40400000 = 3'),
    (np.float32([1, 2, 3]), np.float32([1, 0, 0]), {}, '2 of 3 elements differ, the first at [1]'),
    (np.float32([0.0]), np.float32([-0.0]), {}, 'got 0x00000000 = 0, want 0x80000000 = -0'),
    (np.float32([1]), np.float32([1, 2]), {}, 'the shapes differ: got (1,), want (2,)'),
    (np.zeros((2, 3), 'f4'), np.zeros((3, 2), 'f4'), {}, 'the shapes differ: got (2, 3), want (3, 2)'),
    (np.float32([1]), np.float16([1]), {}, 'the formats differ'),
    (np.uint8([15]), np.uint8([7]), {'format': 's4'}, 'got 0x0f = -1, want 0x07 = 7'),
    (np.uint8([15]), np.uint8([7]), {'format': 'u4'}, 'got 0x0f = 15, want 0x07 = 7'),
    (np.int16([-2]), np.int16([1]), {'any_nan': True}, '0xfffe = -2'),
    (np.float32([np.nan]), np.float32([1]), {'any_nan': True}, 'want 0x3f800000 = 1'),
    (np.float32([1]), np.float32([np.nan]), {'any_nan': True}, 'got 0x3f800000 = 1'),
    (np.uint16([1]), np.uint8([1]), {}, 'differ in width'),
    (np.uint16([1]), np.uint16([0x3c00]), {'format': 'f16'}, 'want 0x3c00 = 1'),
    (np.int8([-1]), np.int8([1]), {}, '0xff = -1'),
    (np.float32([1]), np.float32([2]), {'plan': 'P'}, '(plan: P)'),
    (np.uint32([0x7fc00001]).view('f4'), np.uint32([0x7fc00000]).view('f4'), {}, 'nan'),
])
def test_bits_that_differ(got, want, options, words):
    with pytest.raises(AssertionError) as raised:
        mm.assert_same_bits(got, want, **options)
    assert words in str(raised.value)


def test_bits_that_are_equal():
    mm.assert_same_bits(np.float32([np.nan, 1]), np.float32([np.nan, 1]))
    mm.assert_same_bits(np.uint32([0x7fc00001]).view('f4'), np.uint32([0x7fc00000]).view('f4'), any_nan=True)
    mm.assert_same_bits(np.zeros((0, 3), 'f4'), np.zeros((0, 3), 'f4'))
    mm.assert_same_bits(np.float32([1]).astype('>f4'), np.float32([1]))


def test_the_message_names_the_plan_of_the_result():
    rng = np.random.default_rng(6)
    a, b = rng.standard_normal((32, 256)).astype('f2'), rng.standard_normal((256, 24)).astype('f2')
    mine, plan = mm.Plan(f'{HOPPER} | every 64: add | f32'), mm.Plan(f'{HOPPER} | every 128: add | f32')
    with pytest.raises(AssertionError) as raised:
        mm.assert_same_bits(mine(a, b), plan(a, b), plan=plan, operands=(a, b))
    assert f'(plan: {plan})' in str(raised.value) and f'plans of the result: {mine} ' in str(raised.value)
    with pytest.raises(TypeError, match='needs plan'):
        mm.assert_same_bits(mine(a, b), plan(a, b), operands=(a, b))
    mm.assert_same_bits(np.float32([1]), np.float32([1]), format='tf32')
    with pytest.raises(AssertionError, match='0x3f80 = 1, want 0x0000 = 0'):
        mm.assert_same_bits(np.uint16([0x3f80]), np.uint16([0]), format='bf16')
