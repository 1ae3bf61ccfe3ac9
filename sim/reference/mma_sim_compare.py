#!/usr/bin/env python3
"""Compares the simulator with MMA-Sim 2.1.1, bit for bit, on every row that both have.

MMA-Sim is the PyPI package `mmasim` (needs torch). The inputs are made here, with NumPy and none of
this project's code; the comparison is that of `mmadiff check`, so a NaN payload counts where the
row promises it. Agreement is agreement of two models, not of hardware.

Exit codes: 0 equal but for known differences, 1 other differences, 3 a row was not compared, 4 no
MMA-Sim 2.1.1 here.
"""

import argparse
import fnmatch
import importlib.metadata
import json
import os
import pathlib
import re
import subprocess
import sys
import zlib

os.environ.setdefault('OMP_NUM_THREADS', '1')  # MMA-Sim's fma
try:
    import numpy as np
    import torch
    from mmasim import amd, nv_ptx
    from mmasim.amd import isa_mfma
    from mmasim.nv_ptx import isa_mma, isa_tcgen05mma, isa_wgmma
    if importlib.metadata.version('mmasim') != '2.1.1':
        raise ImportError('mmasim is ' + importlib.metadata.version('mmasim') + ', not 2.1.1')
except ImportError as error:
    print(f'mma_sim_compare: {error}: pip install mmasim==2.1.1', file=sys.stderr)
    sys.exit(4)

ARCHITECTURES = {
    'Volta': 'sm_70', 'Turing': 'sm_75', 'Ampere': 'sm_80', 'Ada Lovelace': 'sm_89',
    'Hopper': 'sm_90', 'Blackwell': 'sm_100', 'RTX Blackwell': 'sm_120', 'CDNA1': 'gfx908',
    'CDNA2': 'gfx90a', 'CDNA3': 'gfx942'}
OPERATIONS = [  # prefix of our names, MMA-Sim's names by architecture, constructor
    ('mma.', isa_mma.mma_shape_and_type, nv_ptx.MMA),
    ('mma.', isa_mma.mma_block_scale_shape_and_type, nv_ptx.MMABlockScale),
    ('wgmma.', isa_wgmma.wgmma_shape_and_type, nv_ptx.WGMMA),
    ('tcgen05.mma.', isa_tcgen05mma.tcgen05mma_shape_and_type, nv_ptx.TCGen05MMA),
    ('tcgen05.mma.', isa_tcgen05mma.tcgen05mma_block_scale_shape_and_type,
     nv_ptx.TCGen05MMABlockScale),
    ('v_mfma_', isa_mfma.arch_mfma_suffix, amd.MFMA)]
BATCH = 1 << 16  # dot products a call
ZERO = -10**6  # the exponent of a zero


def our_name(prefix, name):
    block = re.search(r'nvf4\.block(\d+)', name)
    name = re.sub(r'block\d+\.', '', name).replace('kind::', '')
    if prefix == 'tcgen05.mma.':  # there the kind of unscaled types follows from the types
        name = re.sub(r'^(m\d+n\d+k\d+)\.(?:tf32|f16|f8f6f4)\.', r'\1.', name)
    return prefix + name + ({'32': '.2x', '16': '.4x'}[block[1]] if block else '')


def operations():
    """Every instruction of MMA-Sim: our row name -> how to make it."""
    return {f'{ARCHITECTURES[arch]}/{our_name(prefix, name)}': (make, arch, name)
            for prefix, table, make in OPERATIONS for arch, names in table.items()
            for name in names}


class Format:
    """Words of a floating-point format, made from sign, exponent and fraction."""

    def __init__(self, name, bits, exponent_bits, fraction_bits, min_exponent, ignored_bits):
        self.name, self.bits, self.ignored, self.m = name, bits, ignored_bits, fraction_bits
        self.digits, self.fnuz = (bits + 7) // 8 * 2, name.endswith('fnuz')
        ieee = name in ('f64', 'f32', 'tf32', 'f16', 'bf16', 'e5m2', 'ue8m0')
        self.min = min_exponent
        self.max = min_exponent + (1 << exponent_bits) - (3 if ieee else 2)
        self.least = min_exponent - max(fraction_bits, 1 if name == 'ue8m0' else 0)
        sign, top = 1 << exponent_bits + fraction_bits, (1 << exponent_bits) - 1 << fraction_bits
        self.sign = sign if bits > exponent_bits + fraction_bits + ignored_bits else 0
        self.last = sign - 1  # NaN in e4m3; the magnitude's bits
        if ieee and fraction_bits:
            payloads = [0, 1, 1 << fraction_bits - 1, (1 << fraction_bits) - 1]  # 0: infinity
            special = [s | top | p for s in (0, sign) for p in payloads]
            self.specials = [s << ignored_bits for s in special]
            if ignored_bits:  # NaNs in the low bits alone
                self.specials += [0x7f800001, 0xff801fff]
        else:
            self.specials = {'e4m3': [0x7f, 0xff], 'ue8m0': [0xff], 'ue4m3': [0x7f, 0xff]}.get(
                name, [0x80] if self.fnuz else [])

    def encode(self, rng, negative, exponent, fraction):
        """Exponents above the range become the largest, those below it subnormal or zero."""
        e = np.minimum(exponent, self.max)
        shift = np.clip(self.min - e, 0, self.m + 1)
        significand = ((1 << self.m) | fraction) >> shift & (1 << self.m) - 1
        field = np.where(shift > 0, 0, e - self.min + 1)
        word = field << self.m | significand
        if self.name in ('e4m3', 'ue4m3'):
            word = np.minimum(word, self.last - 1)
        sign = np.where(negative & ((word > 0) | (not self.fnuz)), self.sign, 0)
        low = rng.integers(0, 1 << self.ignored, word.shape) * rng.integers(0, 2, word.shape)
        return ((word | sign).astype(np.uint64) << np.uint64(self.ignored)) | low.astype(np.uint64)

    def uniform(self, rng, shape):
        return rng.integers(0, 1 << self.bits, shape, dtype=np.uint64, endpoint=False) \
            if self.bits < 64 else rng.integers(0, 2**64 - 1, shape, np.uint64, endpoint=True)


class Generator:
    """Dot products that reach the corners of fused sums; one method for each class of inputs.

    A method returns exponents of products and addend; `assemble` makes words of them.
    """

    def __init__(self, rng, row, formats):
        self.rng, self.k, self.scales = rng, row['k'], row['scales']
        self.a, self.b, self.c, self.d = (formats[row[x]] for x in 'abcd')
        self.scale = formats.get(row['scale'])
        self.low, self.high = self.a.least + self.b.least, self.a.max + self.b.max
        self.lowest, self.highest = self.low, self.high
        if self.scale:
            self.lowest, self.highest = (self.low + 2 * self.scale.least,
                                         self.high + 2 * self.scale.max)

    def integers(self, low, high, shape):
        """Uniform from low to high, both included; arrays may be bounds."""
        return self.rng.integers(low, np.maximum(low, high), shape, endpoint=True)

    def chance(self, p, *shape):
        return self.rng.random(shape) < p

    def base(self, n):
        """An exponent for each dot product, three in four times within the output's range."""
        low = max(self.lowest, self.d.least - 4)
        inside = self.integers(low, max(low, min(self.highest, self.d.max)), (n, 1))
        anywhere = self.integers(self.lowest, self.highest, (n, 1))
        return np.where(self.chance(.75, n, 1), inside, anywhere)

    # The classes: (exponents of products, exponent of the addend, share of powers of two).
    def band(self, n):
        base, width = self.base(n), self.integers(0, 72, (n, 1))
        c = base + self.integers(-width - 2, 3, (n, 1))
        c = np.where(self.chance(.2, n, 1), ZERO, c)
        return base - self.integers(0, width, (n, self.k)), c, .3

    def ties(self, n):
        """A leading term, terms about the output's last bit, terms about the alignment's."""
        offset = np.where(self.chance(.6, n, self.k + 1),
                          self.d.m + self.integers(-1, 3, (n, self.k + 1)),
                          self.integers(1, max(40, 2 * self.d.m + 4), (n, self.k + 1)))
        offset[:, :1] *= self.chance(.3, n, 1)
        base = self.base(n)
        e = np.where(self.chance(.7, n, 1) & self.chance(.8, n, self.k + 1), ZERO, base - offset)
        leader = self.integers(0, self.k, (n, 1))
        np.put_along_axis(e, leader, base, 1)
        return e[:, 1:], e[:, :1], .8

    def zeros(self, n):
        t, c, share = self.band(n)
        return np.where(self.chance(.7, n, self.k), ZERO, t), c, share

    def all_zero(self, n):
        c = np.where(self.chance(.5, n, 1), self.d.least + self.integers(0, 3, (n, 1)),
                     self.base(n))
        return np.full((n, self.k), ZERO), np.where(self.chance(.5, n, 1), ZERO, c), .5

    def single(self, n):
        t = np.full((n, self.k), ZERO)
        base = self.base(n)
        np.put_along_axis(t, self.integers(0, self.k - 1, (n, 1)), base, 1)
        c = base + self.integers(-60, 30, (n, 1))
        return t, np.where(self.chance(.4, n, 1), ZERO, c), .3

    def tiny(self, n):
        base = self.integers(self.d.least - 8, self.d.min + 2, (n, 1))
        t = base - self.integers(0, self.integers(0, 30, (n, 1)), (n, self.k))
        c = np.where(self.chance(.5, n, 1), ZERO, base + self.integers(-3, 3, (n, 1)))
        return np.where(self.chance(.5, n, 1) & self.chance(.8, n, self.k), ZERO, t), c, .5

    def overflow(self, n):
        t = self.d.max - self.integers(-2, self.integers(0, 30, (n, 1)), (n, self.k))
        c = np.where(self.chance(.3, n, 1), ZERO, self.d.max - self.integers(0, 3, (n, 1)))
        return np.where(self.chance(.5, n, 1) & self.chance(.8, n, self.k), ZERO, t), c, .1

    def edge(self, n):
        """One product and an addend at the smallest normal number."""
        t, base = np.full((n, self.k), ZERO), self.d.min + self.integers(-1, 2, (n, 1))
        np.put_along_axis(t, self.integers(0, self.k - 1, (n, 1)), base, 1)
        return t, base + self.integers(0, 1, (n, 1)), .3

    # What changes the words of a class afterwards.
    def opposite(self, case):
        """Non-zero products get the sign that the addend has not, zeros often the addend's."""
        zero, minus = {}, {}
        for x, f in (('a', self.a), ('b', self.b), ('c', self.c)):
            zero[x] = case[x] & np.uint64(f.last << f.ignored) == 0
            case[x][...] = np.where(zero[x], np.uint64(0), case[x])
            minus[x] = case[x] & np.uint64(f.sign << f.ignored) > 0
        unlike = minus['a'] ^ minus['b'] != minus['c']
        flip = np.where(zero['a'] | zero['b'], unlike & self.chance(.7, *minus['c'].shape), ~unlike)
        for x, f, here in (('a', self.a, ~zero['a']), ('b', self.b, zero['a'] & ~zero['b'])):
            case[x] ^= np.where(flip & here, np.uint64(f.sign << f.ignored), np.uint64(0))

    def cancel(self, case):
        """The odd product of a pair becomes the even one's negative, but for a few pairs."""
        n, pairs = case['c'].shape[0], self.k // 2
        chosen = self.chance(.9, n, pairs)
        for x, f, flip in (('a', self.a, 0), ('b', self.b, self.b.sign << self.b.ignored)):
            even, odd = case[x][:, 0:2 * pairs:2], case[x][:, 1:2 * pairs:2]
            negated = even ^ np.uint64(flip)
            if f.fnuz and flip:
                negated = np.where(even == 0, even, negated)
            odd[...] = np.where(chosen, negated, odd)

    def subnormals(self, case):
        for x, f, p in (('a', self.a, .6), ('b', self.b, .1), ('c', self.c, .5)):
            words = f.encode(self.rng, self.chance(.5, *case[x].shape),
                             self.integers(f.least, f.min - 1, case[x].shape),
                             self.fractions(f, case[x].shape, .3))
            case[x][...] = np.where(self.chance(p, *case[x].shape), words, case[x])

    def special(self, case):
        for x, f, p in (('a', self.a, .8 / self.k), ('b', self.b, .8 / self.k), ('c', self.c, .4)):
            if f.specials:
                words = self.rng.choice(np.array(f.specials, np.uint64), case[x].shape)
                case[x][...] = np.where(self.chance(p, *case[x].shape), words, case[x])

    def addend(self, case):
        case['c'][...] = self.c.uniform(self.rng, case['c'].shape)

    def bits(self, case):
        for x, f in (('a', self.a), ('b', self.b), ('c', self.c)):
            case[x][...] = f.uniform(self.rng, case[x].shape)

    CLASSES = [(band, None), (band, cancel), (ties, None), (ties, cancel), (zeros, None),
               (all_zero, None), (single, None), (band, subnormals), (tiny, None),
               (tiny, cancel), (overflow, None), (overflow, cancel), (band, special),
               (zeros, special), (edge, opposite), (band, addend), (band, bits)]

    def fractions(self, f, shape, share):
        """Zero with the given probability, else all ones, the last bit alone, or anything."""
        kind, top = self.rng.random(shape), (1 << f.m) - 1
        other = np.where(kind > .85, top, np.where(kind > .75, min(1, top),
                                                   self.integers(0, top, shape)))
        return np.where(self.chance(share, *shape), 0, other)

    def split(self, total, x, y, shape):
        low = np.clip(total - y.max, x.least, x.max)
        ex = self.integers(low, np.clip(total - y.least, low, x.max), shape)
        return ex, total - ex

    def assemble(self, t, c, share):
        n, shape = len(c), t.shape
        case = {}
        if self.scale:
            length = self.k // self.scales
            top = t.reshape(n, self.scales, length).max(2)
            middle = np.where(top > ZERO, top, 0) - self.integers(self.low, self.high, (n, 1))
            ea, eb = self.split(np.clip(middle, 2 * self.scale.least, 2 * self.scale.max),
                                self.scale, self.scale, middle.shape)
            for x, e in (('sa', ea), ('sb', eb)):
                case[x] = self.scale.encode(self.rng, self.chance(.2, *e.shape), e,
                                            self.fractions(self.scale, e.shape, .5))
                special = np.array([0, 1, 0x7e, 0x7f, 0x80, 0x81, 0xfe, 0xff], np.uint64)
                some = self.chance(.25, n, 1) & self.chance(.4, *e.shape)
                case[x] = np.where(some, self.rng.choice(special, e.shape), case[x])
                case[x] = np.where(self.chance(.06, n, 1), self.scale.uniform(self.rng, e.shape),
                                   case[x])
            t = np.where(t == ZERO, t, t - np.repeat(ea + eb, length, 1))
        ea, eb = self.split(np.clip(t, self.low, self.high), self.a, self.b, shape)
        alike, negative = self.chance(.3, n, 1), self.chance(.5, n, 1)
        signs = {'a': np.where(alike, negative, self.chance(.5, *shape)),
                 'b': ~alike & self.chance(.5, *shape),
                 'c': np.where(alike & self.chance(.8, n, 1), negative, self.chance(.5, n, 1))}
        side = self.integers(0, 8, shape)  # of a zero product: 0 to 3: a is zero, 4 to 7: b, 8: both
        partner = np.where(self.chance(.5, *shape), 10**4, self.integers(-20, 20, shape))
        for x, f, e, zero in (('a', self.a, ea, side % 8 < 4), ('b', self.b, eb, side > 3)):
            e = np.where(t == ZERO, np.where(zero, ZERO, partner), e)
            case[x] = f.encode(self.rng, signs[x], e, np.where(
                e == 10**4, (1 << f.m) - 1, self.fractions(f, shape, share)))
        case['c'] = self.c.encode(self.rng, signs['c'], c,
                                  self.fractions(self.c, c.shape, share))
        return case

    def shuffle(self, case):
        """Permutes k within a scale block, alike in a and b."""
        n, block = len(case['c']), self.k // max(self.scales, 1)
        order = np.argsort(self.rng.random((n, self.k // block, block)), 2)
        order = (order + block * np.arange(self.k // block)[:, None]).reshape(n, self.k)
        still = self.chance(.3, n, 1)
        for x in 'ab':
            case[x] = np.where(still, case[x], np.take_along_axis(case[x], order, 1))

    def cases(self, n):
        parts, share = [], -(-n // len(self.CLASSES))
        for exponents, change in self.CLASSES:
            case = self.assemble(*exponents(self, share))
            if change:
                change(self, case)
            self.shuffle(case)
            parts.append(case)
        return {x: np.concatenate([p[x] for p in parts])[:n] for x in parts[0]}


def lines(case, row, formats, d=None):
    """The line protocol: a.. b.. c [sa.. sb..] [d]."""
    columns = [(case[x], formats[row[x]]) for x in 'abc']
    columns += [(case[x], formats[row['scale']]) for x in ('sa', 'sb') if x in case]
    columns += [] if d is None else [(d[:, None], formats[row['d']])]
    text = []
    for words, f in columns:
        shifts = np.arange(4 * f.digits - 4, -1, -4, dtype=np.uint64)
        nibbles = (words[..., None] >> shifts & np.uint64(15)).astype(np.uint8)
        ascii_ = np.frombuffer(b'0123456789abcdef ', np.uint8)[np.pad(
            nibbles, ((0, 0), (0, 0), (0, 1)), constant_values=16)]
        text.append(ascii_.reshape(len(words), -1))
    text = np.concatenate(text, 1)
    text[:, -1] = ord('\n')
    return text.tobytes()


def tensor(words, f, dtype, packing):
    if f.name == 'e2m1':  # two a byte, or one in bits 5 to 2
        words = (words << np.uint64(2) if packing == 1
                 else words[:, ::2] << np.uint64(4) | words[:, 1::2])
    unsigned = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[dtype.itemsize]
    return torch.from_numpy(np.ascontiguousarray(words.astype(unsigned))).view(dtype)


def mma_sim(operation, case, row, formats):
    """MMA-Sim's results as words."""
    types = {'a': operation.a_type, 'b': operation.b_type, 'c': operation.c_type}
    packing = getattr(operation, 'packing', 1)
    inputs = [tensor(case[x], formats[row[x]], types[x], packing) for x in 'abc']
    inputs[2] = inputs[2][:, 0]
    inputs += [tensor(case[x], formats[row['scale']], operation.s_type, 1)
               for x in ('sa', 'sb') if x in case]
    d = operation.dpa(*inputs).contiguous()
    return d.view(torch.uint8).numpy().view(f'u{d.dtype.itemsize}').astype(np.uint64)


class Simulator:
    """The program under test, by its line protocol."""

    def __init__(self, path):
        self.path = path

    def run(self, *arguments, stdin=b''):
        done = subprocess.run([self.path, *arguments], input=stdin, stdout=subprocess.PIPE)
        if done.returncode > 1:
            raise RuntimeError(f'{self.path} {" ".join(arguments)}: exit code {done.returncode}')
        return done.stdout.decode()

    def list(self, what):
        return json.loads(self.run('list', what, '--json'))

    def eval(self, row, case, formats):
        out = self.run('eval', row['name'], stdin=lines(case, row, formats))
        return np.array([int(line.split()[-1], 16) for line in out.splitlines()], np.uint64)

    def check(self, row, case, d, formats):
        """How many were compared, and the indices of those that differ."""
        out = self.run('check', row['name'], '--errors=1e12', stdin=lines(case, row, formats, d))
        compared = re.search(r': \d+ of (\d+) equal$', out.rstrip())
        return (int(compared[1]) if compared else 0,
                [int(n) - 1 for n in re.findall(r'^line (\d+):', out, re.MULTILINE)])


def expand(pattern):
    """Every choice of one alternative from each pair of braces (sim/pattern.h)."""
    braces = re.search(r'{([^{}]*)}', pattern)
    return [pattern] if not braces else [
        name for choice in braces[1].split(',')
        for name in expand(pattern[:braces.start()] + choice + pattern[braces.end():])]


def contested(path):
    """Row patterns of the answers that the table of known differences ascribes to MMA-Sim."""
    text = path.read_text() if path.exists() else ''
    found = re.findall(r'^contested:\s+\S+\s+(.*?)\s+:\s.*MMA-Sim 2\.1\.1', text, re.MULTILINE)
    return {name for rows in found for pattern in rows.split() for name in expand(pattern)}


def keep(case, first, end):
    """The products outside first..end-1 become zero."""
    outside = np.ones(case['a'].shape[1], bool)
    outside[first:end] = False
    return {**case, **{x: np.where(outside, np.uint64(0), case[x]) for x in 'ab'}}


def drops_addend(simulator, row, case, d, formats):
    """Where MMA-Sim's answer is ours with a zero instead of an infinite or NaN addend of a step.

    CDNA3's FP8 steps have 16 products; MMA-Sim 2.1.1 (fdpa.py, line 410) gives an infinity or a NaN
    the exponent -1 and drops the addend for it beside a product whose exponents add up to 25 or more.
    """
    addend, dropped, known = case['c'][:, 0], case, np.zeros(len(d), bool)
    for first in range(0, row['k'], 16):
        dropped = {**keep(dropped, first, row['k']), 'c': np.zeros_like(case['c'])}
        infinite_or_nan = addend & np.uint64(0x7f800000) == 0x7f800000
        known |= infinite_or_nan & (simulator.eval(row, dropped, formats) == d)
        addend = simulator.eval(row, keep(case, 0, first + 16), formats)
    return known


def batches(cases):
    return [min(BATCH, cases - first) for first in range(0, cases, BATCH)]


def compare(simulator, row, operation, formats, options, known_rows, out):
    """Counts of dot products: compared, differing, of these known."""
    counts = np.zeros(3, int)
    for i, n in enumerate(batches(options.cases)):
        rng = np.random.default_rng([options.seed, zlib.crc32(row['name'].encode()), i])
        case = Generator(rng, row, formats).cases(n)
        d = mma_sim(operation, case, row, formats)
        compared, indices = simulator.check(row, case, d, formats)
        counts += compared, len(indices), 0
        if not indices:
            continue
        part, d = {x: words[indices] for x, words in case.items()}, d[indices]
        known = np.zeros(len(d), bool)
        if any(fnmatch.fnmatchcase(row['name'], name) for name in known_rows):
            known = drops_addend(simulator, row, part, d, formats)
        counts[2] += known.sum()
        ours = simulator.eval(row, part, formats)
        for line, word, same in zip(lines(part, row, formats, d).decode().splitlines(), ours, known):
            print(f'# {row["name"]}: {"known" if same else "differs"}, ours {word:x}, '
                  f'MMA-Sim\'s last\n{line}', file=out)
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--mmadiff', required=True, help='the program')
    parser.add_argument('--cases', type=lambda text: int(float(text)), default=10000,
                        help='dot products a row [10000]')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--rows', default='*', help='glob of rows')
    parser.add_argument('--out', default=os.devnull, help='file for the lines that differ')
    parser.add_argument('--differences', type=pathlib.Path, default=pathlib.Path(
        __file__).parents[2] / 'corpus/vectors/differences.txt', help='known differences')
    options = parser.parse_args()
    torch.set_num_threads(1)
    simulator = Simulator(options.mmadiff)
    formats = {f['name']: Format(**f) for f in simulator.list('formats')}
    known_rows = contested(options.differences)
    makers = operations()
    rows = [row for row in simulator.list('instructions')
            if row['name'] in makers and fnmatch.fnmatchcase(row['name'], options.rows)]
    total, uncompared = np.zeros(3, int), not rows
    print(f'{"row":60} compared    equal differing known')
    with open(options.out, 'w') as out:
        for row in rows:
            make, *name = makers[row['name']]
            counts = compare(simulator, row, make(*name), formats, options, known_rows, out)
            uncompared |= counts[0] < max(options.cases, 1)
            total += counts
            print(f'{row["name"]:60} {counts[0]:8} {counts[0] - counts[1]:8} '
                  f'{counts[1] - counts[2]:9} {counts[2]:5}', flush=True)
    print(f'{len(rows)} rows, {total[0]} dot products, {total[0] - total[1]} equal, '
          f'{total[1] - total[2]} differing, {total[2]} known differences')
    return 3 if uncompared else 1 if total[1] > total[2] else 0


if __name__ == '__main__':
    sys.exit(main())
