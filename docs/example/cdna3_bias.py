# %% [markdown]
# # The bias of CDNA3
#
# An MI300X (CDNA3, gfx942) adds eight products, then adds their sum to the accumulator. This second sum keeps 31
# fraction bits and is rounded *down*, toward minus infinity, before it is rounded to f32. NVIDIA's GPUs cut toward
# zero: their errors change sign with the result, those of CDNA3 do not. (`mm.Row(name).evidence` has the sources: the
# model of CDNA3 is *published*, that of Hopper *measured*.)

# %%
import pathlib
import sys

import mmadiff as mm
import numpy as np

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None  # no figure

PLANS = {
    'CDNA3': mm.Plan('gfx942/v_mfma_f32_16x16x16_f16 | f32'),
    'Hopper': mm.Plan('sm_90/wgmma.m64n8k16.f32.f16.f16 | f32'),
    'f32 FMA': mm.Plan('sm_90/fma.rn.f32 | f32'),
}

# %% [markdown]
# Each sum begins with one large product, 4096 or -4096, and adds 65,535 small ones, as a gradient that is accumulated
# over many tokens.

# %%
K = 65536
random = np.random.default_rng(1)
a, b = (random.standard_normal(shape) / 16 for shape in ((48, K), (K, 48)))
a[:, 0], b[0] = 64, np.tile([64, -64], 24)
a, b = a.astype(np.float16), b.astype(np.float16)

exactly = mm.exact(a, b)
errors, uneven = {}, {}
for name, plan in PLANS.items():
    d = plan(a, b)
    errors[name] = mm.error(d, a, b, exactly=exactly)
    uneven[name] = np.mean(plan(-a, b) != -d)
    print(f'{name:8} rms error {errors[name].rms:.1e}   bias {errors[name].bias:+.1e}   '
          f'(-A) B is not -(A B) in {uneven[name]:.0%} of the elements')

# %% [markdown]
# CDNA3 has the smallest errors of the three, but most of them are negative: the red line is their mean. A bias grows
# with k, the errors of unbiased rounding only with the square root of k. Hopper's errors are all toward zero: positive
# for negative sums, negative for positive ones.

# %%
if plt:
    plt.rcParams.update({'svg.fonttype': 'none', 'svg.hashsalt': 'mmadiff', 'font.size': 9})
    figure, axes = plt.subplots(1, 3, figsize=(9, 2.8), layout='constrained', sharey=True)
    for one, (name, error) in zip(axes, errors.items()):
        counts, edges = np.histogram(error.errors / error.rms, 41, (-3, 3))
        one.stairs(counts, edges, fill=True, alpha=0.6)
        one.axvline(0, color='black', linewidth=0.8)
        one.axvline(error.bias / error.rms, color='tab:red')
        one.set_title(f'{name}: rms {error.rms:.1e}, bias {error.bias:+.1e}')
        one.set_xlabel('error / rms error')
    axes[0].set_ylabel('elements')
    here = globals().get('__file__')  # absent in a notebook
    folder = pathlib.Path(sys.argv[1]) if here and sys.argv[1:] else pathlib.Path(here or '.').parent
    figure.savefig(folder / 'cdna3_bias.svg', metadata={'Date': None, 'Creator': None})
