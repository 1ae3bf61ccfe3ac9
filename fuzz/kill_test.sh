#!/usr/bin/env bash
# A run that is killed (SIGKILL) at random moments and started again each time has the digest, the
# counts and the buckets of findings of a run that nobody touched. Usage: [MMADIFF_KILLS=N] kill_test.sh MMADIFF
set -u
m=$(realpath "$1")
kills=${MMADIFF_KILLS:-100}
seed=${MMADIFF_KILL_SEED:-$RANDOM}
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 2
RANDOM=$seed
echo "$kills kills, MMADIFF_KILL_SEED=$seed"
# 2 x 25 units of about 0.04 s, so that kills fall into every part of a run; blocks are
# flushed every half a second, so that most attempts leave something behind.
run() {  # in a subshell, so that $! is the program itself
  exec "$m" run --device=faulty:fraction_bits=23 \
    --instr='sm_80/mma.m16n8k4.f32.tf32.tf32.f32,sm_89/mma.m16n8k4.f32.tf32.tf32.f32' --cases="$1" --errors=0 --threads=2 --quiet --workdir="$2"
}
stats() { grep -E '^stat::(digest|cases|dot_products|mismatches|class\.[a-z_]+|event\.[a-z_]+):' "$1"; }
buckets() { (cd "$1/findings" && find . -name '*.txtpb' | sed 's/-[0-9a-f]*\.txtpb$//' | sort -u); }
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

(run 50000 uncut) >uncut.txt 2>uncut.err
[ $? = 1 ] || fail "the uncut run: $(cat uncut.err)"
killed=0 rounds=0 resumed=0
while [ $killed -lt "$kills" ]; do  # several runs, each from the beginning to its end
  rounds=$((rounds + 1))
  while :; do
    run 50000 "cut$rounds" >cut.txt 2>cut.err &
    pid=$!
    if [ $killed -lt "$kills" ]; then
      sleep "$(printf '0.%03d' $((RANDOM % 900)))"
      kill -KILL $pid 2>/dev/null
    fi
    wait $pid 2>/dev/null
    code=$?
    [ $code = 137 ] || break
    killed=$((killed + 1))
  done
  [ $code = 1 ] || { fail "exit code $code: $(cat cut.err)"; break; }
  stats cut.txt | cmp -s - <(stats uncut.txt) ||
    fail "another result in round $rounds: $(stats cut.txt | diff - <(stats uncut.txt) | head -4)"
  resumed=$((resumed + $(sed -n 's/^stat::resumed_units: //p' cut.txt)))
  # Each attempt files its own first case of a bucket; none of the buckets may be missing.
  missing=$(comm -23 <(buckets uncut) <(buckets "cut$rounds"))
  [ -z "$missing" ] || fail "no finding in round $rounds: $missing"
done
[ "$kills" -lt 10 ] || [ $resumed -gt 0 ] || fail "no attempt ever resumed: the kills came too early"
echo "$killed kills in $rounds runs, $resumed units were not run twice, $failures failures"
[ $failures = 0 ]
