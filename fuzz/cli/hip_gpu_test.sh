#!/usr/bin/env bash
# Runs on a library that stands for HIP and an AMD GPU (FAKE_HIP_*, see device/hip/testing/fake_driver.cc):
# counts and digests as on the host path, planted parameters found, each failure with its exit code.
# Usage: hip_gpu_test.sh MMADIFF_ON_FAKE_GPU
set -u
m=$(realpath "$1")
MMADIFF_ROOT=$(realpath "$(dirname "$0")/../..")
. "$(dirname "$0")/../testing/expect.sh"
export MMADIFF_ROOT MMADIFF_LIBHIP= MMADIFF_LIBCUDA=/none/libcuda.so NO_COLOR=
f16=gfx942/v_mfma_f32_16x16x16_f16

# ---- Failures, with and without machine code in the program
expect_text 4 'no HIP run time found.*install ROCm' MMADIFF_LIBHIP=/none/libamdhip64.so -- run --device=hip:0 --instr=$f16
expect_text 4 'HIP error 100' FAKE_HIP_GPUS=0 -- run --device=hip:0 --instr=$f16
expect_text 4 'no GPU 1; GPUs found: 1' -- run --device=hip:1 --instr=$f16
expect_text 4 'this GPU is gfx906; there are kernels for gfx908' FAKE_HIP_TARGET=gfx906 -- run --device=hip:0 --instr=$f16
[ -e /dev/kfd ] || expect_text 4 'error 100.*; /dev/kfd does not exist: there is no AMD GPU' FAKE_HIP_GPUS=0 -- run --device=hip:0 --instr=$f16
expect_text 2 'denorm=flush, denorm16=flush, round=up' -- run --device=hip:0,x=1 --instr=$f16
expect_text 0 'hip:N .*HIP error 100' FAKE_HIP_GPUS=0 -- list devices
if ! "$m" probe --device=hip:0 --instr=$f16 --question=layout >"$out" 2>&1; then
  grep -q 'no machine code for gfx942' "$out" || fail "the first question"
  if [ $failures = 0 ]; then
    echo "SKIPPED: no compiler here made machine code for AMD, and there is no code object manager"
    exit 77
  fi
  exit 1
fi
expect_text 3 'memory is full' FAKE_HIP_FAILS=hipMalloc FAKE_HIP_RESULT=2 -- run --device=hip:0 --instr=$f16 --cases=20
expect_text 75 'HIP error 719.*run the same command again' FAKE_HIP_FAILS=hipDeviceSynchronize FAKE_HIP_AFTER=50 \
  -- run --device=hip:0 --instr=$f16,gfx942/v_mfma_f32_32x32x8_f16 --cases=200 --workdir=lost
# Another GPU of that kind goes on: both are named.
expect_text 0 'hardware: GPU-090a' FAKE_HIP_UUID=9 -- run --device=hip:0 --instr=$f16,gfx942/v_mfma_f32_32x32x8_f16 --cases=200 --workdir=lost
grep -q 'hardware: GPU-0102' "$out" || fail "the first GPU is not named"
# After these the process can do nothing more on the GPU, at once and later.
for error in 214 700 702 710 719 999; do
  advice="HIP error $error.*run the same command again.*dmesg .amdgpu. and rocm-smi"
  failing=(FAKE_HIP_FAILS=hipDeviceSynchronize FAKE_HIP_RESULT=$error)
  expect_text 3 "$advice" "${failing[@]}" -- run --device=hip:0 --instr=$f16 --cases=20 --workdir=first$error
  expect_text 75 "$advice" "${failing[@]}" FAKE_HIP_AFTER=40 FAKE_NO_RESIDENT=1 -- run --device=hip:0 --instr=$f16 --cases=2000 --threads=1 --workdir=lost$error
done
expect_text 75 'memory is full: check rocm-smi' FAKE_HIP_FAILS=hipMalloc FAKE_HIP_RESULT=2 FAKE_HIP_AFTER=90 FAKE_NO_RESIDENT=1 \
  -- run --device=hip:0 --instr=$f16 --cases=2000 --threads=1 --workdir=full
without=(FAKE_HIP_TARGET=gfx950 MMADIFF_LIBCOMGR=/none/libamd_comgr.so)
if ! env "${without[@]}" "$m" list devices | grep -q '^hip:N.*machine code of'; then
  expect_text 4 'no machine code for gfx950.*install ROCm' "${without[@]}" -- run --device=hip:0 --instr=$f16
fi
expect_text 3 'dropped .*: .*the layout differs from the tables' FAKE_HIP_SWAPS=B FAKE_HIP_OF=16x16x16_f16 -- \
  run --device=hip:0 --instr=$f16,gfx942/v_mfma_f32_32x32x8_f16 --cases=20
expect_text 3 'dropped .*different device bits' FAKE_HIP_FAULT=once -- run --device=hip:0 --instr=$f16 --cases=300

# A kernel that never returns: the time is over, or a signal comes.
hang='running (on the GPU|the kernel v_mfma_f32_16x16x16_f16): not finished after 1s .MMADIFF_GPU_TIMEOUT.*run the same command again'
for verb in run 'record hangs' 'probe --question=width'; do
  expect_text '3|75' "$hang" FAKE_HIP_FAULT=hang MMADIFF_GPU_TIMEOUT=1 -- $verb --device=hip:0 --instr=$f16
done
expect_text 2 "MMADIFF_GPU_TIMEOUT: 'no' is not a number of seconds" MMADIFF_GPU_TIMEOUT=no -- run --device=hip:0 --instr=$f16
FAKE_HIP_FAULT=hang "$m" run --device=hip:0 --instr=$f16 --cases=20 --workdir=hangs >"$out" 2>&1 &
until [ -e hangs ] || ! kill -0 $! 2>/dev/null; do sleep 0.1; done
kill -TERM $!
wait $!
got=$?
[ $got = 75 ] && grep -q 'not finished after .*, although a stop was requested' "$out" || fail "exit code $got of a kernel that never returns"

# ---- Counts and digests as the host path has them; what has no model is compared with itself.
digest() { grep -E '^stat::(digest|dot_products|mismatches):' "$out"; }
counts() { grep '^stat::' "$out" | grep -v second; }
expect_text 0 'stat::mismatches: 0' -- run --device=hip:0 --instr='gfx942/*mf*' --cases=20 --seed=3
digest >hip.txt
expect_text 0 'this build has no kernels' FAKE_NO_RESIDENT=1 -- run --instr=$f16 --cases=20
expect_text 0 'stat::mismatches: 0' -- run --device=faulty:none=0 --instr='gfx942/*mf*' --cases=20 --seed=3
digest | diff - hip.txt || fail "another digest"
[ "$(wc -l <hip.txt)" = 3 ] || fail "no digest"
counted='run --device=hip:0 --instr=gfx942/*mf* --cases=20 --seed=3'
expect_text 0 'mismatches: 0' -- $counted
! grep -q 'compared on the host' "$out" || fail "not resident"
counts >resident.txt
expect_text 0 'compared on the host, which is slow: this build has no kernels' FAKE_NO_RESIDENT=1 -- $counted
counts | diff - resident.txt || fail "other counts"
[ "$(wc -l <resident.txt)" -gt 20 ] || fail "no counts"
expect_text 0 'stat::mismatches: 0' FAKE_HIP_TARGET=gfx90a -- run --device=auto --instr='gfx90a/*mf*' --cases=20 --seed=3
digest >hip.txt
expect_text 0 'stat::mismatches: 0' -- run --device=faulty:none=0 --instr='gfx90a/*mf*' --cases=20 --seed=3
digest | diff - hip.txt || fail "another digest of gfx90a"
expect_text 5 'the GPU generated 0 cases|operands on the GPU differ' FAKE_HIP_FAULT=generate_nothing -- \
  run --device=hip:0 --instr=$f16 --cases=200
expect_text 0 'Fake, 14 compute units' -- list devices
expect_text 0 'stat::mismatches: 0' -- run --device=hip:0 --instr='gfx942/*smfmac*' --cases=20 --seed=3
digest >hip.txt
expect_text 0 'stat::mismatches: 0' -- run --device=faulty:none=0 --instr='gfx942/*smfmac*' --cases=20 --seed=3
digest | diff - hip.txt || fail "another digest of sparse instructions"
expect_text 4 'without a model|no model' FAKE_HIP_TARGET=gfx1200 -- run --device=hip:0 --instr='gfx1200/v_wmma*fp8_fp8'
expect_text 5 'wrote no result in execution . of .*, word' FAKE_HIP_FAULT=partly -- record partly --device=hip:0 --instr=gfx942/v_smfmac_f32_16x16x32_f16 --cases=8
expect_text 0 'answers? agree|agrees' -- probe --device=hip:0 --instr='gfx942/v_smfmac_f32_16x16x32_f16' --question=layout,repeat

# ---- Of a sparse instruction A is sparse, whatever is asked; a recording of another one is damaged.
sparse=gfx942/v_smfmac_f32_16x16x32_f16
expect_text 0 'stat::contradictions: 0|agree' -- probe --device=hip:0 --instr=$sparse --all --max_total_time=0
expect_text 0 '1 instruction, ' -- record sparse --device=hip:0 --instr=$sparse --cases=8 --max_total_time=0
expect_text 0 'dot products, ' -- record sparse.log --device=hip:0 --instr=$sparse --cases=8
{ echo "# instruction: $sparse"; printf ' 3c00%.0s' {1..64}; echo " 00000000 42000000"; } >dense.txt
for device in '' --device=hip:0; do
  expect_text 5 'dense.txt:2: v_smfmac_f32_16x16x32_f16 is sparse: at most two .* too many differ: a0 to a3' -- replay dense.txt $device
done

# ---- Planted parameters of CDNA3 are the answers of its questions.
plant() { # PARAMETER=VALUE INSTRUCTION
  expect_text 1 "model +$1|$1" FAKE_HIP_PLANTS="$1" -- probe --device=hip:0 --instr="gfx942/$2" --all --max_total_time=0
}
plant fraction_bits=23 v_mfma_f32_16x16x16_f16
plant terms=4 v_mfma_f32_16x16x16_f16
plant zero_term=raises v_mfma_f32_16x16x16_f16
plant order=descending v_mfma_f64_4x4x4_4b_f64
expect_text 1 'fraction_bits=23' FAKE_HIP_PLANTS=fraction_bits=23 -- run --device=hip:0 --instr=$f16 --cases=200

ended
