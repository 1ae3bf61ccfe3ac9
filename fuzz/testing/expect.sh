# What the test scripts share. Sourced behind `m=PROGRAM`, from then on in a new folder, which goes at the end.
tmp=$(mktemp -d) || exit 2
trap 'chmod -R u+rwx "$tmp"; rm -rf "$tmp"' EXIT
cd "$tmp" || exit 2
out=$tmp/out err=$tmp/err failures=0 checks=0

# What went wrong, with the line of the script and the end of what the program said.
fail() {
  failures=$((failures + 1))
  printf 'FAILED line %s: %s\n' "${BASH_LINENO[-2]}" "$*"
  for text in out err; do [ ! -s "${!text}" ] || tail -n 8 "${!text}" | sed "s/^/    $text: /"; done
}
# Whether the help of a verb, if it is one, has the exit code.
documented() {
  [ -e "$tmp/codes.$2" ] || "$m" help "$2" 2>/dev/null | sed -n '/^Exit codes/,$p' >"$tmp/codes.$2"
  [ ! -s "$tmp/codes.$2" ] || grep -q "^  $1 " "$tmp/codes.$2"
}
# expect CODE ARGUMENTS...: the program, its output in $out and $err, and in both of them plain text only; a message
# with every code that is no answer.
expect() {
  local wanted=$1 code
  shift
  timeout 3600 "$m" "$@" >"$out" 2>"$err"
  code=$?
  checks=$((checks + 1))
  [ "$code" = "$wanted" ] || fail "exit code $code, not $wanted: mmadiff $*"
  [[ " $* " = *' --color=always '* ]] || plain
  [[ " $* " != *' --error'[_-]'exitcode='* ]] || return 0
  documented $code "${1-}" || fail "no exit code $code in: mmadiff help $1"
  [ "$code" -lt 2 ] || [ -s "$err" ] || fail "no message: mmadiff $*"
}
# expect_text CODE REGEX [VARIABLE=VALUE ...] -- ARGUMENTS...: the program in an environment; REGEX is in its output.
expect_text() {
  local wanted=$1 regex=$2 code settings=()
  shift 2
  while [ "$1" != -- ]; do settings+=("$1"); shift; done
  shift
  env "${settings[@]}" timeout 3600 "$m" "$@" >"$out" 2>&1
  code=$?
  checks=$((checks + 1))
  [[ $code =~ ^($wanted)$ ]] || fail "exit code $code, not $wanted: ${settings[*]} mmadiff $*"
  grep -qE -- "$regex" "$out" || fail "nothing says '$regex': ${settings[*]} mmadiff $*"
}
says() { has "$out" "$1"; }
warns() { has "$err" "$1"; }
has() { checks=$((checks + 1)); grep -qF -- "$2" "$1" || fail "$(basename "$1") lacks '$2'"; }
lacks() { checks=$((checks + 1)); ! grep -qF -- "$2" "$1" || fail "$(basename "$1") has '$2'"; }
silent() { checks=$((checks + 1)); [ ! -s "$1" ] || fail "$(basename "$1") is not empty"; }
is() { checks=$((checks + 1)); [ "$1" = "$2" ] || fail "'$1' is not '$2'"; }
# Neither colors nor other control characters but tabs and line ends.
plain() {
  checks=$((checks + 1))
  if LC_ALL=C grep -q $'[\001-\010\013-\037\177]' "$out" "$err"; then fail 'control characters in the output'; fi
}
json() { checks=$((checks + 1)); python3 -m json.tool "$out" >/dev/null 2>&1 || fail 'stdout is no JSON'; }
stat_of() { sed -n "s/^stat::$1: //p" "$out"; }
ended() { echo "$checks checks, $failures failures"; exit $((failures > 0)); }

# surveyed CODE [VARIABLE=VALUE ...] -- FOLDER ARGUMENT...: a survey of $device, its page in $out.
surveyed() {
  local wanted=$1 code settings=()
  shift
  while [ "$1" != -- ]; do settings+=("$1"); shift; done
  env "${settings[@]}" "$m" survey --device="$device" --out="$2" --max_total_time=0 --quiet ${survey_flags-} "${@:3}" >"$out" 2>"$err"
  code=$?
  checks=$((checks + 1))
  [ $code = "$wanted" ] || fail "exit code $code, not $wanted: ${settings[*]} survey ${*:2}"
}
# count REGEX N: lines of the last output.
count() { is "$(grep -cE -- "$1" "$out") of $1" "$2 of $1"; }

# With a library that disturbs system calls (fuzz/testing/fail_io.cc), which is the script's second argument.
disturb_with() {
  [ -f "$1" ] || { echo "FAILED: $1, which disturbs system calls, is not built: ninja fail_io"; exit 1; }
  library=$1 seed=${MMADIFF_KILL_SEED:-$RANDOM} RANDOM=$seed
  echo "MMADIFF_KILL_SEED=$seed"
}
# disturbed FOLDER ARGUMENTS...: the program, its system calls on files of the folder as FAIL_IO_* say. Each reading of
# its clock is a second, so that what it flushes now and then it flushes at once.
disturbed() { env FAIL_IO_FOLDER="$1" FAIL_IO_CLOCK=1 FAIL_IO_CALL="${FAIL_IO_CALL:-any}" LD_PRELOAD="$library" "$m" "${@:2}"; }
# killed_often KILLS CALLS FIRST COMMAND...: runs COMMAND FOLDER to its end, killed and started again on the way, in one
# new folder after another, until there were KILLS kills. A kill is at one of CALLS system calls, by chance; the first in
# a folder at call FIRST, unless that is empty. After each folder, `ended_whole FOLDER CODE` looks at it; a failure ends all.
killed_often() {
  local kills=$1 calls=$2 first=$3 killed=0 round=0 at code modes=(kill_before kill_after kill_half)
  shift 3
  while [ $killed -lt "$kills" ]; do
    round=$((round + 1)) at=${first:-$((1 + RANDOM % calls))}
    while :; do
      [ $killed -lt "$kills" ] || at=0
      (FAIL_IO_AT=$at FAIL_IO_MODE=${modes[RANDOM % 3]} "$@" "cut$round" >"$out" 2>"$err") 2>/dev/null
      code=$?
      [ $code = 137 ] || break
      killed=$((killed + 1)) at=$((1 + RANDOM % calls))
    done
    ended_whole "cut$round" $code
    [ $failures = 0 ] || break
  done
  echo "$killed kills in $round rounds"
}
