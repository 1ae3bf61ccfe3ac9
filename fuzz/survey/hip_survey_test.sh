#!/usr/bin/env bash
# Surveys on the library that stands for HIP (device/hip/testing/fake_driver.cc) and for GPUs of three
# architectures: dense, sparse and unknown rows, one that is laid out otherwise, one that computes
# otherwise.
# Usage: hip_survey_test.sh MMADIFF MMADIFF_ON_FAKE_GPU
set -u
m=$(realpath "$2") plain=$(realpath "$1") device=hip:0 survey_flags=--cases=50
MMADIFF_ROOT=$(realpath "$(dirname "$0")/../..")
. "$(dirname "$0")/../testing/expect.sh"
export MMADIFF_ROOT MMADIFF_LIBHIP= MMADIFF_LIBCUDA=/none/libcuda.so
# replayed CODE FOLDER [ARGUMENT...]: the folder held against the models, or against a device.
replayed() {
  local code=$1 got
  shift
  "$m" replay "$@" >replayed.txt 2>&1
  got=$?
  [ $got = "$code" ] || fail "replay $* gives $got, not $code: $(tail -n 3 replayed.txt)"
}

f16=gfx942/v_mfma_f32_16x16x16_f16
f64=gfx942/v_mfma_f64_4x4x4_4b_f64
fp8=gfx942/v_mfma_f32_16x16x32_fp8_fp8
i8=gfx942/v_mfma_i32_16x16x32_i8
sparse=gfx942/v_smfmac_f32_16x16x32_f16

# has_kernels TARGET INSTRUCTION: else no compiler here knows the target, nor the code object manager.
has_kernels() {
  FAKE_HIP_TARGET=$1 "$m" probe --device=hip:0 --instr="$2" --question=layout >"$out" 2>&1 && return
  grep -q "no machine code for $1" "$out" || fail "the first question: $(cat "$out")"
  echo "SKIPPED: no machine code for $1"
  return 1
}
has_kernels gfx942 $f16 || exit $((failures > 0 ? 1 : 77))

# All is right: models agree.
surveyed 0 -- good --instr=$f16,$f64,$fp8,$i8,$sparse
count '^None\.$' 1
count '^\| gfx942/v_mfma.* \| agrees \| agrees \| all [0-9]+ agree \| .* \| 0 of .* \| yes \|$' 4
count "^. $sparse . agrees . agrees . all [0-9]+ agree . .* . 0 of .* . yes .$" 1
replayed 0 good
replayed 0 good --device=hip:0

# One row is laid out otherwise, one computes otherwise; the others are as before.
surveyed 3 FAKE_HIP_SWAPS=B FAKE_HIP_OF=i32_16x16x32_i8 -- mislaid --instr=$f16,$i8,$sparse
count "^\* \*\*$i8\*\*: different layout: " 1
count '^\| gfx942/v_mfma_f32.* \| 0 of .* \| yes \|$' 1
surveyed 3 FAKE_HIP_SWAPS=k FAKE_HIP_OF=smfmac -- positions --instr=$f16,$sparse
count "^\* \*\*$sparse\*\*: different layout: " 1
surveyed 1 FAKE_HIP_PLANTS=fraction_bits=23 FAKE_HIP_OF=16x16x16_f16 -- planted --instr=$f16,$f64
count "^\* \*\*$f16\*\*: .*fraction_bits=23" 1
count '^\| gfx942/v_mfma_f64.* \| 0 of .* \| yes \|$' 1
replayed 1 planted
grep 'MISMATCH' replayed.txt | grep -qv "$f16" && fail "replay refutes another row"
"$plain" survey --compare good planted >differ.txt 2>&1
[ $? = 1 ] || fail "the two surveys do not differ: $(cat differ.txt)"

# A kernel that never ends: the page names the row, and the GPU by its place.
for seconds in 3 12 48 192; do  # whether the other row has the time depends on the machine
  rm -rf hangs
  surveyed 3 FAKE_HIP_FAULT=hang FAKE_HIP_OF=4x4x4 -- hangs --instr=$i8,$f64 --timeout=${seconds}s
  if grep -q "^. $i8 .* . 0 of .* . yes .$" "$out"; then break; fi
done
count "^\* \*\*$f64\*\*: hangs in layout: .*not finished after [0-9ms]*.*; on one execution" 1
count '^Device `hip:0`, GPU-0102.* at PCI 0000:c1:00.0, ' 1
count "^. $i8 .* . 0 of .* . yes .$" 1

# Rows that nobody has a model of, of other architectures.
unknown() { # TARGET INSTRUCTION
  has_kernels "$1" "$1/$2" || return
  surveyed 3 FAKE_HIP_TARGET="$1" -- "$1" --instr="$1/$2"
  count "^. $1/$2 . agrees . agrees . no model; 1[0-9] open answers below . - . - . - . yes .$" 1
  count '^## Open answers of rows without a model$' 1
  count '^\* steps: .*supposed' 1
  count '^\* modes: .* change none of 10[0-9]+: reads none of them$' 1
  replayed 3 "$1" # nothing was compared
}
unknown gfx950 v_mfma_f32_16x16x32_bf16

ended
