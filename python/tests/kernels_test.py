"""Plans of kernels by size."""
import numpy as np
import pytest

import mmadiff as mm

HOPPER = 'sm_90/wgmma.m64n8k16.f32.f16.f16'


def test_a_kernel_that_is_not_batch_invariant():
    small, large = mm.Plan(f'{HOPPER} | every 64: add | f32'), mm.Plan(f'{HOPPER} | every 128: add | f32')
    found = mm.plans_of(lambda a, b: (small if len(a) < 17 else large)(a, b), 'f16,f16,f32', m=(1, 16, 17, 40), n=40,
                        k=256, rows=HOPPER)
    assert found.changes_at == {(40, 256): [17]} and found.is_batch_invariant is False
    assert [found[m].plan for m in (1, 16, 17, 40)] == [small, small, large, large]
    assert found[17, 40, 256] is found[17] and len(found) == 4 and list(found)[0] == (1, 40, 256)
    assert 'the first row changes at m = 17' in str(found) and '<table>' in found._repr_html_()
    assert mm.race(found[1].plan, found[17].plan).k > 64


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
    assert len(found) == 2 and found.is_batch_invariant in (True, False)
