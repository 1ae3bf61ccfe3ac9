#!/usr/bin/env python3
"""Compares conversions with the Python package ml_dtypes, bit for bit.

Its conversions round to nearest even and do not saturate, except to formats without infinity and
NaN. Operands are all f16 or bf16 words, or f32 words of every exponent with fractions at and around
halves. NaN operands are left out: ml_dtypes keeps their sign and chooses its own payload.

Exit codes: 0 equal, 1 differences, 4 ml_dtypes or NumPy is not installed.
"""

import argparse
import subprocess
import sys

try:
    import ml_dtypes
    import numpy as np
except (ImportError, OSError, RuntimeError) as error:
    print(f'ml_dtypes_compare: needs the Python packages ml_dtypes and numpy: {error}',
          file=sys.stderr)
    sys.exit(4)

FLOATS = {'f32': np.float32, 'f16': np.float16}
for ours, theirs in {'bf16': 'bfloat16', 'e4m3': 'float8_e4m3fn', 'e5m2': 'float8_e5m2',
                     'e4m3fnuz': 'float8_e4m3fnuz', 'e5m2fnuz': 'float8_e5m2fnuz',
                     'e3m2': 'float6_e3m2fn', 'e2m3': 'float6_e2m3fn', 'e2m1': 'float4_e2m1fn',
                     'ue8m0': 'float8_e8m0fnu'}.items():
    if hasattr(ml_dtypes, theirs):  # old versions lack the newest
        FLOATS[ours] = getattr(ml_dtypes, theirs)

# Rows and the formats of their operand and result.
ROWS = [('sm_90/cvt.rn.f16.f32', 'f32', 'f16'), ('sm_90/cvt.rn.bf16.f32', 'f32', 'bf16'),
        ('sm_90/cvt.rn.bf16.f16', 'f16', 'bf16'), ('sm_90/cvt.rn.f16.bf16', 'bf16', 'f16'),
        ('sm_90/cvt.f32.f16', 'f16', 'f32'), ('sm_90/cvt.f32.bf16', 'bf16', 'f32'),
        ('sm_90/cvt.rn.f16x2.e4m3x2', 'e4m3', 'f16'), ('sm_90/cvt.rn.f16x2.e5m2x2', 'e5m2', 'f16'),
        ('sm_100/cvt.rn.bf16x2.ue8m0x2', 'ue8m0', 'bf16'),
        ('gfx942/v_cvt_pk_fp8_f32', 'f32', 'e4m3fnuz'),
        ('gfx942/v_cvt_pk_bf8_f32', 'f32', 'e5m2fnuz'),
        ('gfx942/v_cvt_f32_fp8', 'e4m3fnuz', 'f32'), ('gfx942/v_cvt_f32_bf8', 'e5m2fnuz', 'f32'),
        ('gfx950/v_cvt_pk_fp8_f32', 'f32', 'e4m3'), ('gfx950/v_cvt_pk_bf8_f32', 'f32', 'e5m2'),
        ('x86/vcvtps2ph.rn', 'f32', 'f16'), ('x86/vcvtph2ps', 'f16', 'f32'),
        ('ocp/cvt.rn.e4m3.f32', 'f32', 'e4m3'), ('ocp/cvt.rn.e5m2.f32', 'f32', 'e5m2'),
        ('ocp/cvt.rn.satfinite.e3m2.f32', 'f32', 'e3m2'),
        ('ocp/cvt.rn.satfinite.e2m3.f32', 'f32', 'e2m3'),
        ('ocp/cvt.rn.satfinite.e2m1.f32', 'f32', 'e2m1')]
ROWS += [(f'ocp/cvt.f32.{f}', f, 'f32') for f in ('e4m3', 'e5m2', 'e3m2', 'e2m3', 'e2m1', 'ue8m0')]
BITS = {'f32': 32, 'f16': 16, 'bf16': 16, 'e3m2': 6, 'e2m3': 6, 'e2m1': 4}


def bits(f):
    return BITS.get(f, 8)


def container(f):
    return {32: np.uint32, 16: np.uint16}.get(bits(f), np.uint8)


def operands(f):
    """Words of the format that are no NaNs."""
    if bits(f) < 32:
        words = np.arange(1 << bits(f), dtype=np.uint32)
    else:
        high = np.arange(1 << 12, dtype=np.uint32) << 20  # sign, exponent, three fraction bits
        low = np.array([0, 1] + [x for b in range(1, 20) for x in
                                 ((1 << b) - 1, 1 << b, (1 << b) + 1, 3 << (b - 1))]
                       + [(1 << 20) - 1], dtype=np.uint32)
        words = np.unique((high[:, None] | low[None, :]).ravel())
    words = words.astype(container(f))
    with np.errstate(all='ignore'):
        values = words.view(FLOATS[f]).astype(np.float64)
    return words[~np.isnan(values)]


def theirs(words, a, d):
    with np.errstate(all='ignore'):
        return words.view(FLOATS[a]).astype(FLOATS[d]).view(container(d))


def ours(program, row, words, a, d):
    width = (bits(a) + 7) // 8 * 2
    text = ''.join(f'{w:0{width}x}\n' for w in words.tolist())
    out = subprocess.run([program, 'eval', row], input=text, capture_output=True, text=True,
                         check=True).stdout
    lines = [line for line in out.splitlines() if not line.startswith('#')]
    return np.array([int(line.split()[1], 16) for line in lines], dtype=container(d))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--mmadiff', required=True)
    program = parser.parse_args().mmadiff
    failed = False
    for row, a, d in ROWS:
        if a not in FLOATS or d not in FLOATS:
            print(f'{row}: this ml_dtypes lacks {a if a not in FLOATS else d}')
            continue
        words = operands(a)
        x, y = ours(program, row, words, a, d), theirs(words, a, d)
        with np.errstate(all='ignore'):
            nan = np.isnan(x.view(FLOATS[d]).astype(np.float64))
            nan &= np.isnan(y.view(FLOATS[d]).astype(np.float64))  # of an overflow
        differing = np.flatnonzero((x != y) & ~nan)
        print(f'{row}: {len(words) - len(differing)} of {len(words)} equal')
        for i in differing[:5]:
            print(f'  {words[i]:x}: {x[i]:x}, ml_dtypes {y[i]:x}')
        failed |= len(differing) > 0
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
