#!/usr/bin/env bash
# The units of this folder give the answers of the model; languages without an installed tool are skipped.
# Usage: examples_test.sh MMADIFF
set -u
m=$(realpath "$1") here=$(cd "$(dirname "$0")" && pwd) tmp=$(mktemp -d) failures=0 began=0
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 2
has() { # TOOL NAME PACKAGE
  command -v "$1" >/dev/null || { echo "skipped: $2: no $1 ($3)"; false; }
}
ends() { # NAME CODE OUTPUT: a part
  if [ "$2" = 0 ]; then
    echo "$1, $((SECONDS - began)) s"
  else
    echo "FAILED: $1"; cat "$3"; failures=$((failures + 1))
  fi
  began=$SECONDS
}
agrees() { # NAME INSTRUCTION CASES DEVICE
  "$m" run --quiet --device="exec:$4,restart=never" --instr="$2" --cases="$3" --workdir="$1.run" >out 2>&1
  ends "$1: agrees" $? out
}
builds() { # NAME COMMAND...
  local code
  "${@:2}" >build 2>&1; code=$?
  ends "$1: builds" $code build
  return $code
}
hopper=sm_90/mma.m16n8k16.f32.f16.f16.f32 volta=sm_70/mma.m8n8k4.f32.f16.f16.f32
export MAKEFLAGS='OPT_FAST=-O0 OPT_GLOBAL=-O0'  # of Verilator, as OBJCACHE
if command -v ccache >/dev/null; then export OBJCACHE=ccache; fi
if has cc c 'Debian: gcc'; then
  builds c cc -O2 -o lines "$here/unit.c" && agrees c $hopper 300 ./lines
  builds c_binary cc -O2 -DBINARY -o binary "$here/unit.c" && agrees c_binary $hopper 300 ./binary,protocol=binary
fi
agrees python $hopper 100 "python3 $here/unit.py"
if has iverilog icarus 'Debian: iverilog'; then
  builds icarus iverilog -g2012 -s lines -o icarus "$here/unit.sv" && agrees icarus $volta 100 ./icarus
fi
if has verilator verilator 'Debian: verilator'; then
  builds verilator verilator --binary -Wno-fatal --top-module lines "$here/unit.sv" -o lines &&
    agrees verilator $volta 300 obj_dir/lines
  builds dpi verilator --binary -Wno-fatal --top-module dpi --Mdir dpi "$here/unit.sv" "$here/unit_dpi.sv" \
    "$here/binary.c" -o unit && agrees dpi $volta 300 dpi/unit,protocol=binary
fi
if ! python3 -c 'import cocotb' 2>/dev/null; then
  echo 'skipped: cocotb: no module cocotb (PyPI: cocotb)'
elif has iverilog cocotb 'Debian: iverilog'; then
  cp "$here/unit.sv" "$here/unit_cocotb.py" .  # it builds beside its file
  agrees cocotb $volta 50 'python3 unit_cocotb.py'
fi
exit $((failures > 0))
