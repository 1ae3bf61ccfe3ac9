"""Logs of matrix products: an audit, and files that are damaged."""
import json
import os
import random
import struct

import numpy as np
import pytest

import mmadiff as mm

FP8 = mm.Plan('sm_90/wgmma.m64n8k32.f32.e4m3.e4m3 | every 128: fma (a*b) | bf16')
HOPPER = mm.Plan('sm_90/wgmma.m64n8k16.f32.f16.f16 | alpha*sum | f16')
TYPES = {'e4m3': 'F8_E4M3', 'bf16': 'BF16', 'f16': 'F16', 'f32': 'F32'}


def save(path, tensors, metadata, change=None):
    """A file of safetensors; tensors: {name: (words, format)}"""
    header, data = {'__metadata__': metadata}, b''
    for name, (words, format) in tensors.items():
        header[name] = {'dtype': TYPES[format], 'shape': list(words.shape),
                        'data_offsets': [len(data), len(data) + words.nbytes]}
        data += words.tobytes()
    if change:
        change(header)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack('<Q', len(text)) + text + data)
    return path


def products(m=64, n=32, k=256):
    rng = np.random.default_rng(1)
    a, b = (mm.convert(rng.standard_normal(shape), 'e4m3').view('u1') for shape in ((m, k), (k, n)))
    scales = {'scale_a': rng.random((m, k // 128), 'f4'), 'scale_b': rng.random((k // 128, 1), 'f4')}
    x, y = rng.standard_normal((m, k)).astype('f2'), rng.standard_normal((k, n)).astype('f2')
    tensors = {'layers.0.a': (a, 'e4m3'), 'layers.0.b': (b, 'e4m3'), 'layers.0.d': (FP8(a, b, **scales).view('u2'), 'bf16'),
               'head.a': (x.view('u2'), 'f16'), 'head.b': (y.view('u2'), 'f16'),
               'head.d': (HOPPER(x, y, alpha=0.125).view('u2'), 'f16'), 'other': (x[:1].view('u2'), 'f16')}
    tensors |= {f'layers.0.{name}': (x.view('u4'), 'f32') for name, x in scales.items()}
    return tensors, {'plan': str(FP8), 'head.plan': str(HOPPER), 'head.alpha': '0.125'}


def test_an_audit(tmp_path):
    tensors, metadata = products()
    path = save(tmp_path / 'log.safetensors', tensors, metadata)
    layers = {layer.name: layer for layer in mm.read_log(path)}
    assert list(layers) == ['layers.0', 'head'] and layers['head'].plan == HOPPER
    assert str(layers['layers.0']) == f'layers.0: 64 x 32 x 256, {FP8}, scale_a, scale_b'
    for layer in mm.read_log(str(path)):
        at = mm.witnesses(layer.a, layer.b, layer.d, layer.plan, count=200, **layer.operands)
        assert mm.check(layer.plan, layer.a, layer.b, layer.d, at=at, **layer.operands) == 200
    # One bit of one element.
    words = tensors['layers.0.d'][0].copy()
    words[17, 3] ^= 1
    save(path, tensors | {'layers.0.d': (words, 'bf16')}, metadata)
    layer = next(mm.read_log(path))
    at = mm.witnesses(layer.a, layer.b, layer.d, layer.plan, count=200, **layer.operands)
    assert list(at[0]) == [17, 3]
    with pytest.raises(AssertionError, match=r'1 of 200 elements differ, the first at \[17, 3\]'):
        mm.check(layer.plan, layer.a, layer.b, layer.d, at=at, **layer.operands)


def test_a_log_that_was_written(tmp_path):
    tensors, _ = products(4, 8, 128)
    a, b = (mm.arrays.array(tensors[f'layers.0.{name}'][0], 'e4m3') for name in 'ab')
    x = np.arange(12, dtype='>f4').reshape(3, 4).T[:, ::-1]
    path = tmp_path / 'log'
    mm.write_log(path, {'one': {'a': a, 'b': b, 'd': np.zeros((4, 8), 'u2'), 'plan': FP8, 'alpha': 0.1},
                        'two': {'a': x, 'b': x, 'd': x, 'bias': x[0]}})
    one, two = mm.read_log(path)
    assert one.plan == FP8 and one.operands == {'alpha': 0.1} and one.d.dtype == np.uint16
    assert one.a.dtype == a.dtype and np.array_equal(one.a.view('u1'), a.view('u1'))
    assert two.plan is None and np.array_equal(two.b, x) and np.array_equal(two.operands['bias'], x[0])
    with pytest.importorskip('safetensors').safe_open(path, 'np') as file:
        assert np.array_equal(file.get_tensor('two.d'), x) and file.metadata() == {'one.plan': str(FP8), 'one.alpha': '0.1'}
    before = path.read_bytes()
    for wrong, text in (({'a': x, 'b': x}, 'lacks d'), ({'a': x, 'b': x, 'd': x, 'e': x}, 'has e'),
                        ({'a': x, 'b': x, 'd': np.zeros((1, 1), bool)}, 'which a log lacks'),
                        ({'a': x, 'b': x, 'd': x, 'scale_a': 0.1}, 'is a number'), ({'a': x[0], 'b': x, 'd': x}, 'a matrix'),
                        ({'a': x, 'b': x, 'd': x, 'plan': 'nonsense'}, 'a plan has'), (3, 'not a dictionary'),
                        ({'a': x, 'b': x, 'd': x, 'alpha': np.float32([.5, 1])}, 'scalar')):
        with pytest.raises((ValueError, TypeError), match=text):
            mm.write_log(path, {'one': wrong})
    assert path.read_bytes() == before and [one.name for one in tmp_path.iterdir()] == ['log']


def test_a_log_is_written_back(tmp_path):
    path = tmp_path / 'log'
    x = {name: np.arange(16, dtype='f4').reshape(4, 4) for name in 'abd'}
    mm.write_log(path, {'one': {**x, 'plan': None, 'alpha': np.float16(.1), 'bias': None}})
    [layer] = mm.read_log(path)
    assert layer.plan is None and layer.operands == {'alpha': float(np.float16(.1))} and not layer.a.flags.writeable
    mm.write_log(path, {'two': {'a': layer.a, 'b': layer.b, 'd': layer.d}})      # mapped from the file that it replaces
    [again] = mm.read_log(path)
    assert again.name == 'two' and np.array_equal(again.a, x['a']) and np.array_equal(layer.b, x['b'])


def test_what_a_log_may_replace(tmp_path):
    one = {'one': {name: np.ones((2, 2), 'f4') for name in 'abd'}}
    os.mkfifo(tmp_path / 'pipe')
    for path in (tmp_path / 'pipe', tmp_path):
        with pytest.raises(ValueError, match='not a regular file'):
            mm.write_log(path, one)
    before = os.umask(0o027)
    try:
        mm.write_log(tmp_path / 'new', one)
    finally:
        os.umask(before)
    assert (tmp_path / 'new').stat().st_mode & 0o777 == 0o640
    (tmp_path / 'new').chmod(0o600)
    (tmp_path / 'link').symlink_to('new')
    mm.write_log(tmp_path / 'link', {'two': one['one']})
    assert (tmp_path / 'link').is_symlink() and (tmp_path / 'new').stat().st_mode & 0o777 == 0o600
    assert [layer.name for layer in mm.read_log(tmp_path / 'new')] == ['two']
    for wrong in ({}, {1: one['one']}, {'\ud800': one['one']}, {'one': one['one'] | {'scale_a': np.ones((1,) * 9, 'f4')}}):
        with pytest.raises((TypeError, ValueError)):
            mm.write_log(tmp_path / 'new', wrong)


@pytest.mark.parametrize('format', ['e4m3', 'e5m2', 'e4m3fnuz', 'e5m2fnuz', 'ue8m0', 'bf16', 'f16', 'f32', 'f64', 's8', 's32'])
def test_formats_of_logs(tmp_path, format):
    words = np.arange(64, dtype=mm.arrays.word_type(format)).reshape(8, 8)
    x = mm.arrays.array(words, format)
    mm.write_log(tmp_path / 'log', {'one': {'a': x, 'b': x[:, :0].T, 'd': x, 'block_scale_a': x, 'c': x, 'beta': 2}})
    [one] = mm.read_log(tmp_path / 'log')
    assert mm.arrays.read(one.a)[1] == mm.arrays.read(x)[1] and np.array_equal(one.d.view(words.dtype), words)
    assert one.b.shape == (0, 8) and sorted(one.operands) == ['beta', 'block_scale_a', 'c'] and one.operands['beta'] == 2


def test_one_layer_does_not_end_the_audit(tmp_path):
    tensors, metadata = products()
    path = save(tmp_path / 'log', tensors, {**metadata, 'layers.0.plan': 'sm_90/no | f32', 'head.alpha': 'much'})
    first, head = mm.read_log(path)
    with pytest.raises(ValueError, match='layers.0.plan: .*sm_90/no'):
        first.plan
    with pytest.raises(ValueError, match="head.alpha: .*'much'"):
        head.operands
    assert head.plan == HOPPER and 'alpha' in str(head) and 'sm_90/no' in str(first)


def changed(key, value):
    def change(header):
        target = header
        for name in key[:-1]:
            target = target[name]
        target[key[-1]] = value
    return change


@pytest.mark.parametrize('change, text', [
    (lambda header: header.update({'tail.b': header.pop('head.b')}), 'head lacks head.b'),
    (lambda header: header.update({f'{name}.x': header.pop(name) for name in list(header) if name[0] != '_'}), 'no tensor NAME.a'),
    (lambda header: header.update({'layers.0.scale_A': header.pop('layers.0.scale_a')}), 'layers.0 has scale_A'),
    (changed(['head.b', 'data_offsets'], [28672, 28672 + 16384]), 'but the tensor before ends at'),
    (lambda header: header.pop('layers.0.scale_b'), 'but the file has'),
    (changed(['__metadata__'], ['plan']), '__metadata__ is not an object'),
    (changed(['head.a', 'dtype'], 'F4'), "'F4'"),
    (changed(['head.a', 'dtype'], ['F16']), 'read_log has'),
    (changed(['head.a', 'dtype'], 'F32'), 'needs'),
    (changed(['head.a', 'shape'], [64, -256]), 'has the shape'),
    (changed(['head.a', 'shape'], [64, True]), 'has the shape'),
    (changed(['head.a', 'shape'], [64, 16, 16]), 'a matrix is needed'),
    (changed(['head.a', 'shape'], 7), 'lacks dtype, shape or data_offsets'),
    (changed(['head.a', 'shape'], [1 << 47, 1 << 47]), 'needs'),
    (changed(['head.a', 'data_offsets'], [0]), 'lacks dtype'),
    (changed(['head.a', 'data_offsets'], [1 << 40, (1 << 40) + 32768]), 'ends at'),
    (changed(['head.a'], []), 'lacks dtype'),
])
def test_wrong_logs_say_why(tmp_path, change, text):
    path = save(tmp_path / 'log', *products(), change)
    with pytest.raises(ValueError) as raised:
        list(mm.read_log(path))
    assert text in str(raised.value) and (str(path) in str(raised.value) or 'head.' not in text)


def test_damaged_logs(tmp_path):
    path = save(tmp_path / 'log', *products(4, 4, 128))
    good, rng, read = path.read_bytes(), random.Random(1), 0
    length = 8 + struct.unpack('<Q', good[:8])[0]
    for _ in range(2000):
        damaged = bytearray(good[:rng.randrange(len(good))] if rng.random() < 0.1 else good)
        for _ in range(rng.randrange(1, 4)):
            if damaged:
                damaged[rng.randrange(min(length, len(damaged)))] = rng.choice([rng.randrange(256), *b'0919[]{}",:-e'])
        path.write_bytes(damaged)
        try:
            for layer in mm.read_log(path):
                read += int(layer.a.view('u1').sum()) >= 0
        except ValueError:
            pass
    assert read > 100
    for text in ('{"l.a": 1, "l.a": 1}', '{"__metadata__": {"plan": "x", "plan": "y"}}', '[]', '"x"'):
        path.write_bytes(struct.pack('<Q', len(text)) + text.encode())
        with pytest.raises(ValueError, match=str(path)):
            mm.read_log(path)
    os.mkfifo(tmp_path / 'pipe')
    for name in (tmp_path, tmp_path / 'pipe'):
        with pytest.raises(ValueError, match='not a regular file'):
            mm.read_log(name)
    path.write_bytes(b'\xff' * 8 + b'{}')
    with pytest.raises(ValueError, match='not a file of safetensors'):
        mm.read_log(path)
    path.write_bytes(struct.pack('<Q', 200000) + b'[' * 200000)
    with pytest.raises(ValueError, match='not JSON'):
        mm.read_log(path)
