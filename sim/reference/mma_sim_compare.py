#!/usr/bin/env python3
"""Compares the simulator with MMA-Sim 2.1.1, bit for bit, on every row that both have.

MMA-Sim is the Python package `mmasim`. This script makes the inputs with NumPy, without this
project's code. It compares like `mmadiff check`, so NaN payloads count only where the row promises
them. If the two agree, two models agree; no hardware is involved.

Exit codes: 0 equal except for known differences, 1 other differences, 3 a row was not compared,
4 MMA-Sim 2.1.1 is not installed.
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
except (ImportError, OSError, RuntimeError) as error:  # it compiles its fma when imported
    print(f'mma_sim_compare: needs the Python package mmasim 2.1.1: {error}', file=sys.stderr)
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
        self.name, self.bits, self.m, self.ignored = name, bits, fraction_bits, ignored_bits
        self.digits, self.fnuz = (bits + 7) // 8 * 2, name.endswith('fnuz')
        ieee = name in ('f64', 'f32', 'tf32', 'f16', 'bf16', 'e5m2')
        scale = name == 'ue8m0'
        self.min, self.least = min_exponent, min_exponent - (1 if scale else fraction_bits)
        self.max = min_exponent + (1 << exponent_bits) - (3 if ieee or scale else 2)
        sign, top = 1 << exponent_bits + fraction_bits, (1 << exponent_bits) - 1 << fraction_bits
        self.sign = 0 if scale else sign
        self.magnitude = sign - 1
        # Infinity and NaNs, in some formats the largest numbers; last the NaN of the fnuz formats.
        payloads = 0, 1, 1 << fraction_bits >> 1, (1 << fraction_bits) - 1
        self.specials = np.array([s | top | x for s in (0, self.sign) for x in payloads]
                                 + [self.sign], np.uint64)

    def place(self, rng, word):
        """The word above the bits that the format ignores, which are zero or anything."""
        low = rng.integers(0, 1 << self.ignored, word.shape) * rng.integers(0, 2, word.shape)
        return word.astype(np.uint64) << np.uint64(self.ignored) | low.astype(np.uint64)

    def encode(self, rng, negative, exponent, fraction):
        """Exponents above the range become the largest, those below it subnormal or zero."""
        e = np.minimum(exponent, self.max)
        shift = np.clip(self.min - e, 0, self.m + 1)
        significand = (1 << self.m | fraction) >> shift & (1 << self.m) - 1
        word = np.where(shift > 0, 0, e - self.min + 1) << self.m | significand
        if self.name in ('e4m3', 'ue4m3'):  # all ones is NaN
            word = np.minimum(word, self.magnitude - 1)
        sign = negative & ((word > 0) | (not self.fnuz))
        return self.place(rng, word.astype(np.uint64) | np.where(sign, np.uint64(self.sign), 0))

    def uniform(self, rng, shape):
        return rng.integers(0, (1 << self.bits) - 1, shape, np.uint64, endpoint=True)


ALL = 99
# Exponents: of what they are offsets (any: of an exponent anywhere; else of an end of the output's
# range), from, to | products: width of the band below that (0: offsets that make ties), how many
# are not zero on average, is one at the top? | addend: share of zeros, offsets to the top (None:
# the top is half of its last bit) | share of powers of two | what is done to the words afterwards.
CLASSES = [
    ('any', 0, 0, 72, ALL, False, .2, -40, 3, .3, None),
    ('any', 0, 0, 72, ALL, False, .2, -40, 3, .3, 'cancel'),
    ('any', 0, 0, 72, ALL, False, 0, -40, 3, .3, 'subnormals'),
    ('any', 0, 0, 72, ALL, False, .2, -40, 3, .3, 'special'),
    ('any', 0, 0, 72, 3, True, .2, -40, 3, .3, 'special'),
    ('any', 0, 0, 72, ALL, False, 0, 0, 0, .3, 'addend'),
    ('any', 0, 0, 72, 3, True, .2, -40, 3, .3, None),
    ('any', 0, 0, 1, 0, True, .4, -60, 30, .3, None),
    ('any', 0, 0, 1, 0, False, .4, 0, 0, .5, None),
    ('least', -3, 25, 1, 0, False, .4, 0, 0, .5, 'opposite'),
    ('any', 0, 0, 0, ALL, True, .3, -30, 1, .8, None),
    ('any', 0, 0, 0, 2, True, .3, -30, 1, .8, None),
    ('any', 0, 0, 0, 2, False, 0, 0, 0, .8, None),
    ('any', 0, 0, 0, ALL, False, .3, -30, 1, .8, 'cancel'),
    ('any', 0, 0, 24, 1, True, 0, None, None, .8, None),
    ('any', 0, 0, 12, 1, True, 0, None, None, .8, None),
    ('least', -8, 25, 30, 5, False, .5, -3, 3, .5, None),
    ('least', -8, 25, 30, 5, False, .5, -3, 3, .5, 'cancel'),
    ('least', 0, 1, 28, 1, True, .9, 1, 3, .9, None),
    ('least', -1, -1, 28, 1, True, .9, 1, 3, .9, None),
    ('least', -1, -1, 28, 2, True, .9, 1, 3, .9, None),
    ('min', -1, 2, 1, 0, True, 0, 0, 1, .3, 'opposite'),
    ('max', -20, 2, 30, 5, False, .3, -3, 0, .1, None),
    ('max', -20, 2, 30, 5, False, .3, -3, 0, .1, 'cancel'),
    ('max', -20, 2, 30, 5, False, .3, -3, 0, .1, 'special'),
    ('any', 0, 0, 1, 0, False, 0, 0, 0, 0, 'bits')]


class Generator:
    """Dot products that reach the corners of fused sums."""

    def __init__(self, rng, row, formats):
        self.rng, self.k, self.scales = rng, row['k'], row['scales']
        self.a, self.b, self.c, self.d = (formats[row[x]] for x in 'abcd')
        self.scale = formats.get(row['scale'])
        self.low, self.high = self.a.least + self.b.least, self.a.max + self.b.max

    def integers(self, low, high, shape):
        """Uniform from low to high, both included."""
        return self.rng.integers(low, np.maximum(low, high), shape, endpoint=True)

    def chance(self, p, *shape):
        return self.rng.random(shape) < p

    def base(self, n):
        """An exponent for each dot product, three in four times within the output's range."""
        low, high = ((self.low + 2 * self.scale.least, self.high + 2 * self.scale.max)
                     if self.scale else (self.low, self.high))
        inside = self.integers(max(low, self.d.least - 4), min(high, self.d.max), (n, 1))
        return np.where(self.chance(.75, n, 1), inside, self.integers(low, high, (n, 1)))

    def exponents(self, n, start, low, high, width, terms, leads, no_addend, c_low, c_high):
        """Of the products, [n, k], and of the addend, [n, 1]."""
        shape = n, self.k
        base = self.base(n) if start == 'any' else getattr(self.d, start) + self.integers(
            low, high, (n, 1))
        if width > 0:
            widths = np.where(self.chance(.5, n, 1), width, self.integers(0, width, (n, 1)))
            below = self.integers(0, widths, shape)
        else:  # about the output's last bit, about the last bits of alignments, anywhere
            kind = self.rng.random(shape)
            below = np.select([kind < .4, kind < .55, kind < .85], [
                self.d.m + 1, self.d.m + self.integers(-1, 3, shape), self.integers(22, 37, shape)],
                              self.integers(1, max(40, 2 * self.d.m + 4), shape))
        t = np.where(self.chance(terms / self.k, *shape), base - below, ZERO)
        if leads:
            np.put_along_axis(t, self.integers(0, self.k - 1, (n, 1)), base, 1)
        c = base + (self.d.m + 1 if c_low is None else self.integers(c_low, c_high, (n, 1)))
        return t, np.where(self.chance(no_addend, n, 1), ZERO, c)

    def fractions(self, f, shape, share):
        """Zero with the given probability, else all ones, the last bit alone, or anything."""
        kind, top = self.rng.random(shape), (1 << f.m) - 1
        other = np.where(kind > .85, top, np.where(kind > .75, min(1, top),
                                                   self.integers(0, top, shape)))
        return np.where(self.chance(share, *shape), 0, other)

    def split(self, total, x, y):
        """Two exponents with that sum, normal numbers most times where they can be."""
        normal = (total >= x.min + y.min) & self.chance(.8, *total.shape)
        x_least, y_least = (np.where(normal, f.min, f.least) for f in (x, y))
        low = np.clip(total - y.max, x_least, x.max)
        ex = self.integers(low, np.clip(total - y_least, low, x.max), total.shape)
        return ex, total - ex

    def scale_words(self, t):
        """Scales that bring products to exponents t, or special ones; and what is left of t."""
        n, length = len(t), self.k // self.scales
        apart = self.chance(.4, n, 1) * self.integers(0, 45, (n, self.scales))  # of the blocks
        t = np.where(t == ZERO, t, t - np.repeat(apart, length, 1))
        top = t.reshape(n, self.scales, length).max(2)
        total = np.where(top > ZERO, top, 0) - self.integers(self.low, self.high, (n, 1))
        exponents = self.split(np.clip(total, 2 * self.scale.least, 2 * self.scale.max),
                               self.scale, self.scale)
        words = {}
        for x, e in zip(('sa', 'sb'), exponents):
            w = self.scale.encode(self.rng, self.chance(.2, *e.shape), e,
                                  self.fractions(self.scale, e.shape, .5))
            codes = np.array([0, 1, 0x7e, 0x7f, 0x80, 0x81, 0xfe, 0xff], np.uint64)
            w = np.where(self.chance(.25, n, 1) & self.chance(.4, *e.shape),
                         self.rng.choice(codes, e.shape), w)
            words[x] = np.where(self.chance(.06, n, 1), self.scale.uniform(self.rng, e.shape), w)
        return words, np.where(t == ZERO, t, t - np.repeat(sum(exponents), length, 1))

    def words(self, t, c, share):
        """Operands with such exponents; zeros stand beside large and small partners."""
        n, shape = len(c), t.shape
        case, t = self.scale_words(t) if self.scale else ({}, t)
        exponents = self.split(np.clip(t, self.low, self.high), self.a, self.b)
        alike, negative = self.chance(.3, n, 1), self.chance(.5, n, 1)
        signs = {'a': np.where(alike, negative, self.chance(.5, *shape)),
                 'b': ~alike & self.chance(.5, *shape),
                 'c': np.where(alike & self.chance(.8, n, 1), negative, self.chance(.5, n, 1))}
        side = self.integers(0, self.integers(7, 8, (n, 1)), shape)  # 8: both factors are zero
        partner = np.where(self.chance(.5, *shape), -ZERO, self.integers(-20, 20, shape))
        for x, f, e, zero in zip('ab', (self.a, self.b), exponents, (side % 8 < 4, side > 3)):
            e = np.where(t == ZERO, np.where(zero, ZERO, partner), e)
            largest = (1 << f.m) - 1
            fraction = np.where(e == -ZERO, largest, self.fractions(f, shape, share))
            case[x] = f.encode(self.rng, signs[x], e, fraction)
        case['c'] = self.c.encode(self.rng, signs['c'], c, self.fractions(self.c, c.shape, share))
        return case

    def opposite(self, case):
        """Non-zero products get the sign that the addend has not, zeros often the addend's."""
        zero, minus = {}, {}
        for x, f in (('a', self.a), ('b', self.b), ('c', self.c)):
            minus[x] = case[x] & np.uint64(f.sign << f.ignored) > 0
            zero[x] = case[x] & np.uint64(f.magnitude << f.ignored) == 0
            if x != 'c':  # a machine that flushes takes -0 for +0
                minus[x] &= ~zero[x]
                case[x][zero[x]] = 0
        unlike = minus['a'] ^ minus['b'] != minus['c']
        flip = np.where(zero['a'] | zero['b'], unlike & self.chance(.7, *minus['c'].shape), ~unlike)
        for x, f, here in (('a', self.a, ~zero['a']), ('b', self.b, zero['a'] & ~zero['b'])):
            case[x] ^= np.where(flip & here, np.uint64(f.sign << f.ignored), np.uint64(0))

    def cancel(self, case):
        """The odd product of a pair becomes the even one's negative, but for a few pairs."""
        chosen = self.chance(.9, len(case['c']), self.k // 2)
        minus = np.uint64(self.b.sign << self.b.ignored)
        for x in 'ab':
            even, odd = case[x][:, 0:self.k - 1:2], case[x][:, 1::2]
            negated = even if x == 'a' else np.where(self.b.fnuz & (even == 0), even, even ^ minus)
            odd[...] = np.where(chosen, negated, odd)

    def replace(self, case, x, p, words):
        case[x][...] = np.where(self.chance(p, *case[x].shape), words, case[x])

    def subnormals(self, case):
        for x, f, p in (('a', self.a, .6), ('b', self.b, .1), ('c', self.c, .5)):
            e = self.integers(f.least, f.min - 1, case[x].shape)
            self.replace(case, x, p, f.encode(self.rng, self.chance(.5, *e.shape), e,
                                              self.fractions(f, e.shape, .3)))

    def special(self, case):
        for x, f, p in (('a', self.a, .4 / self.k), ('b', self.b, .4 / self.k), ('c', self.c, .3)):
            words = self.rng.choice(f.specials, case[x].shape)
            self.replace(case, x, p, f.place(self.rng, words))

    def addend(self, case):
        self.replace(case, 'c', 1, self.c.uniform(self.rng, case['c'].shape))

    def bits(self, case):
        for x, f in (('a', self.a), ('b', self.b), ('c', self.c)):
            self.replace(case, x, 1, f.uniform(self.rng, case[x].shape))

    def shuffle(self, case):
        """Permutes k within a scale block, alike in a and b."""
        n, blocks = len(case['c']), max(self.scales, 1)
        order = np.argsort(self.rng.random((n, blocks, self.k // blocks)), 2)
        order += self.k // blocks * np.arange(blocks)[:, None]
        for x in 'ab':
            case[x] = np.take_along_axis(case[x], order.reshape(n, self.k), 1)

    def cases(self, n):
        parts = []
        for *exponents, share, change in CLASSES:
            case = self.words(*self.exponents(-(-n // len(CLASSES)), *exponents), share)
            if change:
                getattr(self, change)(case)
            if self.chance(.7):
                self.shuffle(case)
            parts.append(case)
        return {x: np.concatenate([part[x] for part in parts])[:n] for x in parts[0]}


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
        if done.returncode not in ((0, 1) if arguments[0] == 'check' else (0,)):
            raise RuntimeError(f'{self.path} {" ".join(arguments)}: exit code {done.returncode}')
        return done.stdout.decode()

    def list(self, what):
        return json.loads(self.run('list', what, '--json'))

    def eval(self, row, case, formats):
        out = self.run('eval', row['name'], stdin=lines(case, row, formats))
        return np.array([int(line.split()[-1], 16) for line in out.splitlines()], np.uint64)

    def check(self, row, case, d, formats):
        """How many were compared, and the indices of those that differ."""
        out = self.run('check', row['name'], '--max_reports=1e12', f'--expect={len(d)}',
                       stdin=lines(case, row, formats, d))
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

    CDNA3's FP8 steps have 16 products. MMA-Sim 2.1.1 (fdpa.py, line 410) gives an infinity or a NaN
    the exponent -1 and drops it beside products whose exponents add up to 25 or more.
    """
    addend, dropped, known = case['c'][:, 0], case, np.zeros(len(d), bool)
    for first in range(0, row['k'], 16):
        dropped = {**keep(dropped, first, row['k']), 'c': np.zeros_like(case['c'])}
        infinite_or_nan = addend & np.uint64(0x7f800000) == 0x7f800000
        known |= infinite_or_nan & (simulator.eval(row, dropped, formats) == d)
        addend = simulator.eval(row, keep(case, 0, first + 16), formats)
    return known


def known_differences(simulator, row, case, d, ours, formats):
    """Which of the answers of a contested row differ as corpus/vectors/differences.txt says."""
    if row['d'] == 'f64':  # in the bits of NaNs alone
        infinity = np.uint64(0x7ff << 52)
        return (d << np.uint64(1) > infinity << np.uint64(1)) & (
            ours << np.uint64(1) > infinity << np.uint64(1))
    return drops_addend(simulator, row, case, d, formats)


def compare(simulator, row, operation, formats, options, known_rows, out):
    """Counts of dot products: compared, differing, of these known."""
    counts = np.zeros(3, int)
    for first in range(0, options.cases, BATCH):
        rng = np.random.default_rng([options.seed, zlib.crc32(row['name'].encode()), first])
        case = Generator(rng, row, formats).cases(min(BATCH, options.cases - first))
        d = mma_sim(operation, case, row, formats)
        compared, indices = simulator.check(row, case, d, formats)
        counts += compared, len(indices), 0
        if not indices:
            continue
        part, d = {x: words[indices] for x, words in case.items()}, d[indices]
        known = np.zeros(len(d), bool)
        ours = simulator.eval(row, part, formats)
        if any(fnmatch.fnmatchcase(row['name'], name) for name in known_rows):
            known = known_differences(simulator, row, part, d, ours, formats)
        counts[2] += known.sum()
        text = lines(part, row, formats, d).decode().splitlines()
        for line, word, same in zip(text, ours, known):
            print(f'# {row["name"]}: {"known" if same else "differs"}, ours {word:x}, '
                  f'MMA-Sim\'s last\n{line}', file=out)
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--mmadiff', required=True, help='the program')
    parser.add_argument('--cases', type=lambda text: int(float(text)), default=10000,
                        help='dot products per row [10000]')
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
            try:
                counts = compare(simulator, row, make(*name), formats, options, known_rows, out)
            except RuntimeError as error:
                print(f'{row["name"]}: {error}', file=sys.stderr)
                counts = np.zeros(3, int)
            uncompared |= counts[0] < max(options.cases, 1)
            total += counts
            print(f'{row["name"]:60} {counts[0]:8} {counts[0] - counts[1]:8} '
                  f'{counts[1] - counts[2]:9} {counts[2]:5}', flush=True)
    print(f'{len(rows)} rows, {total[0]} dot products, {total[0] - total[1]} equal, '
          f'{total[1] - total[2]} differing, {total[2]} known differences')
    return 3 if uncompared else 1 if total[1] > total[2] else 0


if __name__ == '__main__':
    try:
        sys.exit(main())
    except (OSError, RuntimeError) as problem:
        sys.exit(print(f'mma_sim_compare: {problem}', file=sys.stderr) or 3)
