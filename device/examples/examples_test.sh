#!/usr/bin/env bash
# The units of this folder answer as the model does, each in the language whose tool is here.
# Usage: examples_test.sh MMADIFF
set -u
m=$(realpath "$1") here=$(cd "$(dirname "$0")" && pwd) tmp=$(mktemp -d) failures=0
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 2
agrees() { # NAME INSTRUCTION COMMAND
  if "$m" run --quiet --device="exec:$3,restart=never" --instr="$2" --cases=300 --workdir="$1" >out 2>&1; then
    echo "$1: agrees"
  else
    echo "FAILED: $1"; cat out; failures=$((failures + 1))
  fi
}
hopper=sm_90/mma.m16n8k16.f32.f16.f16.f32
cc -O2 -o unit "$here/unit.c" && agrees c $hopper ./unit
agrees python $hopper "python3 $here/unit.py"
if command -v verilator >/dev/null; then
  verilator --binary -Wno-fatal --top-module lines "$here/unit.sv" -o unit >build 2>&1 || cat build
  agrees systemverilog sm_70/mma.m8n8k4.f32.f16.f16.f32 obj_dir/unit
else
  echo "skipped: systemverilog: no verilator (Debian: verilator)"
fi
exit $((failures > 0))
