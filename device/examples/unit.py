#!/usr/bin/env python3
"""A matrix unit for exec: in Python: d = c + the sum of K products of f16, all aligned to the largest
exponent, truncated after 25 fraction bits, added exactly, and truncated to f32. One dot product per line:
  ./mmadiff run --device='exec:python3 device/examples/unit.py,restart=never' --instr='sm_90/mma.m16n8k16.f32.f16.f16.f32'
"""
import sys

FRACTION = 25


def decode(word, exponent_bits, bits):
    """The value is significand * 2**exponent; None: infinity or NaN."""
    top = (1 << exponent_bits) - 1
    field, fraction = word >> bits & top, word & (1 << bits) - 1
    sign = -1 if word >> bits + exponent_bits else 1
    if field == top:
        return sign, None if fraction else 'inf', 0
    return sign, fraction | (field > 0) << bits, max(field, 1) - top // 2 - bits


def product(x, y):
    sign = x[0] * y[0]
    if x[1] is None or y[1] is None or 'inf' in (x[1], y[1]) and 0 in (x[1], y[1]):
        return sign, None, 0
    if 'inf' in (x[1], y[1]):
        return sign, 'inf', 0
    return sign, x[1] * y[1], x[2] + y[2]


def unit(a, b, c):
    terms = [product(decode(x, 5, 10), decode(y, 5, 10)) + (20,) for x, y in zip(a, b)]
    terms.append(decode(c, 8, 23) + (23,))
    infinite = {sign for sign, value, _, _ in terms if value == 'inf'}
    if len(infinite) == 2 or any(value is None for _, value, _, _ in terms):
        return 0x7fffffff
    if infinite:
        return 0x7f800000 if infinite == {1} else 0xff800000
    # The exponent of a term is that of its bit `point`, even if the bit is 0.
    top = max((exponent + point for _, value, exponent, point in terms if value), default=0)
    last = top - FRACTION  # the exponent of the last bit that is kept
    total = 0
    for sign, value, exponent, _ in terms:
        shift = exponent - last
        total += sign * (value << shift if shift >= 0 else value >> -shift)
    magnitude, exponent = abs(total), last
    shift = max(magnitude.bit_length() - 24, -149 - exponent)
    magnitude = magnitude >> shift if shift >= 0 else magnitude << -shift
    exponent += shift + 23
    if total == 0:
        return 0
    sign = 0x80000000 if total < 0 else 0
    if exponent > 127:
        return sign | 0x7f800000
    return sign | ((exponent + 127 << 23) + (magnitude & 0x7fffff) if magnitude >> 23 else magnitude)


for line in sys.stdin:
    words = [int(word, 16) for word in line.split()]
    k = len(words) // 2
    print(line.rstrip(), f'{unit(words[:k], words[k:2 * k], words[2 * k]):08x}', flush=True)
