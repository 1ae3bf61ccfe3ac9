#!/usr/bin/env bash
# Runs that start together in one folder: one seed's run owns it, the others are refused with exit
# code 2 and a message, and every resume has the digest of an undisturbed run of the owner's seed.
# Every other race is decided: the first run is stopped before one of its system calls, the second
# goes through its whole life, and the first goes on. The rest is started at once, two seeds, four,
# or one seed twice. Usage: [MMADIFF_RACES=N] race_test.sh MMADIFF FAIL_IO_LIBRARY
set -u
m=$(realpath "$1") library=$(realpath "$2")
[ -f "$library" ] || { echo "FAILED: $2, which disturbs system calls, is not built: ninja fail_io"; exit 1; }
races=${MMADIFF_RACES:-60}
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 2
start() {  # SEED FOLDER, instead of this shell
  exec "$m" run --device=faulty:none=0 --instr=sm_80/mma.m16n8k4.f32.tf32.tf32.f32 --cases=4200 \
    --threads=2 --quiet --seed="$1" --workdir="$tmp/$2"
}
run() { timeout -k 1 300 bash -c "$(declare -f start); m='$m' tmp='$tmp'; start $1 $2"; }
digest() { sed -n 's/^stat::digest: //p' "$1"; }
failures=0
fail() { echo "WRONG race $race ($what): $*"; bad=1; }

for seed in 1 2 3 4; do
  run $seed "uncut$seed" >"uncut$seed.txt" 2>&1 || { cat "uncut$seed.txt"; exit 1; }
done
(FAIL_IO_FOLDER=$tmp/calls FAIL_IO_LOG=$tmp/log LD_PRELOAD=$library start 1 calls >/dev/null) || exit 1
calls=$(wc -l <log)

# CODE and output FILE of a run of a SEED: owner (0) or refused (1), or a failure.
owns() {
  case $1 in
    0) [ "$(digest "$2.out")" = "$(digest "uncut$3.txt")" ] || fail "seed $3 has another digest" ;;
    2) [ -s "$2.err" ] || fail "seed $3 was refused without a message"
       return 1 ;;
    *) fail "seed $3: exit $1: $(cat "$2.err")"
       return 1 ;;
  esac
}
stopped() {  # waits until the process has stopped or ended
  local state
  while state=$(cut -d' ' -f3 "/proc/$1/stat" 2>/dev/null) && [[ $state = [RSD] ]]; do sleep 0.01; done
}
# Starts the SEEDS; the first one stops before call AT, and goes on when the others have ended.
start_decided() {  # AT SEEDS
  FAIL_IO_FOLDER=$tmp/race$race FAIL_IO_CALL=any FAIL_IO_AT=$1 FAIL_IO_MODE=stop \
    LD_PRELOAD=$library start "$2" "race$race" >first.out 2>first.err &
  local first=$!
  stopped $first
  run "$3" "race$race" >second.out 2>second.err
  codes[1]=$?
  kill -CONT $first 2>/dev/null
  wait $first
  codes[0]=$?
}
start_at_once() {  # SEEDS
  local pids=() pid n=0
  for seed in "$@"; do
    run "$seed" "race$race" >"${names[n]}.out" 2>"${names[n]}.err" &
    pids+=($!)
    n=$((n + 1))
  done
  for pid in "${pids[@]}"; do wait "$pid"; codes+=($?); done
}

names=(first second third fourth)
both=0
for race in $(seq "$races"); do
  bad=0 codes=() owner='' owners=0
  case $((race % 6)) in
    0) seeds=(1 2) ;;
    2) seeds=(1 2 3 4) ;;
    4) seeds=(1 1) ;;
    *) seeds=(1 2) at=$(((race * calls + races) / (races + 1))) ;;
  esac
  if [ $((race % 2)) = 1 ]; then
    what="the first stopped before call $at of $calls"
    start_decided $at "${seeds[@]}"
  else
    what="seeds ${seeds[*]} at once"
    start_at_once "${seeds[@]}"
  fi
  for n in "${!seeds[@]}"; do
    owns "${codes[n]}" "${names[n]}" "${seeds[n]}" && owner=${seeds[n]} owners=$((owners + 1))
  done
  [ $owners -gt 0 ] || fail "all were refused: $(cat first.err)"
  [ $owners -le 1 ] || [ "${seeds[*]}" = '1 1' ] || { fail "$owners accepted"; both=$((both + 1)); }
  for seed in $(printf '%s\n' "${seeds[@]}" | sort -u); do
    run "$seed" "race$race" >again.out 2>again.err
    if owns $? again "$seed"; then
      [ "$seed" = "$owner" ] || fail "resume: seed $seed owns the folder of $owner"
    else
      [ "$seed" != "$owner" ] || fail "resume: the owner, seed $seed, was refused: $(cat again.err)"
    fi
  done
  failures=$((failures + bad))
done
echo "$races races, $both with several seeds accepted, $failures wrong"
[ $failures = 0 ]
