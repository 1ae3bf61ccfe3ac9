"""torch.matmul as a device for `plan`: f32, f16 or bf16 matrices in, their product out; docs/matmul.md has the protocol.
Argument: the device of PyTorch, such as cuda (default: cpu)."""
import sys

try:
    import torch
except ModuleNotFoundError:
    sys.exit("this needs PyTorch, and NumPy for its bytes: pip install torch numpy")

device = sys.argv[1] if len(sys.argv) > 1 else "cpu"
types = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def matrix(rows, columns, dtype):
    words = bytearray(sys.stdin.buffer.read(rows * columns * dtype.itemsize))
    return torch.frombuffer(words, dtype=dtype).reshape(rows, columns).to(device)


while line := sys.stdin.buffer.readline():
    m, n, k = map(int, line.split()[:3])
    a, b, d = (types[name] for name in line.decode().split()[3:])
    product = torch.matmul(matrix(m, k, a), matrix(k, n, b))
    assert product.dtype == d, f"torch's product has the format {product.dtype}"
    sys.stdout.buffer.write(product.cpu().contiguous().view(torch.uint8).numpy().tobytes())
    sys.stdout.buffer.flush()
