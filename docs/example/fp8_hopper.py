"""What FP8 products lose on Hopper: errors of whole matrix products against exact ones, by plan."""
import os
import subprocess

import numpy as np

WORDS = np.arange(256)  # e4m3: sign, 4 exponent bits, 3 fraction bits
FIELD, FRACTION = WORDS >> 3 & 15, WORDS & 7
VALUES = np.where(FIELD == 0, FRACTION / 8 * 2.0**-6, (1 + FRACTION / 8) * 2.0 ** (FIELD - 7.0))
VALUES[WORDS >= 128] *= -1

PLANS = {
    "fast accumulation": "sm_90/wgmma.m64n8k32.f32.e4m3.e4m3 | f32",
    "added every 128 (cuBLASLt)": "sm_90/wgmma.m64n8k32.f32.e4m3.e4m3 | every 128: add | f32",
    "added every 32": "sm_90/wgmma.m64n8k32.f32.e4m3.e4m3 | every 32: add | f32",
    "Blackwell (sm_100)": "sm_100/tcgen05.mma.m64n8k32.f32.e4m3.e4m3 | f32",
}

random = np.random.default_rng(1)
a = random.integers(0x18, 0x44, (64, 4096)) | random.integers(0, 2, (64, 4096)) << 7
b = random.integers(0x18, 0x44, (4096, 64)) | random.integers(0, 2, (4096, 64)) << 7
np.save("a.npy", a.astype(np.uint8))
np.save("b.npy", b.astype(np.uint8))
exact = VALUES[a] @ VALUES[b]  # in f64
size = np.sqrt((exact**2).mean())
for name, plan in PLANS.items():
    mmadiff = os.environ.get("MMADIFF", "./mmadiff")
    subprocess.run([mmadiff, "--quiet", "gemm", plan, "a.npy", "b.npy", "--out=d.npy"], check=True,
                   stdout=subprocess.DEVNULL)
    error = np.abs(np.load("d.npy") - exact)
    print(f"{name:28s} mean error {error.mean() / size:.1e}, largest {error.max() / size:.1e}")
