"""Any Python function as a device of the program: `fd:` with the binary protocol (docs/formats.md)."""
import contextlib
import contextvars
import inspect
import math
import os
import re
import signal
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from . import arrays, program
from .comparisons import convert
from .operation import Operation

_HEAD = struct.Struct('<I')  # bytes of a frame
_LEAVE_SECONDS = 1
_NO_SIGNAL = getattr(socket, 'MSG_NOSIGNAL', 0)
_UNITS = {'ms': 0.001, 's': 1, 'm': 60, 'h': 3600}


def _seconds(timeout):
    """Those of a number, or of a text such as '90s' or '1h30m'."""
    if timeout is None:
        timeout = os.environ.get('MMADIFF_EXEC_TIMEOUT', 60)
    text = str(timeout).strip()
    parts = re.findall(r'([\d.]+)(ms|s|m|h)', text)
    try:
        matches = parts and ''.join(map(''.join, parts)) == text
        seconds = sum(float(number) * _UNITS[unit] for number, unit in parts) if matches else float(text)
    except ValueError:
        seconds = 0
    if not (math.isfinite(seconds) and seconds > 0):
        raise ValueError(f"timeout={timeout!r} is neither a number of seconds above 0 nor a text such as '90s'")
    return seconds


def _read_frame(stream):
    """The next frame; None at the end."""
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    size, = _HEAD.unpack(head)
    frame = stream.read(size)
    return frame if len(frame) == size else None


def _one_nan(words, format):
    """The words, with the format's quiet positive NaN in place of each NaN."""
    if arrays.is_integer(format):
        return words
    nan = arrays.words(convert(np.full(1, np.nan), format), format)
    return np.where(np.isnan(convert(words, 'f64', format=format)), nan, words)


def _checked(result, format, count, any_nan):
    """The result's words as they are sent."""
    words = arrays.words(result, format, "the function's result")
    if words.size != count:
        raise ValueError(f"the function's result has the shape {tuple(words.shape)}, not {count} elements: one for "
                         'each dot product of the batch')
    if any_nan:
        words = _one_nan(words, format)
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


def _name(function):
    """How results call the function; a row has a name, too."""
    return getattr(function, '__qualname__', None) or getattr(function, 'name', None) or type(function).__qualname__


_MEANINGS = {'scale_a': 'the block scales of a', 'scale_b': 'the block scales of b',
             'metadata': 'words of uint8 that say which elements of a are stored'}


def _check_takes(function, operation):
    """TypeError if the function does not take an operand that it would get by name."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return  # not written in Python
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return
    taken = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    missing = [name for name in operation.inputs if name in _MEANINGS and name not in taken]
    if missing:
        shapes = [f"{name} (N, {', '.join(map(str, operation.shape(name, 1)[1:]))}), {_MEANINGS[name]}" for name in missing]
        raise TypeError(f"{_name(function)} must also take {' and '.join(f'{name}=' for name in missing)} for "
                        f"{operation.name or 'this operation'}: {'; '.join(shapes)}")


class Device:
    """Answers the program's questions by a function, in a thread of its own, until the program ends.

    The function gets a batch of N dot products as matrices: a (N, 1, k), b (N, k, 1), c (N, 1, 1), with block scales
    also scale_a= (N, 1, s), scale_b= (N, s, 1), with a sparse a also metadata= (N, 1, groups), uint8. A conversion gets
    only a (N,). The function returns the N results d in the format of d, in any shape. Meanwhile NumPy does not warn of overflow and NaNs: the questions contain them.
    any_nan: the program gets one NaN in place of all NaNs.
    """

    def __init__(self, function: Callable[..., Any], operation: Operation, arrays: str = 'numpy',
                 timeout: float | str | None = None, any_nan: bool = False) -> None:
        _check_takes(function, operation)
        self._function, self._operation, self._like, self._any_nan = function, operation, _like(arrays), any_nan
        self._timeout = _seconds(timeout)
        self._socket, self.peer = socket.socketpair()  # the peer is the program's stdin
        self._options = f'0,0,protocol=binary,timeout={self._timeout}'
        self._process: Any = None  # since `start`
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._serve,), daemon=True)
        self.error: BaseException | None = None  # what the function raised
        self._busy = False  # inside the function
        self._last = time.monotonic()  # a moment before the program's wait for the next answer

    @property
    def specification(self) -> str:
        """For --device."""
        return f'fd:{self._options}'

    @property
    def names(self) -> dict[str, str]:
        """{the program's text: text with the function's name}, the longest first."""
        name, identity = _name(self._function), f'descriptors {self._options}'
        return {f'{self.specification}: {identity}': name, identity: name, self.specification: name,
                'device: as given on the command line;': f'device: {name};'}  # of `explain`, printed after the answer

    def timed_out(self) -> str | None:
        """The error if the program ended because the function exceeded the timeout."""
        if self._busy and time.monotonic() - self._last >= self._timeout:
            return f'the function did not answer for {self._timeout:g} s'
        return None

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
                with np.errstate(all='ignore'):
                    while (request := self._received(requests)) is not None:
                        self._send(self._answer(request))
            except BaseException as error:
                self.error = error  # before the socket is closed, which may end the program
        if self.error is not None:
            program.stop(self._process, signal.SIGTERM)

    def _received(self, requests):
        """The next frame; None if the program ended."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            return _read_frame(requests)

    def _send(self, answer):
        self._last = time.monotonic()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the program ended
            self._socket.sendall(_HEAD.pack(len(answer)) + answer, _NO_SIGNAL)

    def _answer(self, request):
        fields = np.frombuffer(request, self._operation.record)
        given = self._operation.unpacked(fields, self._like)
        operands = [given.pop(name) for name in 'abc' if name in given]
        self._busy = True
        result = self._function(*operands, **given)
        self._busy = False
        return _checked(result, self._operation.d, len(fields), self._any_nan)
