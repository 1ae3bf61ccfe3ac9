"""Arguments for wrong calls."""
import numpy as np


def anything(rng, most=40):
    """An array of any type, shape (each size is below 8 times `most`) and layout, or something else."""
    shape = tuple(rng.integers(0, most, rng.integers(0, 5)) * rng.choice([1, 8]))
    if np.prod(shape, dtype=float) > 1e6:
        shape = shape[:2]
    made = np.zeros(shape, rng.choice(['f2', 'f4', 'f8', 'u1', 'u2', 'u4', 'i8', 'c8', 'O', '>f2', 'U3', 'M8[s]', 'V6', '?']))
    return [None, 'text', 3, 2.5, [[1, 2], [3]], b'bytes', made, made.T, np.flip(made), np.asfortranarray(made),
            np.broadcast_to(made, (2, *shape)), memoryview(b'1234'), object(), {}, float('nan')][rng.integers(15)]
