#!/usr/bin/env python3
"""`gemm` on files with every operand: its results are NumPy's, which are exact for these small integers; what the plan
does not read, or does not fit, is refused. `plan` finds the plan of a result from all of its operands. Usage: gemm_test.py
MMADIFF"""
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ModuleNotFoundError:
    print('skipped: no NumPy')
    sys.exit(77)

PROGRAM = sys.argv[1]
WGMMA = 'sm_90/wgmma.m64n8k16.f32.f16.f16'
M, N, K = 40, 24, 320
random = np.random.default_rng(1)
A, B = (random.integers(-3, 4, shape) for shape in ((M, K), (K, N)))
C, BIAS = random.integers(-99, 99, (M, N)), random.integers(-99, 99, (1, N))
# Scales of blocks of 8 rows and 64 k, and of 64 k and 4 columns: powers of two.
SCALE_A, SCALE_B = 2.0 ** random.integers(-2, 3, (M // 8, K // 64)), 2.0 ** random.integers(-2, 3, (K // 64, N // 4))

# Of whole rows and columns.
ROWS_A, ROWS_B = 2.0 ** random.integers(-2, 3, (M, 1)), 2.0 ** random.integers(-2, 3, (1, N))
X, Y = random.standard_normal((M, K)), random.standard_normal((K, N))  # for plans


def scaled():
    """The sum over blocks of 64 k, each times its scales."""
    total = 0
    for i in range(K // 64):
        part = A[:, 64 * i:64 * i + 64] @ B[64 * i:64 * i + 64]
        total += part * np.repeat(SCALE_A[:, i:i + 1], 8, 0) * np.repeat(SCALE_B[i:i + 1], 4, 1)
    return total


GOOD = [
    ('f32', 'a b', A @ B),
    ('f32', 'fortran b', A @ B),
    ('f32', 'big b', A @ B),
    ('f32', 'a bt --transpose_b', A @ B),
    ('f32', 'at b --transpose_a', A @ B),
    ('sum + beta*c | f32', 'a b c --beta=0.5', A @ B + C / 2),
    ('alpha*sum + beta*c | f32', 'a b c --alpha=2 --beta=-1', 2 * (A @ B) - C),
    ('every 64: fma alpha from beta*c | f32', 'a b c --alpha=0.5 --beta=2', (A @ B) / 2 + 2 * C),
    ('alpha*sum | f32', 'a b --alpha=0.3', np.float32(0.3) * (A @ B).astype('f4')),
    ('sum + bias | f32', 'a b --bias=bias', A @ B + BIAS),
    ('every 64: fma (a*b) | f32', 'a b --scale_a=sa --scale_b=sb', scaled()),
    ('every 32: fma a*b | f32', 'a b --scale_a=sa --scale_b=sb', scaled()),
    ('every 32: fma a*b | f32', 'a bt --transpose_b --scale_a=sa --scale_b=sbt', scaled()),
    ('b*(a*sum) + bias | f32', 'a b --scale_a=ra --scale_b=rb --bias=bias', (A @ B) * ROWS_A * ROWS_B + BIAS),
    ('fma(a, b*sum, bias) | f32', 'a b --scale_a=ra --scale_b=rb --bias=bias', (A @ B) * ROWS_A * ROWS_B + BIAS),
]
BAD = [  # a part of the message
    ('every 128: fma (a*b) | f32', 'a b --scale_a=sa --scale_b=sb', 'a scale for each 64 k'),
    ('every 64: fma (a*b) | f32', 'a b --scale_a=sa', 'scale_b'),
    ('f32', 'a b --scale_a=sa', 'does not read --scale_a'),
    ('f32', 'a b --alpha=2', 'does not read --alpha'),
    ('f32', 'a b --bias=bias', 'does not read --bias'),
    ('f32', 'a b c', 'does not read C'),
    ('sum + beta*c | f32', 'a b --beta=1', 'reads C'),
    ('f32', 'a bt', 'B must have 320 rows'),
    ('f32', 'a b --random=4x4x4', 'not both'),
    ('f32', 'integers b', 'convert it first'),
    ('a*(b*sum) | f32', 'a b --scale_a=sa --scale_b=sb', 'A has a scale for each 64 k, but the plan scales whole sums'),
]
FOUND = [  # from these operands
    ('every 64: fma a*b | f32', '--scale_a=sx --scale_b=sy'),
    ('every 64: add | b*(a*sum) + bias | f32', '--scale_a=rx --scale_b=ry --bias=z'),
    ('every 64: add | fma(beta, c, alpha*sum) | f32', '--c=w --alpha=0.3 --beta=0.7'),
    ('every 128: add | sum + beta*c | f32', '--c=w --beta=1'),
    ('every 128: add | sum + beta*c | f32', '--c=w'),
]
NOT_FOUND = [  # a part of the message
    ('a b d --scale_a=sa', 'give scales of A and of B'),
    ('a b d --beta=2', 'beta needs C'),
    ('a b d --bias=c', 'the bias must have'),
    ('a b d --block_scale_a=a --block_scale_b=b', 'with scales in f16'),
    ('--device=blas:openblas --alpha=2', 'are for files'),
    ('--device=exec:true --formats=f16,f16,f32,ue8m0', 'a device has no block scales'),
]
FILES = {
    'a': A.astype('f2'), 'b': B.astype('f2'), 'at': A.T.astype('f2', order='C'), 'bt': B.T.astype('f2', order='C'),
    'fortran': np.asfortranarray(A.astype('f2')), 'big': A.astype('>f2'), 'c': C.astype('f4'), 'bias': BIAS.astype('f4'),
    'sa': SCALE_A.astype('f4'), 'sb': SCALE_B.astype('f4'), 'integers': A.astype('i1'), 'sbt': SCALE_B.T.astype('f4', order='C'), 'ra': ROWS_A.astype('f4'), 'rb': ROWS_B.astype('f4'),
    'x': X.astype('f2'), 'y': Y.astype('f2'), 'sx': X[:M // 8, :K // 64].astype('f4'), 'sy': Y[:K // 64, :N // 4].astype('f4'),
    'rx': X[:, :1].astype('f4'), 'ry': Y[:1].astype('f4'), 'z': Y[1:2].astype('f4'), 'w': X[:, :N].astype('f4'), 'd': C.astype('f4'),
}


def run_verb(verb, *arguments):
    words = [word + '.npy' if word.split('=')[-1] in FILES else word for word in arguments[-1].split()]
    return subprocess.run([PROGRAM, verb, *arguments[:-1], *words], capture_output=True, text=True)


def gemm(plan, arguments):
    return run_verb('gemm', f'{WGMMA} | {plan}', '--out=d.npy', arguments)


PROGRAM, failures = os.path.abspath(PROGRAM), 0
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for name, array in FILES.items():
        np.save(name + '.npy', array)
    for plan, arguments, want in GOOD:
        run = gemm(plan, arguments)
        if run.returncode or not np.array_equal(np.load('d.npy'), want.astype('f4')):
            failures += 1
            print(f'FAILED: {plan}: {arguments}: {run.returncode} {run.stderr}')
    for plan, arguments, message in BAD:
        run = gemm(plan, arguments)
        if run.returncode != 2 or message not in run.stderr:
            failures += 1
            print(f'FAILED: {plan}: {arguments}: {run.returncode} {run.stderr}, not: {message}')
    for plan, operands in FOUND:
        made = gemm(plan, 'x y ' + operands.replace('--c=', '') + ('' if 'beta=' in operands or 'c=' not in operands else ' --beta=1'))
        run = run_verb('plan', f'--instr={WGMMA}', 'x y d ' + operands)
        if made.returncode or run.returncode or f'plan      {WGMMA} | {plan}\n' not in run.stdout:
            failures += 1
            print(f'FAILED: {plan}: {operands}: {made.stderr} {run.returncode} {run.stdout} {run.stderr}')
    for arguments, message in NOT_FOUND:
        run = run_verb('plan', f'--instr={WGMMA}', arguments)
        if run.returncode != 2 or message not in run.stderr:
            failures += 1
            print(f'FAILED: plan {arguments}: {run.returncode} {run.stdout} {run.stderr}, not: {message}')
    os.chdir('/')
print(f'{len(GOOD) + len(BAD) + len(FOUND) + len(NOT_FOUND)} products, {failures} failures')
sys.exit(failures > 0)
