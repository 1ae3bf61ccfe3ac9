# %% [markdown]
# # V100 and A100: why do they differ?
#
# The same f16 product on two GPUs. Here plans take the place of the GPUs: replace `d` by your own results.

# %%
import pathlib
import sys

import mmadiff as mm
import numpy as np

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None  # no figure

V100, A100 = 'sm_70/mma.m8n8k4.f32.f16.f16.f32', 'sm_80/mma.m16n8k16.f32.f16.f16.f32'
random = np.random.default_rng(1)
a, b = random.standard_normal((64, 1024)).astype(np.float16), random.standard_normal((1024, 64)).astype(np.float16)
d = {'V100': mm.Plan(f'{V100} | f32')(a, b), 'A100': mm.Plan(f'{A100} | f32')(a, b)}
print(f"{np.mean(d['V100'] != d['A100']):.0%} of the elements differ")

# %% [markdown]
# Which plan gives the results of each?

# %%
found = {name: mm.plan_of(a, b, d[name], rows=f'{V100} {A100}') for name in d}
for name in found:
    print(name, found[name])

# %% [markdown]
# The smallest product that distinguishes them:

# %%
race = mm.race(found['V100'].plan, found['A100'].plan)
print(race)

# %% [markdown]
# Why? `explain` takes the A100's result as the answer of a device, and searches changes of the V100's model that
# reproduce it.

# %%
print(mm.explain(V100, race.a, race.b, 0.0, race.of_y))

# %% [markdown]
# The A100 keeps one more bit. Are its products more accurate? Errors are in units of the root mean square of the exact
# sums; the loss is the mean error toward zero.

# %%
KS = [64, 256, 1024, 4096, 16384]
rms, loss = ({name: [] for name in found} for _ in range(2))
for k in KS:
    a, b = random.standard_normal((64, k)).astype(np.float16), random.standard_normal((k, 64)).astype(np.float16)
    exactly = mm.exact(a, b)
    for name in found:
        error = mm.error(found[name].plan, a, b, exactly=exactly)
        rms[name].append(error.rms)
        loss[name].append(error.toward_zero)
for name in rms:
    print(f'{name} rms error', *(f'  k = {k}: {x:.1e}' for k, x in zip(KS, rms[name])))
for name in loss:
    print(f'{name} loss     ', *(f'  k = {k}: {x:.0e}' for k, x in zip(KS, loss[name])))

# %% [markdown]
# No: for long sums its error is larger, and grows with k, not with its square root. The V100 cuts each product to the
# 23 bits of the accumulator, up or down as the product's sign says; their sum rarely needs rounding. The A100 cuts
# products to 24 bits, and must cut the sum to 23: always toward zero.

# %%
if plt:
    plt.rcParams.update({'svg.fonttype': 'none', 'svg.hashsalt': 'mmadiff', 'font.size': 9})
    figure, axes = plt.subplots(figsize=(5, 3), layout='constrained')
    for name in rms:
        line, = axes.loglog(KS, rms[name], marker='o', label=f'{name}, rms error')
        axes.loglog(KS, np.abs(loss[name]), linestyle='dotted', color=line.get_color(), label=f'{name}, loss toward zero')
    axes.set_xticks(KS, KS)
    axes.minorticks_off()
    axes.set_xlabel('k')
    axes.set_ylabel('error / rms of the exact sums')
    axes.grid(alpha=0.3)
    axes.legend()
    here = globals().get('__file__')  # absent in a notebook
    folder = pathlib.Path(sys.argv[1]) if here and sys.argv[1:] else pathlib.Path(here or '.').parent
    figure.savefig(folder / 'v100_a100.svg', metadata={'Date': None, 'Creator': None})
