#!/usr/bin/env python3
"""Files for npy_test and safetensors_test: numpy_files.py write|check|safetensors FOLDER writes .npy files, checks
those of the test, or writes a.safetensors. Exit code 77: no NumPy, or no safetensors. All arrays are 2 x 3; their words, as unsigned integers, are 1 to 6 by rows."""
import pathlib
import sys

try:
    import numpy as np
except ImportError:
    sys.exit(77)
try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

FOLDER = pathlib.Path(sys.argv[2])
NUMPY = {'f64': 'f8', 'f32': 'f4', 'f16': 'f2', 's8': 'i1', 's16': 'i2', 's32': 'i4', 's64': 'i8',
         'u8': 'u1', 'u16': 'u2', 'u32': 'u4', 'u64': 'u8'}
# FORMAT: the type of ml_dtypes, and the type that the reader finds.
ML_DTYPES = {'bf16': ('bfloat16', 'u16'), 'e5m2': ('float8_e5m2', 'e5m2'), 'e4m3': ('float8_e4m3fn', 'u8'),
             'e4m3fnuz': ('float8_e4m3fnuz', 'u8'), 'e5m2fnuz': ('float8_e5m2fnuz', 'u8'),
             'ue8m0': ('float8_e8m0fnu', 'u8'), 'e2m3': ('float6_e2m3fn', 'u8'), 'e3m2': ('float6_e3m2fn', 'u8'),
             'e2m1': ('float4_e2m1fn', 'u8'), 's4': ('int4', 'u8'), 'u4': ('uint4', 'u8')}


def words(bits, order='<'):
    return np.arange(1, 7, dtype=f'{order}u{bits // 8}').reshape(2, 3)


def write():
    def save(name, array):
        np.save(FOLDER / f'{name}.C.npy', array)
        np.save(FOLDER / f'{name}.F.npy', np.asfortranarray(array))
    for name, kind in NUMPY.items():
        bits = np.dtype(kind).itemsize * 8
        save(name, words(bits).view(kind))
        if bits > 8:
            save(f'{name}.big', words(bits, '>').view(f'>{kind}'))
    for _, (kind, name) in ML_DTYPES.items():
        if hasattr(ml_dtypes, kind):
            dtype = np.dtype(getattr(ml_dtypes, kind))
            save(f'{name}.{kind}', words(dtype.itemsize * 8).view(dtype))


def check():
    for path in FOLDER.glob('*.npy'):
        array = np.load(path)
        kind = ML_DTYPES.get(path.stem, ('',))[0]
        if hasattr(ml_dtypes, kind):
            array = array.view(getattr(ml_dtypes, kind))
        elif path.stem in NUMPY:
            assert array.dtype == np.dtype(NUMPY[path.stem]), path
        assert array.shape == (2, 3), path
        assert (array.view(f'u{array.dtype.itemsize}') == words(array.dtype.itemsize * 8)).all(), path


def safetensors():
    try:
        from safetensors.numpy import save_file
    except ImportError:
        sys.exit(77)
    arrays = {name: words(np.dtype(kind).itemsize * 8).view(kind) for name, kind in NUMPY.items()}
    save_file(arrays, FOLDER / 'a.safetensors', metadata={'format': 'np'})


{'write': write, 'check': check, 'safetensors': safetensors}[sys.argv[1]]()
