"""f16 products added to an f32 number; each sum is rounded stochastically. The question seeds the random numbers."""
import math
import random
import struct
import sys
from fractions import Fraction


def rounded(x):
    last = Fraction(2) ** max(math.frexp(float(x))[1] - 24, -149)
    low = x / last // 1
    return (low + (random.random() < x / last - low)) * last


for line in sys.stdin:
    random.seed(line)
    words = line.split()
    k = len(words) // 2
    a, b = ([struct.unpack('>e', bytes.fromhex(word))[0] for word in row] for row in (words[:k], words[k:2 * k]))
    c = struct.unpack('>f', bytes.fromhex(words[-1]))[0]
    d = c + sum(x * y for x, y in zip(a, b))  # if there is an infinity or a NaN
    if math.isfinite(d):
        d = Fraction(c)
        for x, y in zip(a, b):
            d = rounded(d + Fraction(x) * Fraction(y))
        d = float(d) if abs(d) < 2**128 else math.copysign(math.inf, d)
    print(struct.pack('>f', d).hex(), flush=True)
