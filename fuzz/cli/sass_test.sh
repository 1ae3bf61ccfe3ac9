#!/usr/bin/env bash
# sass:, scan and lowerings as a user meets them: what is refused, and the words for it. Scripts stand for the
# assembler and the disassembler; what needs the real ones is left out without them. Usage: sass_test.sh MMADIFF
set -u
m=$(realpath "$1")
. "$(dirname "$0")/../testing/expect.sh"
real=${MMADIFF_NVDISASM-}
fp8=sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32 f16=sm_90/mma.m16n8k16.f32.f16.f16.f32
printf '#!/bin/sh\necho V13.0.88\n' >ptxas
printf '#!/bin/sh\ncat "$3"\n' >nvdisasm  # a cubin is its own text
chmod +x ptxas nvdisasm
export MMADIFF_NVDISASM=$tmp/nvdisasm

# ---- Targets that are executed
for device in sass:arch=sm_70 sass:arch=sm_1; do
  expect 2 run --device=$device --instr=$f16; warns 'choose from: sm_75, '; lacks "$err" 'sm_70, '
done
expect 4 lowerings 'sm_70/*'; warns "no machine code of 'sm_70' is executed, only that of: sm_75, "

# ---- Cubins
printf '.target\tsm_90a\n.section\t.text.theirs,"ax"\n' >theirs.cubin
expect 4 run --device=sass:theirs.cubin --instr=$f16; warns 'not those of this project'; warns 'mmadiff scan'; is "$(wc -l <"$err")" 1
printf '.target\tsm_90a\n.section\t.text.mma_m16n8k16_f32_f16_f16_f32,"ax"\n' >ours.cubin
expect 4 run --device=sass:ours.cubin --instr=$fp8; warns 'has no kernel mma_m16n8k32'
expect 3 run --device=sass:ours.cubin --instr=$f16 --cases=5 --workdir=cubin
expect 3 run --device=sass:ours.cubin --instr=$f16 --cases=5 --workdir=cubin
echo >>ours.cubin
expect 2 run --device=sass:ours.cubin --instr=$f16 --cases=5 --workdir=cubin; warns contents

# ---- Files for scan
printf '#pragma once\n' | tee k.cuh k.cpp >k.txt; printf '\0' | tee k.o >k.cubin
expect 2 scan -; warns 'scan reads a file, not stdin: `cuobjdump -ptx'
expect 5 scan k.cuh; warns 'scan a .cu file that includes it'
expect 5 scan k.cpp; warns 'a name that ends in .cu'
expect 5 scan k.cubin; warns 'scan the PTX or CUDA C++ of which it was made'
expect 5 scan k.o; warns 'scan what `cuobjdump -ptx FILE` prints'
expect 5 scan k.txt; warns 'not PTX: it has no .version'

# ---- Lines of the source. This assembler assembles nothing.
mma="mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {d0,d1,d2,d3},{a0,a1,a2,a3},{b0,b1},{d0,d1,d3,d2};"
cat >lines.ptx <<END
.version 9.0
.target sm_90a
.entry k() {
.loc 1 6 3
.loc 2 9 5, function_name x, inlined_at 1 6 3
$mma
.loc 1 7 3
$mma
}
$mma
.file 1 "$(pwd -P)/k.cu"
.file 2 "/usr/h.cuh"
END
expect 2 scan lines.ptx --arch=sm_70; warns "no target 'sm_70'; choose from: sm_75, "
expect 4 scan lines.ptx --ptxas=./ptxas
says '  k.cu:6: mma.sync'; says '    PTX line 6, inlined from /usr/h.cuh:9'
says '  k.cu:7: mma.sync'; says '    PTX line 8'; says '    not tried, as PTX line 6'; says '  line 10: mma.sync'
expect 4 scan lines.ptx --ptxas=./ptxas --json
is "$(python3 -c 'import json; print([i["source"] for i in json.load(open("out"))["instructions"]])')" \
  "[['k.cu:6', '/usr/h.cuh:9'], ['k.cu:7'], []]"

# ---- With the real assembler, disassembler and compiler
export MMADIFF_NVDISASM=$real
[ -n "$real" ] || unset MMADIFF_NVDISASM
[[ $("$m" lowerings $f16 --cases=1 --tsv 2>/dev/null) = *"$f16"*low* ]] || { echo 'left out: no ptxas or nvdisasm'; ended; }
"$m" lowerings $f16,$fp8 --cases=1 --tsv >stored.tsv
expect 0 lowerings $f16,$fp8 --cases=1 --against=stored.tsv; lacks "$out" new:
digest=$(sed -n "s|^$fp8\t\([^\t]*\).*|\1|p" stored.tsv)
sed "/^${fp8//\//\\/}/s/$digest/other/" stored.tsv >other.tsv
expect 1 lowerings $f16,$fp8 --cases=1 --against=other.tsv; says "new: $fp8 $digest"; count '^new: ' 1
expect 1 minimize $fp8@g3:1:4 --device=sass:arch=sm_90a,overlap=c3d2 --workdir=minimized
says '  bucket     machine code'; says '  reason     with overlap=c3d2 alone, '; lacks "$out" unexplained:
says '  elsewhere  not reproduced by this dot product alone; other operands of the tile: B column 0 k=0: ff = '
expect 1 explain "$(grep -rl 'role: MINIMAL' minimized)"; says 'bucket machine code'; says 'other operands of the tile: B column 0 k=0'
nvcc=$(type -P nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
[ -n "$nvcc" ] || { echo 'left out: no nvcc'; ended; }
cat >call.cuh <<'END'
__device__ inline void Call(double& d, double& e, double a) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%2},{%1,%0};" : "+d"(d), "+d"(e) : "d"(a));
}
END
printf '#include "call.cuh"\n__global__ void k(double* d) {\n  Call(d[0], d[1], d[2]);\n}\n' >call.cu
expect 0 scan call.cu --arch=sm_90a --nvcc="$nvcc"; says '  call.cu:3: mma.sync'; says ', inlined from call.cuh:2'
ended
