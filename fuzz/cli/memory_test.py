#!/usr/bin/env python3
"""A long run costs no more memory than a short one: the peak of resident memory of a run of 10^12 cases of every
instruction that ends before its first unit (its report is no pass: 3), and of what reads its folder. Usage:
memory_test.py MMADIFF"""
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
MOST = 300e6  # bytes; twenty times what it takes without sanitizers
RUN = ['run', '--device=faulty:none=0', '--instr=*', '--cases=1e12', '--max_total_time=0', '--workdir=long']
LINES = [(RUN, 75), (['status', 'long'], 0), (['report', 'long', '--out=page.html'], 3), (['merge', 'whole', 'long'], 0),
         (['coverage', '--instr=x86/vpdpbusd', '--cases=1e12'], 0)]
failures = 0
with tempfile.TemporaryDirectory() as folder:
    for line, wanted in LINES:
        child = subprocess.Popen([PROGRAM, *line], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        code, peak = os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024
        print(f'{peak / 1e6:6.1f} MB  {" ".join(line)}')
        if code != wanted or peak > MOST:
            failures += 1
            print(f'FAILED: exit code {code}, not {wanted}, or more than {MOST / 1e6} MB')
print(f'{failures} failures')
sys.exit(1 if failures else 0)
