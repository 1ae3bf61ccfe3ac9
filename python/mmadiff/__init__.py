"""The bits of matrix instructions of NVIDIA, AMD, Intel and Arm.

    import mmadiff as mm
    mm.rows('sm_90/wgmma*')                                  # instructions, with evidence
    mm.Row('sm_90/mma.m16n8k16.f32.f16.f16.f32')(a, b, c)    # one of them, on arrays
    mm.Plan('sm_90/wgmma.m64n8k16.f32.f16.f16 | f16')(a, b)  # a whole matrix product
    mm.plan_of(a, b, d)                                      # how did a kernel add?
    mm.infer(function, 'f16,f16,f32,f32', k=16)              # what does a black box compute?

The functions below `infer` ask the program `mmadiff`, which wheels hold; the others need nothing but this package.
"""
from typing import TYPE_CHECKING, Any

from . import _core
from .comparisons import Errors, ErrorTable, Race, convert, error, exact, race
from .differences import assert_same_bits
from .elements import Trace, trace, witnesses
from .kernels import KernelPlans, plans_of
from .packing import pack, unpack
from .plans import FoundPlans, Plan, plan_of
from .rows import Row, Rows, rows
from .version import VERSION as __version__

if _core.version != __version__:
    raise ImportError(f'mmadiff {__version__} found a compiled module of version {_core.version}: install it again')

# Loaded when they are first used.
_LATER = {
    'copy': 'copies',
    'Layer': 'log', 'read_log': 'log', 'write_log': 'log', 'ask': 'questions', 'check': 'questions', 'explain': 'questions', 'generate': 'questions', 'identify': 'questions',
    'infer': 'questions', 'probe': 'questions', 'run': 'questions', 'FunctionTimeoutError': 'questions',
    'ProgramError': 'program', 'UsageError': 'program', 'MissingProgramError': 'program', 'VersionError': 'program',
    'Result': 'result', 'Record': 'result'}
if TYPE_CHECKING:
    from .copies import copy
    from .log import Layer, read_log, write_log
    from .program import MissingProgramError, ProgramError, UsageError, VersionError
    from .questions import FunctionTimeoutError, ask, check, explain, generate, identify, infer, probe, run
    from .result import Record, Result

__all__ = [  # written out, for type checkers
    'ErrorTable', 'Errors', 'FoundPlans', 'FunctionTimeoutError', 'KernelPlans', 'Layer', 'MissingProgramError', 'Plan',
    'ProgramError', 'Race',
    'Record', 'Result', 'Row', 'Rows', 'Trace', 'UsageError', 'VersionError', 'ask', 'assert_same_bits', 'check', 'convert', 'copy', 'error',
    'exact', 'explain',
    'generate', 'identify', 'infer', 'pack', 'plan_of', 'plans_of', 'probe', 'race', 'read_log', 'rows', 'run',
    'trace', 'unpack', 'witnesses', 'write_log']


def __getattr__(name: str) -> Any:
    if name in _LATER:
        import importlib
        return getattr(importlib.import_module(f'.{_LATER[name]}', __name__), name)
    raise AttributeError(f"module 'mmadiff' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith('__'))])
