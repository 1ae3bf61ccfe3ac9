#!/usr/bin/env python3
"""The unit of unit.sv, driven by cocotb (PyPI) in Icarus (Debian: iverilog) or another simulator that SIM names:
  ./mmadiff run --device='exec:python3 device/examples/unit_cocotb.py,restart=never' --instr=sm_70/mma.m8n8k4.f32.f16.f16.f32
"""
import fcntl
import os
import pathlib

import cocotb
from cocotb.triggers import Timer


def pack(words):
    return sum(word << 16 * i for i, word in enumerate(words))


def digit(bits):
    return f'{int(bits, 2):x}' if set(bits) <= {'0', '1'} else 'x'


@cocotb.test()
async def lines(dut):
    """Reads one dot product per line from stdin and writes its result to ANSWERS."""
    with open(os.environ['ANSWERS'], 'w', buffering=1) as answers, open(0) as questions:
        for line in questions:
            words = [int(word, 16) for word in line.split()]
            dut.a.value, dut.b.value, dut.c.value = pack(words[:4]), pack(words[4:8]), words[8]
            await Timer(1, 'step')
            d = str(dut.d.value)
            print(line.rstrip(), ''.join(digit(d[i:i + 4]) for i in range(0, len(d), 4)), file=answers)


if __name__ == '__main__':
    try:
        from cocotb_tools.runner import get_runner
    except ImportError:  # before cocotb 2
        from cocotb.runner import get_runner
    # The simulator prints to stdout and inherits nothing else: its stdout is redirected to stderr, and the pipe to mmadiff is passed by name.
    os.environ['ANSWERS'] = f'/proc/{os.getpid()}/fd/{os.dup(1)}'
    os.dup2(2, 1)
    here = pathlib.Path(__file__).resolve()
    design, build = here.with_name('unit.sv'), here.with_suffix('.build')
    build.mkdir(exist_ok=True)
    runner = get_runner(os.environ.get('SIM', 'icarus'))
    with open(build / 'lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one process builds, the others reuse the build
        runner.build(sources=[design], hdl_toplevel='unit', build_dir=build)
    runner.test(hdl_toplevel='unit', test_module=here.stem, build_dir=build)
