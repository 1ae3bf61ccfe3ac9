"""A device in twenty lines: f16 products added to an f32 number, rounded to f32 after every product."""
import struct
import sys


def f16(word):
    return struct.unpack('<e', bytes.fromhex(word)[::-1])[0]


def f32(x):
    try:
        return struct.unpack('<f', struct.pack('<f', x))[0]
    except OverflowError:
        return float('inf') if x > 0 else float('-inf')


for line in sys.stdin:
    if not line.startswith('#'):
        words = line.split()
        k = len(words) // 2
        d = struct.unpack('>f', bytes.fromhex(words[2 * k]))[0]
        for a, b in zip(words[:k], words[k:2 * k]):
            d = f32(d + f16(a) * f16(b))
        line = f"{' '.join(words)} {struct.pack('>f', d).hex()}\n"
    print(line, end='', flush=True)
