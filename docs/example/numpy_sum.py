"""NumPy as a device for `exec:`: d = c + sum(a * b) in float32, one dot product a line, in hexadecimal."""
import sys

import numpy as np

for line in sys.stdin:
    words = np.array([int(word, 16) for word in line.split()], np.uint32).view(np.float32)
    k = len(words) // 2
    result = words[-1] + np.sum(words[:k] * words[k:-1])
    print(f'{result.view(np.uint32):08x}', flush=True)
