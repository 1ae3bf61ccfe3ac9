"""The program `mmadiff`: finds it, runs it, turns its exit codes into exceptions with its own words."""
import contextlib
import fcntl
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .version import VERSION

_STOP_SECONDS = 5  # the program reacts to a signal within two seconds
_PREFIX = 'mmadiff: '  # of the program's errors
_CLEAN, _MISMATCH, _USAGE, _ABSENT = 0, 1, 2, 4  # exit codes (docs/cli.md)
# The meaning of the other exit codes, for all verbs.
_MEANINGS = {
    3: 'internal error, or the device failed, or nothing was compared',
    5: 'damaged data, or answers that do not repeat',
    6: 'results could not be written',
    75: 'stopped early by a signal, a limit or a lost device'}
_versions: dict[str, str] = {}  # path: version of the program


class ProgramError(RuntimeError):
    """The program failed. The text is the program's own.

    exit_code: the program's; negative: the signal that killed it; None: it did not run
    command:   list of arguments
    stderr:    all that it wrote there
    result:    the results that it printed before it failed, as its --json, or None
    """

    def __init__(self, text: str, exit_code: int | None = None, command: Sequence[str] = (), stderr: str = '',
                 result: Any = None) -> None:
        super().__init__(text)
        self.exit_code, self.command, self.stderr, self.result = exit_code, list(command), stderr, result

    def __reduce__(self):
        return type(self), (str(self), self.exit_code, self.command, self.stderr, self.result)


class UsageError(ProgramError, ValueError):
    """A wrong flag, an unknown name, no such device."""


class MissingProgramError(ProgramError):
    """The program is not installed."""


class VersionError(ProgramError):
    """The program has a different version than the package."""


def find() -> str:
    """The path of the program: MMADIFF_PROGRAM, else beside this Python, else on the PATH."""
    named = os.environ.get('MMADIFF_PROGRAM')
    if named:
        path = shutil.which(os.path.abspath(named))
        if path is None:
            raise MissingProgramError(f'MMADIFF_PROGRAM={named} is not a program')
        return path
    for folder in (sysconfig.get_path('scripts'), os.path.dirname(sys.executable), None):
        path = shutil.which('mmadiff', path=folder)
        if path is not None:
            return os.path.abspath(path)
    raise MissingProgramError(
        'the program mmadiff is not installed: this package was built without it. In a checkout, '
        '`./mmadiff --version && pip install .` builds and adds it; or set MMADIFF_PROGRAM to a program of this version')


def _version_of(path):
    try:
        done = subprocess.run([path, '--version'], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors='replace', timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingProgramError(f'{path} does not run: {error}') from None
    match = re.match(r'mmadiff (\d\S*)', done.stdout)
    if match is None:
        raise VersionError(f'{path} is not mmadiff: `--version` printed {done.stdout[:100]!r}', done.returncode,
                           [path, '--version'], done.stderr)
    return match[1]


def checked() -> str:
    """The path of the program, which has the package's version."""
    path = find()
    if path not in _versions:
        _versions[path] = _version_of(path)
    if _versions[path] != VERSION:
        raise VersionError(
            f'{path} has version {_versions[path]}, but the Python package has version {VERSION}. Install both in one '
            f'version: `pip install mmadiff=={_versions[path]}`; or set MMADIFF_PROGRAM to one of version {VERSION}',
            command=[path, '--version'])
    return path


def flags(options: Mapping[str, Any]) -> list[str]:
    """Keyword arguments as flags: max_mismatches=0, dry_run=True, instr=['x86/*', 'arm/*'].

    >>> flags({'seed': 3, 'stats': True, 'out': None})
    ['--seed=3', '--stats']
    """
    texts = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        for one in value if isinstance(value, (list, tuple)) else [value]:
            texts.append(f'--{name}' if one is True else f'--{name}={one}')
    return texts


def _words_of(stderr):
    """The program's errors, without the prefix; else all that it wrote."""
    lines = stderr.strip().splitlines()
    said = [line.removeprefix(_PREFIX) for line in lines if line.startswith(_PREFIX)]
    return '\n'.join(said or lines)


def _error(code, command, stderr, result):
    kind = UsageError if code in (_USAGE, _ABSENT) else ProgramError
    meaning = f'killed by signal {-code}' if code < 0 else _MEANINGS.get(code)
    text = '\n'.join(filter(None, (_words_of(stderr), meaning and f'({meaning})')))
    return kind(text or f'the program ended with exit code {code}', code, command, stderr, result)


def stop(process: subprocess.Popen[bytes], number: int, seconds: float = _STOP_SECONDS) -> None:
    """Ends a process and waits for it: by the signal, after some seconds by SIGKILL."""
    try:
        process.send_signal(number)
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        pass
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def _read_errors(stream, lines, shown):
    for line in stream:
        text = line.decode(errors='replace')
        lines.append(text)
        if shown is not None:
            shown.write(text)
            shown.flush()


def _input(data):
    """A file with the bytes: unlike a pipe, it cannot block."""
    file = tempfile.TemporaryFile()
    file.write(data)
    file.seek(0)
    return file


@contextlib.contextmanager
def _lifeline():
    """A pipe that only this process writes: (end to read, for the program; function by which the program ends with us)."""
    read, write = os.pipe()

    def bind(process):
        # Even after SIGKILL the kernel closes the end to write, then sends this signal to the owner of the other end.
        fcntl.fcntl(read, fcntl.F_SETOWN, process.pid)
        fcntl.fcntl(read, fcntl.F_SETSIG, signal.SIGTERM)
        fcntl.fcntl(read, fcntl.F_SETFL, os.O_ASYNC)
    try:
        yield read, bind
    finally:
        os.close(read)
        os.close(write)


class Done:
    """How a run of the program ended."""

    def __init__(self, command: list[str], exit_code: int, stdout: bytes, stderr: str) -> None:
        self.command, self.exit_code, self.stdout, self.stderr = command, exit_code, stdout, stderr

    def error(self, result: Any = None) -> ProgramError | None:
        """The exception that the exit code means; None for results (exit codes 0 and 1)."""
        if self.exit_code in (_CLEAN, _MISMATCH):
            return None
        return _error(self.exit_code, self.command, self.stderr, result)


def run(arguments: Sequence[str], stdin: bytes | socket.socket = b'', progress: bool = False,
        started: Callable[[subprocess.Popen[bytes]], object] | None = None) -> Done:
    """Runs the program to its end, at the latest that of this process.

    stdin:    bytes, or a socket
    progress: shows the program's stderr on sys.stderr
    started:  called with the process, a subprocess.Popen, once it runs
    """
    command = [checked(), *arguments, *([] if progress else ['--quiet'])]
    with _lifeline() as (inherited, bind):
        with _input(stdin) if isinstance(stdin, bytes) else stdin as source:
            process = subprocess.Popen(command, stdin=source.fileno(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       pass_fds=[inherited])
        bind(process)
        return _finished(process, command, progress, started)


def _finished(process, command, progress, started):
    lines: list[str] = []
    reader = threading.Thread(target=_read_errors, daemon=True,
                              args=(process.stderr, lines, sys.stderr if progress else None))
    with process.stdout, process.stderr:
        try:
            reader.start()
            if started is not None:
                started(process)
            stdout = process.stdout.read()
            process.wait()
        except BaseException:
            stop(process, signal.SIGINT)
            raise
        finally:
            reader.join()
    return Done(command, process.returncode, stdout, ''.join(lines))
