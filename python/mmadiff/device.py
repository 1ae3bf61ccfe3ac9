"""Any Python function as a device of the program: `fd:` with the binary protocol (docs/formats.md)."""
import contextvars
import math
import signal
import socket
import struct
import subprocess
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from . import arrays, program
from .operation import Operation

_HEAD = struct.Struct('<I')  # bytes of a frame
_LEAVE_SECONDS = 1
_NO_SIGNAL = getattr(socket, 'MSG_NOSIGNAL', 0)


def _duration(timeout):
    """Seconds, or a text such as '90s', as the program writes it."""
    if isinstance(timeout, str):
        return timeout
    if not (math.isfinite(timeout) and timeout > 0):
        raise ValueError(f'timeout={timeout!r} is not a number of seconds above 0')
    return f'{timeout}s'


def _read_frame(stream):
    """The next frame; None at the end."""
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    size, = _HEAD.unpack(head)
    frame = stream.read(size)
    return frame if len(frame) == size else None


def _checked(result, format, count):
    """The result's words as they are sent."""
    words = arrays.words(result, format, "the function's result")
    if words.size != count:
        raise ValueError(f"the function's result has the shape {tuple(words.shape)}, not {count} elements: one for "
                         'each dot product of the batch')
    return words.astype(words.dtype.newbyteorder('<')).tobytes()


def _like(name):
    """A tensor of PyTorch on the device for 'torch' or 'torch:cuda:0', None for 'numpy'."""
    library, _, device = str(name).partition(':')
    if library == 'torch':
        import torch
        return torch.empty(0, device=device or 'cpu')
    if library == 'numpy' and not device:
        return None
    raise ValueError(f"arrays='numpy', 'torch' or 'torch:DEVICE', such as 'torch:cuda:0', not {name!r}")


class Device:
    """Answers the program's questions by a function, in a thread of its own, until the program ends.

    The function gets a batch of N dot products as matrices: a (N, 1, k), b (N, k, 1), c (N, 1, 1), with block scales
    also scale_a= (N, 1, s), scale_b= (N, s, 1). A conversion gets only a (N,). The function returns the N results d in
    the format of d, in any shape. Meanwhile NumPy does not warn of overflow and NaNs: the questions contain them.
    """

    def __init__(self, function: Callable[..., Any], operation: Operation, arrays: str = 'numpy',
                 timeout: float | str | None = None) -> None:
        self._function, self._operation, self._like = function, operation, _like(arrays)
        self._socket, self.peer = socket.socketpair()  # the peer is the program's stdin
        self._options = ',protocol=binary' + ('' if timeout is None else f',timeout={_duration(timeout)}')
        self._process: Any = None  # since `start`
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._serve,), daemon=True)
        self.error: BaseException | None = None  # what the function raised
        self.busy = False  # inside the function

    @property
    def specification(self) -> str:
        """For --device."""
        return f'fd:0,0{self._options}'

    def __enter__(self) -> "Device":
        return self

    def __exit__(self, *exception: object) -> None:
        self.peer.close()
        if self._process is None:
            self._socket.close()
        else:
            self._thread.join(_LEAVE_SECONDS)  # a function that hangs keeps its thread

    def start(self, process: subprocess.Popen[bytes]) -> None:
        """Serves the program."""
        self._process = process
        self._thread.start()

    def _serve(self):
        with self._socket, self._socket.makefile('rb') as requests:
            try:
                self._answer_all(requests)
            except (BrokenPipeError, ConnectionResetError):
                pass  # the program ended
            except BaseException as error:
                self.error = error  # before the socket is closed, which may end the program
        if self.error is not None:
            program.stop(self._process, signal.SIGTERM)

    def _answer_all(self, requests):
        with np.errstate(all='ignore'):
            while (request := _read_frame(requests)) is not None:
                answer = self._answer(request)
                self._socket.sendall(_HEAD.pack(len(answer)) + answer, _NO_SIGNAL)

    def _answer(self, request):
        fields = np.frombuffer(request, self._operation.record)
        given = self._operation.unpacked(fields, self._like)
        operands = [given.pop(name) for name in 'abc' if name in given]
        self.busy = True
        result = self._function(*operands, **given)
        self.busy = False
        return _checked(result, self._operation.d, len(fields))
