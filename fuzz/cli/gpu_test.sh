#!/usr/bin/env bash
# Runs on a driver that stands for a GPU and goes wrong as FAKE_CUDA_FAULT says (FAKE_CUDA_*, see
# device/cuda/testing/fake_driver.cc): the exit code, what is said, and never a false pass.
# Usage: gpu_test.sh MMADIFF_ON_FAKE_GPU
set -u
m=$(realpath "$1")
vectors=$(realpath "$(dirname "$0")/../../corpus/vectors")
. "$(dirname "$0")/../testing/expect.sh"
export MMADIFF_LIBCUDA=
f16=sm_90/mma.m16n8k16.f32.f16.f16.f32
five=$f16,sm_90/mma.m16n8k8.f32.f16.f16.f32,sm_90/mma.m16n8k8.f32.tf32.tf32.f32
five+=,sm_90/mma.m8n8k4.f64.f64.f64.f64,sm_90/mma.m16n8k32.s32.s8.s8.s32
run() { local code=$1 text=$2; shift 2; expect_text "$code" "$text" "$@" --cases=300 --seed=$((++seed)); }
seed=0
gpu=(-- run --device=cuda:0)

run 0 'hardware: GPU-0102.* at PCI 0000:17:00.0, 14 of 14 multiprocessors answered' \
  "${gpu[@]}" --instr=$f16
run 0 'stat::dropped: 0' "${gpu[@]}" --instr=$five

# Results that are wrong, or not there, and do not repeat.
for fault in '5:large:but not when it was repeated' '5:once:flagged, on multiprocessors 1' \
  '3:multiprocessor:the layout differs' '5:unwritten_d:wrote no result' \
  '5:generate_part:operands on the GPU|the GPU generated' '5:compare_part:words, not' '5:counters:compared 0 words'; do
  run ${fault%%:*} "${fault##*:}" FAKE_CUDA_FAULT="$(cut -d: -f2 <<<"$fault")" "${gpu[@]}" --instr=$f16
  ! grep -q 'mismatches: 0' "$out" || ! grep -q '^stat::digest' "$out" || fail "a false pass with $fault"
done

# What the kernels cost; nothing is measured of kernels that do not give what they must.
bench=(-- bench --device=cuda:0 --instr=$f16,x86/vdpbf16ps --rounds=1 --time=0)
expect_text 4 '^instruction +generate +fill +execute +compare +trace +all' "${bench[@]}"
expect_text 4 '"compare": [0-9.e-]+,' "${bench[@]}" --json
expect_text 5 'words, not' FAKE_CUDA_FAULT=compare_part "${bench[@]}"
expect_text 4 '^x86/vdpbf16ps' FAKE_NO_RESIDENT=1 "${bench[@]}"
! grep -q generate.*trace "$out" || fail 'costs of no kernels'

# One wrong row of five: the others go on. First its layout, then its later launches.
for verb in "run --cases=200" "probe --question=width" \
  "record rec.log --cases=8"; do
  expect_text 3 'dropped .*k8.f32.f16.f16.f32: .*the layout differs from the tables' \
    FAKE_CUDA_SWAPS=A FAKE_CUDA_OF=m16n8k8.f32.f16 -- $verb --device=cuda:0 --instr=$five
done
expect_text 3 'stat::dropped: 1' FAKE_CUDA_SWAPS=B FAKE_CUDA_OF=m16n8k8.f32.f16 \
  -- run --device=cuda:0 --instr=$five --cases=200 --workdir=five
count 'rate < ' 4
expect_text 0 '([0-9]+) of \1 dot products equal' -- replay rec.log
expect_text 3 'layout .*not as the tables say' FAKE_CUDA_SWAPS=A FAKE_CUDA_OF=m16n8k8.f32.f16 \
  -- probe --device=cuda:0 --question=layout --instr=$five
# `replay`: cases, lines, digests and vectors of the row are left out, once said; the others count.
two=sm_90/mma.m16n8k8.f32.f16.f16.f32,sm_90/mma.m16n8k32.s32.s8.s8.s32
expect_text 0 'instructions, ' -- record rec --device=cuda:0 --instr=$two --cases=8 --max_total_time=0
for subject in "$vectors" rec rec/regressions.txt; do
  expect_text 3 '^([0-9]+) of \1 dot products equal.*, instructions dropped: [1-9]' FAKE_CUDA_SWAPS=A \
    FAKE_CUDA_OF=m16n8k8.f32.f16 -- replay "$subject" --device=cuda:0
  count 'dropped sm_90/mma.m16n8k8.f32.f16.f16.f32' 1
done
run 3 'dropped .*k8.f32.f16.f16.f32: ' FAKE_CUDA_FAULT=alternating \
  FAKE_CUDA_OF=m16n8k8.f32.f16 "${gpu[@]}" --instr=$five

# A GPU that does not open: "auto" is the host then, and says why.
fma=x86/vfmadd231ss
for result in 803 100 999; do
  why="no GPU is used; .*CUDA error $result"
  broken=(FAKE_CUDA_FAILS=cuInit FAKE_CUDA_RESULT=$result)
  expect_text 0 "$why" "${broken[@]}" -- run --instr=$fma --cases=10 --workdir=broken$result
  count "$why" 1
  expect_text 4 "$why" "${broken[@]}" -- run --instr=$f16 --cases=10
  expect_text 0 "$why" "${broken[@]}" -- run --instr=$fma --dry_run
  expect_text 0 "$why" "${broken[@]}" -- record broken$result.log --instr=$fma --cases=10
  expect_text 0 "$why" "${broken[@]}" -- replay $fma@g3:1:0
  expect_text 0 "$why" "${broken[@]}" -- probe --question=nan --instr=$fma
  expect_text 0 "$why" "${broken[@]}" -- explain $fma@g3:1:0
  expect_text 0 "$why" "${broken[@]}" -- minimize $fma@g3:1:0
  expect_text 0 "$why" "${broken[@]}" -- eval $fma --device=auto </dev/null
done
: >empty.so
expect_text 0 'no GPU is used; ' MMADIFF_LIBCUDA=./empty.so -- explain $fma@g3:1:0
# Without a driver there is nothing to say.
for verb in "run --instr=$fma --dry_run" "explain $fma@g3:1:0"; do
  expect_text 0 '.' MMADIFF_LIBCUDA=/none/libcuda.so.1 -- $verb
  lacks "$out" 'no GPU'
done

# Errors after which the process can do nothing more on the GPU, at once and later.
for error in 214 220 226 700 710 714 715 716 717 718 719 721 999; do
  run 3 "CUDA error $error.*run the same command again" FAKE_CUDA_FAILS=cuCtxSynchronize \
    FAKE_CUDA_RESULT=$error "${gpu[@]}" --instr=$f16
done
for error in 214 226 700 719 721 702; do
  expect_text 75 "CUDA error $error" FAKE_CUDA_FAILS=cuCtxSynchronize FAKE_CUDA_RESULT=$error \
    FAKE_CUDA_AFTER=75 -- run --device=cuda:0 --instr=$five --cases=200 --workdir=after$error
done
expect_text 75 'allocating .*CUDA error 2' FAKE_CUDA_FAILS=cuMemAlloc_v2 FAKE_CUDA_RESULT=2 \
  FAKE_CUDA_AFTER=240 -- run --device=cuda:0 --instr=$five --cases=200 --workdir=memory

ended
