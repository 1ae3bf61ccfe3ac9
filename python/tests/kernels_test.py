"""Plans of kernels by size."""
import numpy as np
import pytest

import mmadiff as mm
from mmadiff import kernels

HOPPER = 'sm_90/wgmma.m64n8k16.f32.f16.f16'


def test_a_kernel_that_is_not_batch_invariant():
    small, large = mm.Plan(f'{HOPPER} | every 64: add | f32'), mm.Plan(f'{HOPPER} | every 128: add | f32')
    found = mm.plans_of(lambda a, b: (small if len(a) < 17 else large)(a, b), 'f16,f16,f32', m=(1, 16, 17, 40), n=40,
                        k=256, rows=HOPPER)
    assert found.changes_at == {(40, 256): [17]} and found.is_batch_invariant is False
    assert [found[m].plan for m in (1, 16, 17, 40)] == [small, small, large, large]
    assert found[17, 40, 256] is found[17] and len(found) == 4 and list(found)[0] == (1, 40, 256)
    assert 'rows change at m = 17' in str(found) and '<table>' in found._repr_html_()
    assert mm.race(found[1].plan, found[17].plan).k > 64


@pytest.mark.parametrize('seed', range(4))
def test_narrow_results_hide_no_change(seed):
    row = 'sm_90/wgmma.m64n8k16.f32.bf16.bf16'
    small, large = mm.Plan(f'{row} | into 4 of 64: add | bf16'), mm.Plan(f'{row} | bf16')
    found = mm.plans_of(lambda a, b: (small if len(a) < 8 else large)(a, b), 'bf16,bf16,bf16', m=(1, 8), n=64, k=1024,
                        seed=seed, rows='sm_90/wgmma*')
    assert found.is_batch_invariant is False and found.changes_at == {(64, 1024): [8]}


def test_all_common_rows_are_compared():
    """Only the last of three rows changes."""
    small, large = mm.Plan(f'{HOPPER} | every 64: add | f32'), mm.Plan(f'{HOPPER} | every 128: add | f32')

    def kernel(a, b):
        d = small(a, b)
        if len(a) > 3:
            d[2] = large(a, b)[2]
        return d
    found = mm.plans_of(kernel, 'f16,f16,f32', m=(4, 3), n=8, k=256, rows=HOPPER)
    assert found.changes_at == {(8, 256): [4]} and list(found) == [(3, 8, 256), (4, 8, 256)]
    found = mm.plans_of(small, 'f16,f16,f32', m=(2, 3, 7), n=8, k=256, rows=HOPPER)
    assert found.compared == {(8, 256): 2 * (2 + 3) * 8}  # two products


def test_what_is_not_known():
    """Several plans are left, or none."""
    for kernel, plans in ((mm.Plan('x86/vfmadd231ss unfused | f32'), 3), (lambda a, b: 3 * a[:, :1] * b[:1], 0)):
        found = mm.plans_of(kernel, 'f32,f32,f32', m=(1, 2), n=5, k=64, rows='x86/vfmadd231ss')
        assert found.is_batch_invariant is None and len(found[1].plans) == plans and not found[1].is_settled
        assert f'no change was seen in {20 if plans else 10} elements; plans are not settled: m = 1, 2' in str(found)


def test_kernels_get_copies_and_may_reuse_results():
    plan, other = (mm.Plan(f'{HOPPER} | every {x}: add | f32') for x in (64, 128))
    buffer = np.zeros((4, 40), np.float32)

    def kernel(a, b):
        buffer[:len(a)] = (large if len(a) > 1 else plan)(a, b)
        a[:], b[:] = 1, 2
        return buffer[:len(a)]
    for large in (plan, other):
        found = mm.plans_of(kernel, 'f16,f16,f32', m=(1, 4), n=40, k=256, rows=HOPPER)
        assert found.is_batch_invariant is (large is plan) and (found[1].plan, found[4].plan) == (plan, large)


def test_plans_give_all_products():
    def found(plans, unsettled):
        return mm.FoundPlans({'plans': plans, 'unsettled': unsettled, 'same': [''] * 99, 'regions': [], 'tried': 9, 'nearest': '', 'differing': 0,
                              'first': (0, 0), 'may_be_chance': False, 'deciding': (0, 0)}, (2, 2))
    x, y, z, w = (f'{HOPPER} | every {x}: add | f32' for x in (32, 64, 128, 256))
    both = kernels._both(found([x, y], [z, w]), found([y], [z]))
    assert (both.plans, both.unsettled) == ([mm.Plan(y)], [mm.Plan(z)])
    none = kernels._both(found([x], []), found([y], []))
    assert not none and str(none) == 'none of 9 plans gives every element of several products'


def test_sums_of_every_second_column_cancel():
    for product in range(4):
        a, b = kernels._operands(np.random.default_rng(1), product, 3, 6, 10, ('bf16', 'f16'))
        high, low = mm.exact(a, b, formats='bf16,f16')
        cancels = np.arange(6) % 2 == product % 2
        assert not high[:, cancels].any() and not low.any() and high[:, ~cancels].all()


def test_seeds():
    asked = []

    def kernel(a, b):
        asked.append((a, b))
        return mm.Plan('x86/vfmadd231ss | f32')(a, b)
    for seed in (1, 1, 2):
        mm.plans_of(kernel, 'f32,f32,f32', m=4, n=8, k=64, seed=seed, rows='x86/vfmadd231ss')
    one, same, other = (asked[i * len(asked) // 3] for i in range(3))
    assert all(np.array_equal(x, y) for x, y in zip(one, same)) and not any(np.array_equal(x, y) for x, y in zip(one, other))


def test_a_kernel_that_is():
    found = mm.plans_of(mm.Plan(f'{HOPPER} | f16'), ['f16', 'f16', 'f16'], m=range(1, 4), n=(8, 9), k=160, rows=HOPPER)
    assert found.is_batch_invariant and len(found) == 6 and found.changes_at == {(8, 160): [], (9, 160): []}
    assert mm.plans_of(mm.Plan(f'{HOPPER} | f16'), 'f16,f16,f16', m=3, n=8, k=16, rows=HOPPER).is_batch_invariant is None
    with pytest.raises(KeyError):
        found[1]


@pytest.mark.parametrize('call, error, words', [
    (lambda: mm.plans_of(None, 'f16,f16', m=1, n=1, k=1), ValueError, 'A, B and D'),
    (lambda: mm.plans_of(None, 'f16,f16,f17', m=1, n=1, k=1), ValueError, 'f17'),
    (lambda: mm.plans_of(None, 'f16,f16,f16', m=0, n=1, k=1), ValueError, 'm=0'),
    (lambda: mm.plans_of(None, 'f16,f16,f16', m=1, n=1, k=1), TypeError, 'a function of a and b, not None'),
    (lambda: mm.plans_of(None, 'f16, f16, f16', m=(4.5,), n=1, k=1), TypeError, 'm=\\(4.5,\\): an integer'),
    (lambda: mm.plans_of(None, 'f16,f16,f16', m=None, n=1, k=1), TypeError, 'm=None'),
    (lambda: mm.plans_of(lambda a, b: a, 'f16,f16,f16', m=2, n=3, k=4), ValueError, 'the shape \\(2, 4\\)'),
    (lambda: mm.plans_of(lambda a, b: a @ b, 'f32,f32,f16', m=2, n=3, k=4), TypeError, 'float32, not float16'),
    (lambda: mm.plans_of(lambda a, b: 1 / 0, 'f32,f32,f32', m=2, n=3, k=4), ZeroDivisionError, 'division'),
])
def test_wrong_calls_say_why(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_matmul_of_pytorch():
    torch = pytest.importorskip('torch')
    found = mm.plans_of(torch.matmul, 'f32,f32,f32', m=(1, 2), n=16, k=64, rows='x86/vfmadd*', like=torch.empty(0))
    assert len(found) == 2 and (found.is_batch_invariant is False) == (found.changes_at != {(16, 64): []})


def test_the_report_leaves_nothing_out():
    found = mm.plans_of(mm.Plan(f'{HOPPER} | f16'), 'f16,f16,f16', m=1, n=1, k=256, rows=HOPPER)
    (size, plans), = found.found.items()
    assert plans.may_be_chance and 'by chance' in str(found) and 'by chance' in found._repr_html_()
    for line in plans._report(counts=False):
        assert line in str(found)
    assert 'plans tried' in str(plans) and 'plans tried' not in str(found)


def test_sizes_of_one_plan_stand_together():
    kernel = mm.Plan('x86/vfmadd231ss | every 64: add | f32')
    found = mm.plans_of(kernel, 'f32,f32,f32', m=(1, 2, 4, 7, 8, 9), n=40, k=192, rows=kernel.row)
    assert str(found).splitlines()[:2] == ['1 to 2, 4, 7 to 9 x 40 x 192', f'  {kernel}']
