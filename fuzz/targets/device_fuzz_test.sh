#!/usr/bin/env bash
# The two targets over dot products: what differs is filed, what fails says so in one line; and under
# libFuzzer, if the build has it, what bins and merges do.
# Usage: device_fuzz_test.sh FOLDER_OF_TARGETS MMADIFF
set -u
targets=$(realpath "$1") mmadiff=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd) work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
fail() { echo "FAILED: $1"; echo "${out-}" | head -20; failures=$((failures + 1)); }
export MMADIFF_INSTR=sm_90/mma.m16n8k16.f32.f16.f16.f32 MMADIFF_FINDINGS=$work
seeds=$here/seeds
libfuzzer=$("$targets/device_fuzz" -help=1 2>&1 | grep -c 'To run fuzzing pass')
more=() && [ "$libfuzzer" = 0 ] || { mkdir new; more=(-runs=2000 -seed=1 new); }  # new inputs go to the first folder
# answers DEVICE: what device_fuzz says of it, and its exit code.
answers() { out=$(MMADIFF_DEVICE=$1 "$targets/device_fuzz" "${more[@]}" "$seeds/device" 2>&1); code=$?; }

answers faulty:none=0
[ $code = 0 ] || fail "a device that does not differ: exit $code"
for device in faulty:fraction_bits=24 "exec:$mmadiff eval $MMADIFF_INSTR --device=faulty:output_rounding=nearest_even"; do
  answers "$device"
  filed=$(sed -n 's/^filed \(.*\), by input [1-9][0-9]* of its model$/\1/p' <<<"$out")
  [ $code != 0 ] && [ -s "$filed" ] || { fail "$device: exit $code, filed '$filed'"; continue; }
  out=$("$mmadiff" replay "$filed" 2>&1)
  [ $? = 1 ] && grep -q '^MISMATCH' <<<"$out" || fail "replay of what $device did"
  out=$("$mmadiff" explain "$filed" 2>&1)
  [ $? = 1 ] && grep -q '^result of model' <<<"$out" || fail "explain of what $device did"
done
# gives DEVICE CODE TEXT: ends with the code, and one line of mmadiff with the text.
gives() {
  answers "$1"
  [ $code = "$2" ] && [ "$(grep -c '^mmadiff: ' <<<"$out")" = 1 ] && grep -q "^mmadiff: .*$3" <<<"$out" ||
    fail "$1: exit $code, wanted $2 and '$3'"
}
gives nonsense 2 nonsense
gives host 4 sm_90
gives faulty:dead=5 75 dead
gives faulty:flaky_bit=3 5 'do not repeat'
gives exec:true 5 "answered with 0 lines"
gives exec:cat 5 cat
MMADIFF_INSTR=nosuch gives faulty:none=0 2 nosuch
MMADIFF_FINDINGS=/dev/null gives faulty:fraction_bits=24 2 /dev/null

# What is counted, and that counting ends when all is found.
for target in dot_product device; do
  out=$("$targets/${target}_fuzz" "${more[@]}" "$seeds/$target" 2>&1)
  grep -Eq '^bins of sm_90.*: [0-9]+ thin, the last filled by input [1-9]' <<<"$out" || fail "$target: bins"
  grep -q '^neighbours' <<<"$out" && fail "$target: neighbours, not asked for"
done
export MMADIFF_INSTR=x86/vfmadd231ss
all=() && [ "$libfuzzer" = 0 ] || all=(-seed=1 -runs=200000 new)
out=$(MMADIFF_COUNT=1 "$targets/dot_product_fuzz" "${all[@]}" "$seeds/dot_product" "$seeds/device" 2>&1)
code=$?
grep -Eq '^neighbors of x86.*: 0 not found, the last found by input [1-9]' <<<"$out" ||
  fail "all neighbours of a small model: exit $code"

[ "$libfuzzer" = 0 ] && { [ $failures = 0 ]; exit; }
export MMADIFF_INSTR=sm_90/mma.m16n8k16.f32.f16.f16.f32
reached() { sed -n 's/^bins: \([0-9]*\) of .*/\1/p' <<<"$out"; }
for corpus in 1 2; do
  mkdir $corpus
  "$targets/dot_product_fuzz" -seed=$corpus -runs=1000 $corpus >/dev/null 2>&1
done
run() { out=$("$targets/dot_product_fuzz" "$@" 2>&1); }
run -runs=0 1 2
before=$(reached) with=$(sed -n 's/.*INITED.* ft: \([0-9]*\) .*/\1/p' <<<"$out")
MMADIFF_BINS=0 run -runs=0 1 2
without=$(sed -n 's/.*INITED.* ft: \([0-9]*\) .*/\1/p' <<<"$out")
[ "$((with - without))" = "$before" ] ||
  fail "of $with features $without are code; $before bins"
mkdir merged code
run -merge=1 merged 1 2
run -runs=0 merged
[ "$(reached)" = "$before" ] || fail "$before bins before the merge, $(reached) after it"
MMADIFF_BINS=0 run -merge=1 code 1 2
[ "$(ls merged | wc -l)" -gt "$(ls code | wc -l)" ] || fail 'no input was kept for its bins'
echo "bins $before, features $with, of code $without; files $(cat 1/* 2/* | wc -c) bytes in $(ls 1 2 | wc -l), merged $(ls merged | wc -l), for code $(ls code | wc -l)"
[ $failures = 0 ]
