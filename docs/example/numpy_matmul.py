"""NumPy's `a @ b` as a device for `plan`: f32 or f64 matrices in, their product out; docs/matmul.md has the protocol."""
import sys

import numpy as np

while line := sys.stdin.buffer.readline():
    m, n, k, *formats = line.decode().split()
    m, n, k, dtype = int(m), int(n), int(k), {"f32,f32,f32": "<f4", "f64,f64,f64": "<f8"}[",".join(formats)]
    a, b = (np.frombuffer(sys.stdin.buffer.read(r * c * int(dtype[2])), dtype).reshape(r, c) for r, c in ((m, k), (k, n)))
    sys.stdout.buffer.write((a @ b).tobytes())
    sys.stdout.buffer.flush()
