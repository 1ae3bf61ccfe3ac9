"""Single elements: traces, witnesses, comparisons with a plan."""
import base64
import re

import numpy as np
import pytest

from anything import anything
import mmadiff as mm

FP8 = 'sm_90/wgmma.m64n8k32.f32.e4m3.e4m3'
HOPPER = 'sm_90/wgmma.m64n8k16.f32.f16.f16'
FMA = 'x86/vfmadd231ss'
DEEPGEMM, TRITON = (mm.Plan(f'{FP8} | every 128: {join} | bf16') for join in ('fma (a*b)', 'fma a*b'))


def scaled(m, n, k, seed=1):
    """Operands as DeepGEMM has them: scales for 1 x 128 of A and 128 x 128 of B."""
    rng = np.random.default_rng(seed)
    a, b = (mm.convert(rng.standard_normal(shape), 'e4m3').view('u1') for shape in ((m, k), (k, n)))
    return a, b, {'scale_a': rng.uniform(0.5, 1, (m, k // 128)).astype('f4'),
                  'scale_b': rng.uniform(0.5, 1, (k // 128, -(-n // 128))).astype('f4')}


def words(x):
    return x.view(f'u{x.itemsize}')


@pytest.mark.parametrize('plan', [DEEPGEMM, TRITON])
def test_a_trace_is_the_joins_one_by_one(plan):
    a, b, scales = scaled(8, 200, 500 // 128 * 128)
    row, column = 5, 131
    traced = mm.trace(plan, a, b, (row, column), **scales)
    fma, part = mm.Row('sm_90/fma.rn.f32'), mm.Plan(f'{FP8} | f32')

    def times(x, y, z=-0.0):
        return fma(*(np.float32(one).reshape(1, 1) for one in (x, y, z)))[0, 0]
    total = np.float32(0)
    for block, one in enumerate(traced.ranges):
        ks = slice(128 * block, 128 * block + 128)
        of_range = part(a[row:row + 1, ks], b[ks, column:column + 1])[0, 0]
        x, y = scales['scale_a'][row, block], scales['scale_b'][block, 1]
        total = times(times(x, y), of_range, total) if plan is DEEPGEMM else times(times(x, of_range), y, total)
        assert (one.stage, one.runs, one.text) == (0, [(ks.start, ks.stop)], f'{ks.start}-{ks.stop - 1}')
        assert words(one.sum) == words(of_range) and words(one.joined) == words(total)
    assert str(traced).splitlines()[1:3] == [plan.stages[0], f'  k 0-127: {traced.text_of(traced.ranges[0].sum)}, joined '
                                             f'{traced.text_of(traced.ranges[0].joined)}']
    assert len(traced.ranges) == 3 and words(traced.sum) == words(total)
    assert words(np.array(traced.result)) == words(plan(a, b, **scales))[row, column]


def test_ranges_need_no_operands():
    plan = mm.Plan('x86/vfmadd231ss | strided 2 of 4: tree | into 2 of 16: add | tail 3 | fma(beta, c, alpha*sum) + bias | f32')
    assert plan.stages == ['strided 2 of 4: tree', 'into 2 of 16: add', 'tail 3']
    assert [(one.text, one.stage) for one in plan.ranges(41)] == [
        ('0-3+8<28', 0), ('4-7+8<32', 0), ('0-31', 1), ('32-35', 0), ('36-38', 0), ('32-38', 1)]
    assert mm.Plan(f'{HOPPER} | f32').ranges(100) == []
    mx = mm.Plan('sm_100/tcgen05.mma.m128n8k32.mxf8f6f4.f32.e4m3.e4m3.ue8m0 | every 64: add | a*(b*sum) | f32')
    assert [one.text for one in mx.ranges(100)] == ['0-63', '64-99']


def test_executions_do_not_cross_ranges():
    def cells(text, k):
        svg = mm.Plan(text).draw(k).svg
        line = svg[svg.index('at a time'):].split('<text')[0]
        return [tuple(map(int, run)) for run in re.findall(r'<title>(\d+) to (\d+)</title>', line)]
    assert cells(f'{HOPPER} | into 2 of 8: add | f32', 40) == [(0, 15), (16, 23), (24, 39)]
    assert cells(f'{HOPPER} | residue 32 | f16', 70) == [(0, 5), (6, 21), (22, 37), (38, 53), (54, 69)]
    assert cells(f'{HOPPER} | residue 32 | f16', 64) == [(0, 15), (16, 31), (32, 47), (48, 63)]
    assert cells(f'{HOPPER} | strided 2 of 8: add | f16', 32) == [(0, 7), (16, 23), (8, 15), (24, 31)]
    tail = mm.Plan('x86/vfmadd231ss | every 4: add | tail 3 | f32').draw(11).svg
    assert '<title>9 to 10</title>' in tail[tail.index('tail 3'):]
    lost = mm.Plan('x86/vfmadd231ss | cut 8 | every 4: add | f32')
    assert '<title>16 to' not in lost.draw(20).svg and lost.draw(5).svg.count('<title>') == 0
    alone = mm.Plan('x86/vfmadd231ss | tail 4 | f32').draw(10).svg
    assert '<title>8 to 9</title>' in alone[alone.index('tail 4'):] and '<title>8 to 8</title>' not in alone
    with pytest.raises(ValueError, match='nothing to draw'):
        mm.Plan(f'{HOPPER} | f16').draw(0)
    for text in ('every 100000: add', 'at 100 5000: add', 'into 32 of 4096: add'):
        plan = mm.Plan(f'{HOPPER} | {text} | f32')
        last = int(re.findall(r'>(\d+)</text>', plan.draw().svg)[-1])
        assert len(plan.ranges(last + 1)) > 1


def svg_of(html):
    return base64.b64decode(re.search(r'data:image/svg\+xml;base64,([^"]*)"', html)[1]).decode()


def test_drawings():
    plan = mm.Plan(f'{HOPPER} | every 128: add | into 3 of 64: add | f16')
    assert 'every 128: add' in svg_of(plan._repr_html_())
    svg = plan.draw(1024).svg
    assert svg.count('<rect') == 1 + 1024 // 16 + 8 + 3 and '>1023</text>' in svg
    assert svg.count('<title>0 to 383</title>') == 1
    many = mm.Plan('x86/vfmadd231ss | strided 4 of 1: add | f32').draw(4096)
    assert '>4 ranges</text>' in many.svg and '>4096 executions</text>' in many.svg and '.svg' in repr(many)
    a, b = np.ones((2, 256), 'f2'), np.ones((256, 2), 'f2')
    html = mm.trace(plan, a, b, (1, 1))._repr_html_()
    assert '0x43800000 = 256' in html and svg_of(html)


def test_the_message_says_where_the_sums_part():
    a, b, scales = scaled(256, 256, 512)
    d = TRITON(a, b, **scales)
    operands = {'a': a, 'b': b, **scales}
    with pytest.raises(AssertionError) as raised:
        mm.assert_same_bits(d, DEEPGEMM(a, b, **scales), plan=DEEPGEMM, operands=operands)
    first, found, parting = str(raised.value).splitlines()
    assert first.endswith(f'(plan: {DEEPGEMM})')
    assert found.startswith(f'plans of the result: {TRITON} ')
    match = re.fullmatch(r'k = (\d+)-\d+ joins to (\S+) = \S+ \(every 128: fma \(a\*b\)\), in the result (\S+) = \S+ '
                         r'\(every 128: fma a\*b\)', parting)
    at = [int(x) for x in re.search(r'at \[(\d+), (\d+)\]', first).groups()]
    for plan, text in ((DEEPGEMM, match[2]), (TRITON, match[3])):
        [joined] = [one.joined for one in mm.trace(plan, a, b, at, **scales).ranges if one.text.startswith(f'{match[1]}-')]
        assert f'0x{int(words(joined)):08x}' == text
    with pytest.raises(AssertionError) as again:
        mm.check(DEEPGEMM, a, b, d, **scales)
    assert str(again.value) == str(raised.value)
    assert mm.check(TRITON, a, b, d, **scales) == 256 * 256


@pytest.mark.parametrize('x, y, text', [
    ('every 64: add', 'every 128: add', 'k = 0-63 is a range of the plan, k = 0-127 of the result'),
    ('every 128: add | sum', 'every 128: add from zero | sum', ''),
])
def test_ranges_that_differ(x, y, text):
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((32, 256)).astype('f2'), rng.standard_normal((256, 32)).astype('f2')
    plan, other = (mm.Plan(f'{HOPPER} | {stages} | f32') for stages in (x, y))
    if text:
        with pytest.raises(AssertionError) as raised:
            mm.check(plan, a, b, other(a, b))
        assert str(raised.value).endswith(text)
    else:
        assert mm.check(plan, a, b, other(a, b)) == 1024


def test_a_result_without_a_plan():
    a, b = np.ones((4, 32), 'f2'), np.ones((32, 4), 'f2')
    plan = mm.Plan(f'{HOPPER} | f32')
    d = plan(a, b)
    d[3, 1] = 7
    with pytest.raises(AssertionError, match=r'(?s)1 of 16 elements differ, the first at \[3, 1\].*none of \d+ with this instruction .*; the plan is the nearest, 1 of 16 differ'):
        mm.check(str(plan), a, b, d)
    with pytest.raises(AssertionError, match=r'1 of 2 elements differ, the first at \[3, 1\]'):
        mm.check(plan, a, b, d, at=[(0, 0), (3, 1)])
    assert mm.check(plan, a, b, d, at=[(0, 0), (3, 2)]) == 2
    d[:] = np.nan
    with pytest.raises(AssertionError, match='16 of 16'):
        mm.check(plan, a, b, d, any_nan=True)
    a[:] = np.inf
    b[::2] = -1
    d = words(plan(a, b)) ^ 1
    with pytest.raises(AssertionError, match='16 of 16'):
        mm.check(plan, a, b, d)
    assert mm.check(plan, a, b, d, any_nan=True) == 16


@pytest.mark.parametrize('join, more', [('fma (a*b) | bf16', {}), ('fma (a*b) | sum + bias | bf16', {'bias': (700,)}),
                                        ('fma (a*b) | sum + beta*c | bf16', {'c': (600, 700), 'beta': 1})])
def test_large_results_are_explained_by_a_part(join, more):
    a, b, scales = scaled(600, 700, 256)
    plan, other = (mm.Plan(f"{FP8} | every 128: {text}") for text in (join, join.replace('(a*b)', 'a*b')))
    operands = scales | {name: normal(x, 3) if isinstance(x, tuple) else x for name, x in more.items()}
    with pytest.raises(AssertionError) as raised:
        mm.check(plan, a, b, other(a, b, **operands), **operands)
    lines = str(raised.value).splitlines()
    assert f'plans of the result, in 512 x 512 of its elements: {other} ' in str(raised.value), raised.value
    assert 'every 128: fma (a*b)), in the result' in lines[-1]
    wide = mm.Plan(f'{FMA} | every 64: add | f32')                   # f16 operands of f32 rows
    x, y = normal((600, 128), 1, 'f2'), normal((128, 700), 2, 'f2')
    with pytest.raises(AssertionError, match='in 512 x 512 of its elements: x86(?s:.*)the plan has one more stage, every 64: add'):
        mm.check(wide, x, y, mm.Plan(f'{FMA} | f32')(x, y))


def test_a_thousand_wrong_calls_crash_nothing(tmp_path):
    rng = np.random.default_rng(4)
    plans = [DEEPGEMM, f'{HOPPER} | f16', f'{FMA} | sum + bias | f32', f'{FMA} | alpha*sum + beta*c | f32', 'no plan',
             'sm_100/tcgen05.mma.m128n8k32.mxf8f6f4.f32.e4m3.e4m3.ue8m0 | a*(b*sum) | f32']
    good = [np.ones(shape, 'f2') for shape in ((8, 32), (32, 8), (8, 8))]
    calls = [lambda p, a, b, d, **more: mm.witnesses(a, b, d, p, **more), lambda p, a, b, d, **more: mm.check(p, a, b, d, **more),
             lambda p, a, b, d, **more: mm.trace(p, a, b, d, **more), lambda p, a, b, d, **more: mm.error(p, a, b, **more),
             lambda p, a, b, d, **more: mm.plan_of(a, b, d, rows='x86/vfmadd231ss', **more), lambda p, a, b, d, **more:
             mm.assert_same_bits(a, d, plan=p, operands={'a': a, 'b': b, **more}), lambda p, a, b, d, **more:
             mm.write_log(tmp_path / 'log', {'x': {'a': a, 'b': b, 'd': d, 'plan': p, **more}})]
    returned = 0
    for _ in range(1000):
        a, b, d = (good[i] if rng.random() < 0.7 else anything(rng, 8) for i in range(3))
        more = {name: anything(rng, 8) for name in ('c', 'bias', 'alpha', 'beta', 'scale_a', 'scale_b', 'block_scale_a',
                                                    'block_scale_b', 'at', 'count', 'seed', 'formats') if rng.random() < 0.06}
        try:
            calls[rng.integers(len(calls))](plans[rng.integers(len(plans))], a, b, d, **more)
            returned += 1
        except (TypeError, ValueError, AssertionError):
            pass
    assert 20 < returned < 500


def test_parts_of_large_results():
    plan, other = (mm.Plan(f'{HOPPER} | every {n}: add | f32') for n in (128, 64))
    a, b = normal((1100, 256), 1, 'f2'), normal((256, 600), 2, 'f2')
    right, left = plan(a, b), other(a, b)

    def said(d, **options):
        with pytest.raises(AssertionError) as raised:
            mm.check(options.pop('plan', plan), a, b, d, **options)
        return str(raised.value).splitlines()
    split = said(np.concatenate([right[:700], left[700:]]))
    assert split[1:4] == ['plans of the result, in 512 x 512 of its elements, each in some rows and columns:', str(plan), str(other)]
    cross = right.copy()
    cross[0], cross[:, 0] = right[0] + 1, right[:, 0] + 1
    assert 'the plan is the nearest' in said(cross)[1] and 'differ' in said(cross)[1]
    one = right.copy()
    one[900, 300] += 1
    assert said(one)[1].endswith('; the plan is the nearest, 1 of 262144 differ')
    assert said(one, at=[(900, 300)])[1].endswith('; the plan is the nearest, 1 of 262144 differ')
    assert said(-right)[1].endswith('none gives any element') or 'nearest' in said(-right)[1]


def test_the_plan_is_nearer_than_all_that_are_tried():
    a, b, plan = normal((40, 512), 1, 'f2'), normal((512, 40), 2, 'f2'), mm.Plan(f'{HOPPER} | every 40: add | f32')
    d = plan(a, b)
    d[0, 0] = 7
    with pytest.raises(AssertionError, match='the plan is the nearest, 1 of 1600 differ'):
        mm.check(plan, a, b, d, at=[(0, 0)])
    a[:20] = np.nan
    d = words(plan(a, b)).copy()
    d[:20] ^= 1 << 31
    with pytest.raises(AssertionError, match='only the bits of NaNs differ'):
        mm.check(plan, a, b, d)
    d[39, 0] += 1
    with pytest.raises(AssertionError, match='1 of 1600 elements differ(?s:.*)the plan is the nearest, 1 of 1600 differ'):
        mm.check(plan, a, b, d, any_nan=True)


def normal(shape, seed, dtype='f4'):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize('x, y, text', [
    ('cut 8 | f32', 'f32', 'the sum of all k is'),
    ('strided 4 of 1: tree held bf16 | f32', 'strided 4 of 1: pairs | f32', 'the sum of all k is'),
    ('every 16: add | tail 16 | f32', 'every 16: add | tail 16 unfused | f32', 'the sum of all k is'),
    ('every 16: add | alpha*sum | f32', 'every 16: add | f32', 'all sums are equal'),
    ('every 16: add | f32', 'every 32: add | f32', 'k = 0-15 is a range of the plan, k = 0-31 of the result'),
    ('f32', 'every 32: add | f32', 'the result has one more stage, every 32: add'),
    ('every 32: add | f32', 'f32', 'the plan has one more stage, every 32: add'),
    ('every 32: add | every 64: add | f32', 'every 32: add | f32', 'the plan has one more stage, every 64: add'),
    ('every 32: add | f32', 'cut 32 | every 32: add | f32', 'k = 32-62 is a range of the plan only'),
    ('every 16: add as bf16 | f32', 'every 16: add | f32', 'k = 0-15 is 0x'),
    ('every 16: add held bf16 | f32', 'every 16: add | f32', 'k = 0-15 joins to'),
])
def test_where_sums_part(x, y, text):
    from mmadiff.differences import parting
    a, b = normal((1, 63), 1), normal((63, 1), 2)
    one, other = (mm.trace(f'{FMA} | {plan}', a, b, (0, 0), **({'alpha': 3} if 'alpha' in plan else {})) for plan in (x, y))
    assert parting(one, other).startswith(text)
    assert words(one.sum) == words(mm.Plan(f"{FMA} | {x.replace('alpha*sum | ', '')}")(a, b))[0, 0]


def test_traces_of_trees_and_of_integers():
    a, b = normal((1, 63), 1), normal((63, 1), 2)
    tree = mm.trace(f'{FMA} | strided 4 of 1: tree held bf16 | f32', a, b, (0, 0))
    assert [one.joined for one in tree.ranges] == [None] * 4 and 'joined' not in str(tree)
    assert tree._repr_html_()
    row = mm.Row('sm_80/mma.m8n8k16.s32.s8.s8.s32')
    x, y = np.full((1, 192), 3, 'i1'), np.full((192, 1), -5, 'i1')
    of_integers = mm.trace(f'{row} | every 64: add | s32', x, y, (0, 0))
    assert [int(one.joined) for one in of_integers.ranges] == [-960, -1920, -2880] and of_integers.sum == -2880


@pytest.mark.parametrize('plan, factors, other', [
    ('every 16: add | alpha*sum | f32', {'alpha': 1}, 'alpha*sum | f32'),
    ('every 16: add | sum + beta*c | f32', {'beta': 1}, 'from c | f32'),
    ('every 16: add | sum + beta*c | f32', {'beta': 0}, 'f32'),
    ('from c | f32', {}, 'sum + beta*c | f32'),
    ('every 16: add | alpha*sum + beta*c | f32', {'alpha': 1, 'beta': 1}, 'every 32: add | alpha*sum + beta*c | f32'),
])
def test_usual_factors(plan, factors, other):
    a, b, c = normal((8, 64), 1), normal((64, 8), 2), normal((8, 8), 3)
    plan, other = (mm.Plan(f"{FMA}{'' if text.startswith('from') else ' |'} {text}") for text in (plan, other))
    def read(one):
        given = {'alpha': 1, 'beta': 1, **factors, 'c': c}
        return {name: x for name, x in given.items() if one.reads(name)}
    with pytest.raises(AssertionError) as raised:
        mm.check(plan, a, b, other(a, b, **read(other)), **read(plan))
    assert 'plans of the result: x86' in str(raised.value) and len(str(raised.value).splitlines()) >= 3, raised.value


def test_f16_sums_and_wrong_references():
    row = 'sm_80/mma.m16n8k16.f16.f16.f16.f16'
    a, b, c = normal((16, 64), 1, 'f2'), normal((64, 16), 2, 'f2'), normal((16, 16), 3, 'f2')
    plan = mm.Plan(f'{row} from c | f16')
    d = plan(a, b, c)
    assert plan in mm.plan_of(a, b, d, c=c, rows=row, formats={'sum': 'f16'}).plans
    with pytest.raises(AssertionError, match='want is not the plan\'s, which gives 0x'):
        mm.assert_same_bits(d, np.zeros_like(d), plan=plan, operands={'a': a, 'b': b, 'c': c})
    for wrong in ((a, b, c), {'a': a}):
        with pytest.raises(TypeError, match='with all that the plan reads'):
            mm.assert_same_bits(d, np.zeros_like(d), plan=plan, operands=wrong)
    # What differs is said in any case.
    for wrong, text in (({'a': a, 'b': b, 'zz': 1}, 'no operand zz'), ({'a': a, 'b': b}, 'the plan reads c')):
        with pytest.raises(AssertionError, match=f'of 256 elements differ(?s:.*)plans of the result: .*{text}'):
            mm.assert_same_bits(d, np.zeros_like(d), plan=plan, operands=wrong)
    for got in (d[None], d.ravel(), d.view('u2')[:8].astype('f4')):
        with pytest.raises(AssertionError, match='elements differ'):
            mm.assert_same_bits(got, got + 1, plan=plan, operands={'a': a, 'b': b, 'c': c})


def test_places():
    a, b, plan = np.ones((8, 32), 'f2'), np.ones((32, 8), 'f2'), mm.Plan(f'{HOPPER} | f32')
    d = plan(a, b)
    assert mm.check(plan, a, b, d, at=[(0, 0)] * 5) == 1 and mm.check(plan, a, b, d, at=np.argwhere(d == 32)) == 64
    for at, error in ((np.nonzero(d), TypeError), ((3, 4), TypeError), ([(1.0, 2)], TypeError), ([(True, False)], TypeError),
                      ([(0, 0, 0)], TypeError), ([(1 << 70, 0)], ValueError), ([(-1, 0)], ValueError), ('00', TypeError)):
        with pytest.raises(error):
            mm.check(plan, a, b, d, at=at)
    with pytest.raises(ValueError, match='D has no elements'):
        mm.check(plan, a[:0], b, d[:0])


def test_witnesses_see_the_bits_of_nans():
    a, b, plan = np.full((40, 32), np.nan, 'f2'), np.ones((32, 40), 'f2'), mm.Plan(f'{HOPPER} | f32')
    d = words(plan(a, b)).copy()
    d[5, 7] ^= 1
    assert list(mm.witnesses(a, b, d, plan, count=10)[0]) == [5, 7]
    assert list(mm.witnesses(a, b, d, plan, count=10, any_nan=True)[0]) != [5, 7]
    with pytest.raises(AssertionError, match='only the bits of NaNs differ'):
        mm.check(plan, a, b, d)


def test_a_split_result_names_its_regions():
    a, b = normal((48, 512), 1, 'f2'), normal((512, 40), 2, 'f2')
    one, other = (mm.Plan(f'{HOPPER} | every {n}: add | f32') for n in (128, 64))
    d = one(a, b)
    d[:, 32:] = other(a, b)[:, 32:]
    with pytest.raises(AssertionError) as raised:
        mm.check(one, a, b, d)
    assert f'columns 32-39: {other}' in str(raised.value)
    with pytest.raises(AssertionError, match='k = 0-63 is a range of the plan, k = 0-127 of the result'):
        mm.check(other, a, b, d, at=np.argwhere(np.ones((48, 32))))


def test_witnesses_find_what_a_sample_hides():
    a, b, scales = scaled(256, 256, 512)
    d = TRITON(a, b, **scales)
    differ = words(d) != words(DEEPGEMM(a, b, **scales))
    assert 0 < differ.sum() < 20
    at = mm.witnesses(a, b, None, DEEPGEMM, count=300, **scales)
    assert at.shape == (300, 2) and len({tuple(one) for one in at}) == 300 and differ[at[:, 0], at[:, 1]].any()
    with pytest.raises(AssertionError, match=r'of 300 elements differ'):
        mm.check(DEEPGEMM, a, b, d, at=at, **scales)
    # Those where D differs come first.
    first = mm.witnesses(a, b, d, DEEPGEMM, count=300, **scales)[:differ.sum()]
    assert differ[first[:, 0], first[:, 1]].all()
    assert mm.witnesses(a, b, d, TRITON, count=10**6, **scales).shape == (256 * 256, 2)
    again = mm.witnesses(a, b, None, DEEPGEMM, count=300, threads=2, **scales)
    assert np.array_equal(at, again) and not np.array_equal(at, mm.witnesses(a, b, None, DEEPGEMM, count=300, seed=2, **scales))


@pytest.mark.parametrize('call, error, text', [
    (lambda a, b, d, p: mm.trace(p, a, b, (4, 0)), ValueError, 'no element [4, 0]'),
    (lambda a, b, d, p: mm.trace(p, a, b, (0, -1)), ValueError, 'no element [0, -1]'),
    (lambda a, b, d, p: mm.trace(p, a, b, 3), TypeError, ''),
    (lambda a, b, d, p: mm.trace(p, a, b, (1.0, 2)), TypeError, 'elements of D'),
    (lambda a, b, d, p: mm.trace(p, np.stack([a, a]), b, (0, 0)), ValueError, 'leading dimensions (2,)'),
    (lambda a, b, d, p: mm.trace(p, a, b, (0, 0), scale_a=1), TypeError, 'does not read scale_a'),
    (lambda a, b, d, p: mm.trace(p, a, b, (0, 0), scales=1), TypeError, 'no operand scales'),
    (lambda a, b, d, p: mm.check(p, a, b, d, at=[]), ValueError, 'no elements'),
    (lambda a, b, d, p: mm.check(p, a, b, d, at=[(9, 0)]), ValueError, 'no element [9, 0]'),
    (lambda a, b, d, p: mm.check(p, a, b, d.T[:, :2]), ValueError, 'd has the shape'),
    (lambda a, b, d, p: mm.check(p, a, b, d.astype('f8')), TypeError, 'float64'),
    (lambda a, b, d, p: mm.check(p, a, b), TypeError, ''),
    (lambda a, b, d, p: mm.witnesses(a, b, d, p, count=-1), (ValueError, TypeError), ''),
    (lambda a, b, d, p: mm.witnesses(a, b, d[:2], p), ValueError, 'd has the shape'),
    (lambda a, b, d, p: mm.plan_of(a, b, d, scale_a=1), ValueError, 'scales of A and of B'),
    (lambda a, b, d, p: mm.plan_of(a, b, d, beta=2), TypeError, 'beta needs c'),
    (lambda a, b, d, p: mm.plan_of(a, b, d, bias=np.zeros(3, 'f4')), ValueError, '4 columns'),
    (lambda a, b, d, p: mm.plan_of(a, b, d, c=np.zeros((4, 3), 'f4')), ValueError, '(..., 4, 4)'),
    (lambda a, b, d, p: mm.plan_of(a, b, d, c=np.zeros((4, 4), 'f8')), TypeError, 'float64'),
    (lambda a, b, d, p: mm.plan_of(a, b, d, block_scale_a=np.zeros((4, 1), 'u1')), TypeError, 'raw words'),
])
def test_wrong_calls_say_why(call, error, text):
    a, b, plan = np.ones((4, 32), 'f2'), np.ones((32, 4), 'f2'), mm.Plan(f'{HOPPER} | f32')
    with pytest.raises(error) as raised:
        call(a, b, plan(a, b), plan)
    assert text in str(raised.value)
