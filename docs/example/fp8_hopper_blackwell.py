# %% [markdown]
# # FP8 on Hopper and on Blackwell
#
# Hopper's FP8 `wgmma` keeps 13 fraction bits of each sum. Kernels therefore move sums into f32 registers ("promotion")
# after every 32, 64 or 128 products, or not at all ("fast accumulation"). Blackwell's `tcgen05` keeps 25.
#
# This script computes products by five plans and compares them with exact sums.

# %%
import pathlib
import sys

import mmadiff as mm
import numpy as np

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None  # no figure

HOPPER, BLACKWELL = 'sm_90/wgmma.m64n8k32.f32.e4m3.e4m3', 'sm_100/tcgen05.mma.m64n8k32.f32.e4m3.e4m3'
PLANS = {
    'Hopper, never': f'{HOPPER} | f32',
    'Hopper, every 128': f'{HOPPER} | every 128: add | f32',
    'Hopper, every 64': f'{HOPPER} | every 64: add | f32',
    'Hopper, every 32': f'{HOPPER} | every 32: add | f32',
    'Blackwell': f'{BLACKWELL} | f32',
}
KS = [256, 512, 1024, 2048, 4096, 8192, 16384]

# %% [markdown]
# Errors are in units of the root mean square of the exact sums. Operands of both signs give small sums, whose errors
# have both signs too. Operands without a sign, such as attention weights, give growing sums. Every addition cuts such a
# sum toward zero, so all errors have the same sign: a bias.

# %%
def operands(k, positive):
    random = np.random.default_rng(k)
    a, b = random.standard_normal((32, k)), random.standard_normal((k, 32))
    if positive:
        a, b = np.abs(a), np.abs(b)
    return mm.convert(a, 'e4m3'), mm.convert(b, 'e4m3')


def errors(k, positive):
    a, b = operands(k, positive)
    exactly = mm.exact(a, b, formats={'a': 'e4m3', 'b': 'e4m3'})
    return {name: mm.error(plan, a, b, exactly=exactly) for name, plan in PLANS.items()}


rms = {k: errors(k, positive=False) for k in KS}
bias = {k: errors(k, positive=True) for k in KS}

print('root mean square error, operands of both signs')
for name in PLANS:
    print(f'{name:18}', *(f'  k = {k}: {rms[k][name].rms:.1e}' for k in KS[::3]))
print('bias, positive operands')
for name in PLANS:
    print(f'{name:18}', *(f'  k = {k}: {bias[k][name].bias:.1e}' for k in KS[::3]))

# %%
if plt:
    plt.rcParams.update({'svg.fonttype': 'none', 'svg.hashsalt': 'mmadiff', 'font.size': 9})
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout='constrained')
    for name in PLANS:
        axes[0].loglog(KS, [rms[k][name].rms or np.nan for k in KS], marker='o', label=name)
        axes[1].loglog(KS, [-bias[k][name].bias for k in KS], marker='o')
    axes[0].set_title('operands of both signs: root mean square error')
    axes[1].set_title('positive operands: loss (bias toward zero)')
    for one in axes:
        one.set_xlabel('k')
        one.set_xticks(KS, KS, minor=False)
        one.minorticks_off()
        one.grid(alpha=0.3)
    axes[0].set_ylabel('error / rms of the exact sums')
    figure.legend(loc='outside lower center', ncols=5, title='promotion to f32')
    here = globals().get('__file__')  # absent in a notebook
    folder = pathlib.Path(sys.argv[1]) if here and sys.argv[1:] else pathlib.Path(here or '.').parent
    figure.savefig(folder / 'fp8_hopper_blackwell.svg', metadata={'Date': None, 'Creator': None})
