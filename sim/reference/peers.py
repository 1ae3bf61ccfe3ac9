#!/usr/bin/env python3
"""Compares the speed of the simulator with that of three alternatives, one thread each:

    peers.py BINARY [CPU]     (needs NumPy; MMA-Sim is timed if the Python package mmasim 2.1.1 is installed)

The instruction is sm_90/mma.m16n8k16.f32.f16.f16.f32. Prints the best time of several rounds, in ns per dot product of
16 products, for normally distributed numbers, and the ratio to the simulator's. Before it measures fused_sum() below, it
compares every result with the simulator's, bit for bit; `exact` says whether an alternative gives those bits.
"""
import json
import os
import subprocess
import sys
import time

os.environ.update(OMP_NUM_THREADS='1', OPENBLAS_NUM_THREADS='1', MKL_NUM_THREADS='1')
import numpy as np  # noqa: E402

INSTRUCTION = 'sm_90/mma.m16n8k16.f32.f16.f16.f32'
K, LEAST, FRACTION_BITS = 16, -14, 25  # products; the least exponent of f16; bits below the largest exponent


def exponents(x, least):
    return np.where(x == 0, -1000, np.maximum(np.frexp(x)[1] - 1, least))


def fused_sum(a, b, c):
    """The instruction in ten lines of NumPy, for finite numbers: a and b are [n, 16] f16, c is [n] f32."""
    a, b, c = (x.astype(np.float64) for x in (a, b, c))
    top = np.maximum((exponents(a, LEAST) + exponents(b, LEAST)).max(1), exponents(c, -126))
    unit = np.ldexp(1.0, np.maximum(top, -133) - FRACTION_BITS)
    exact = (np.trunc(a * b / unit[:, None]).sum(1) + np.trunc(c / unit)) * unit
    rounded = exact.astype(np.float32)
    return np.where(np.abs(rounded) > np.abs(exact), np.nextafter(rounded, np.float32(0)), rounded)


def best(function, rounds=7):
    """Seconds of the fastest call."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def check(binary, a, b, c):
    """Ends the program unless fused_sum() gives the simulator's bits."""
    lines = '\n'.join(' '.join([*(f'{word:04x}' for word in (*x, *y)), f'{z:08x}']) for x, y, z in
                      zip(a.view(np.uint16), b.view(np.uint16), c.view(np.uint32)))
    out = subprocess.run([binary, 'eval', INSTRUCTION], input=lines, capture_output=True, text=True, check=True).stdout
    wanted = np.array([int(line.split()[-1], 16) for line in out.splitlines() if line[0] != '#'], np.uint32)
    wrong = np.count_nonzero(fused_sum(a, b, c).view(np.uint32) != wanted)
    if wrong or len(wanted) != len(a):
        sys.exit(f'peers: fused_sum() differs from the simulator in {wrong} of {len(wanted)} results')
    print(f'fused_sum() equals the simulator in all {len(wanted):,} results')


def main():
    binary = sys.argv[1]
    if len(sys.argv) > 2:
        os.sched_setaffinity(0, {int(sys.argv[2])})
    rng = np.random.default_rng(1)

    def operands(n):
        return (rng.standard_normal((n, K)).astype(np.float16), rng.standard_normal((n, K)).astype(np.float16),
                rng.standard_normal(n).astype(np.float32))

    check(binary, *operands(16384))
    bench = subprocess.run([binary, 'bench', '--json', f'--instr={INSTRUCTION}'], capture_output=True, text=True,
                           check=True).stdout
    rows = json.loads(bench)
    ours = (rows['rows'] if isinstance(rows, dict) else rows)[0]['simulator']
    results = [('the simulator', 'yes', ours)]
    size = min(((best(lambda x=operands(n): fused_sum(*x)) / n, n) for n in (256, 1024, 4096, 16384)))
    results.append((f'ten lines of NumPy, batches of {size[1]}', 'finite', size[0] * 1e9))
    try:
        import torch
        from mmasim import nv_ptx
        torch.set_num_threads(1)
        mma = nv_ptx.MMA('Hopper', 'm16n8k16.f32.f16.f16.f32')
        size = min(((best(lambda x=[torch.from_numpy(part) for part in operands(n)]: mma.dpa(*x)) / n, n)
                    for n in (256, 1024, 4096, 16384)))
        results.append((f'MMA-Sim 2.1.1, batches of {size[1]}', 'yes', size[0] * 1e9))
    except ImportError as error:
        print(f'MMA-Sim is not timed: {error}')
    a, b = (rng.standard_normal((1024, 16, K)).astype(np.float32) for _ in range(2))
    b = b[:, :, :8].copy()
    c = rng.standard_normal((1024, 16, 8)).astype(np.float32)
    results.append(('NumPy float32 matmul of 16 x 8 x 16 tiles', 'no', best(lambda: np.matmul(a, b) + c) / c.size * 1e9))
    print(f'{"":45}{"exact":>8}{"ns":>9}{"ratio":>9}')
    for what, exact, ns in results:
        print(f'{what:45}{exact:>8}{ns:9.2f}{ns / ours:9.1f}')


if __name__ == '__main__':
    main()
