#!/usr/bin/env bash
# Installs a build into a folder, moves it, uses the program from elsewhere and builds the example against
# it. Usage: install_test.sh BUILD_FOLDER
set -eu -o pipefail
build=$(realpath "$1") example=$(realpath "$(dirname "$0")")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; exit 1; }

cmake --install "$build" --prefix "$tmp/first" >"$tmp/log" || { cat "$tmp/log"; fail 'no installation'; }
mv "$tmp/first" "$tmp/moved"
mkdir "$tmp/elsewhere"; cd "$tmp/elsewhere"
m=$tmp/moved/bin/mmadiff fma=x86/vfmadd231ss

for file in share/man/man1/mmadiff.1 share/bash-completion/completions/mmadiff \
  share/fish/vendor_completions.d/mmadiff.fish share/zsh/site-functions/_mmadiff; do
  [ -s "$tmp/moved/$file" ] || fail "no $file"
done

# The program finds the repository's data beside itself; a folder in the current directory has priority.
"$m" changes | grep -q '^0 changes' || fail 'no digests'
cases() { "$m" -q record "$1" --instr=$fma --device=faulty:none=0 --cases=1 --max_total_time=0 | sed 's/.* \([0-9]*\) regression.*/\1/'; }
[ "$(cases with)" -gt "$(mkdir -p corpus/regressions && cases without)" ] || fail 'no regression cases'

cmake -S "$example" -B build -DCMAKE_PREFIX_PATH="$tmp/moved" >log 2>&1 && cmake --build build >>log 2>&1 ||
  { cat log; fail 'the example was not built'; }
[ "$(build/example)" = 3f7fffff ] || fail "the example prints $(build/example)"
if grep -rlF "$tmp/first" "$tmp/moved"; then fail 'an installed file contains the original path of the installation'; fi
