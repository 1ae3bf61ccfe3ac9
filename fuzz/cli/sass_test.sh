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
expect 2 run --device=sass: --instr=$f16; warns 'write sass:arch=TARGET'
expect 2 lowerings $f16,sm_89/mma.m16n8k16.f32.f16.f16.f32; warns 'globs of two architectures: sm_89, sm_90; name one'
expect 4 lowerings 'sm_70/*'; warns "no machine code of 'sm_70' is executed, only that of: sm_75, "

# ---- Assemblers
export MMADIFF_PTXAS_CACHE=$tmp/cache
expect 4 lowerings $f16 --ptxas=11.8.89; warns 'no ptxas 11.8.89: `.ci/ptxas 11.8.89` downloads it'
expect 4 lowerings $f16 --ptxas=11.8; warns 'no ptxas 11.8: write all three numbers'
expect 4 lowerings $f16 --ptxas=newest; warns '`.ci/ptxas newest` downloads it and prints its path'
unset MMADIFF_PTXAS_CACHE
cat >rejecting <<'END'
#!/bin/sh
[ "$1" != --version ] || { echo V12.6.85; exit; }
for file; do :; done
echo "ptxas $file, line 24; error   : Unexpected instruction types specified for 'mma'"
echo 'ptxas fatal   : Ptx assembly aborted due to errors'
exit 1
END
chmod +x rejecting
expect 4 lowerings $f16 --ptxas=./rejecting; warns 'rejected by a version of ptxas: 1 instruction'
says "  ptxas 12.6.85 rejects it: Unexpected instruction types specified for 'mma'"
says '1 instruction: 1 rejected by a version'; lacks "$out" 'line 24'

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
touch a.cu b.cu
expect 2 scan a.cu b.cu --arch=sm_90a; warns 'scan takes one file; options of nvcc follow --'
printf '.version 9.0\n.target sm_90a\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d}, a, b, 1, 1, 1, 0, 0;\n' >wgmma.ptx
expect 0 scan wgmma.ptx; says ': 0 mma or wmma instructions; 1 wgmma instruction: not scanned'

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
says '3 mma or wmma instructions; 3 have an operand in a different register of D: 3 not tried'
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
says '2 instructions: 2 with one lowering; 1 new'; count "^$f16" 0
ptxas=$(type -P ptxas || echo /usr/local/cuda/bin/ptxas)
expect 1 lowerings $f16,$fp8 --cases=1 --against=other.tsv --ptxas="$ptxas",./rejecting; says ', 2 rejected by a version; 1 new'
# A disassembler that negates a term of each FADD stands for an assembler that does.
cat >negating <<END
#!/bin/sh
'${real:-$(type -P nvdisasm || echo "$(dirname "$ptxas")/nvdisasm")}' "\$@" | sed 's/\(FADD R[0-9]*, R[0-9]*, \)R/\1-R/'
END
chmod +x negating
export MMADIFF_NVDISASM=$tmp/negating
expect 1 lowerings $f16,$fp8 --cases=1 --ptxas="$ptxas" --against=stored.tsv; says '2 instructions: 2 with one lowering; 1 differing from the model; 1 new'
eval "expect 1 $(sed -n 's/^    explain: [^ ]* //p' "$out")"; says 'FADD'
[ -z "$real" ] && unset MMADIFF_NVDISASM || export MMADIFF_NVDISASM=$real
in_place='mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0,d1,d2,d3},{a0,a1,a2,a3},{b0,b1},{d0,d1,d2,d3};'
printf '.version 9.0\n.target sm_90a\n%s\n' "$in_place" >in_place.ptx
expect 0 scan in_place.ptx --cases=5; says ': 1 mma or wmma instruction; 1 accumulates in place: right; ptxas '; says ', sm_90a'
sed 's/{d0,d1,d2,d3};/{c0,c1,c2,c3};/' in_place.ptx >apart.ptx
expect 0 scan apart.ptx; says '; none has an operand in a register of D'; lacks "$out" ptxas
expect 1 minimize $fp8@g3:1:4 --device=sass:arch=sm_90a,overlap=c3d2 --workdir=minimized
says '  bucket     machine code'; says '  reason     with overlap=c3d2 alone, '; lacks "$out" unexplained:
says '  smallest   found '; lacks "$out" 'no change of one parameter'; lacks "$out" '`probe`'
says '  elsewhere  not reproduced by this dot product alone; other operands of the tile: B column 0 k=0: ff = '
expect 1 explain "$(grep -rl 'role: MINIMAL' minimized)"; says 'bucket: machine code'; says 'other operands of the tile: B column 0 k=0'
says 'reason: with overlap=c3d2 alone, '; lacks "$out" 'rules out'; lacks "$out" 'hange of one parameter'
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
