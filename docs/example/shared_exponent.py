"""f16 products added in f32; eight consecutive elements of a share an exponent, 7 bits and a sign each."""
import math
import struct
import sys


def shared(group):
    largest = max((abs(x) for x in group if math.isfinite(x)), default=0)
    if not largest:
        return group
    last = math.frexp(largest)[1] - 7
    return [math.ldexp(math.trunc(math.ldexp(x, -last)), last) if math.isfinite(x) else x for x in group]


for line in sys.stdin:
    words = line.split()
    k = len(words) // 2
    half = lambda word: struct.unpack('>e', bytes.fromhex(word))[0]
    a = [half(w) for w in words[:k]]
    a = [x for i in range(0, k, 8) for x in shared(a[i:i + 8])]
    d = struct.unpack('>f', bytes.fromhex(words[-1]))[0]
    for x, w in zip(a, words[k:]):
        s = d + x * half(w)
        try:
            d = struct.unpack('>f', struct.pack('>f', s))[0]
        except OverflowError:
            d = math.copysign(math.inf, s)
    print(struct.pack('>f', d).hex(), flush=True)
