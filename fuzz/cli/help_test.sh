#!/usr/bin/env bash
# What the program says of itself: help, man page, completion, version, misspelt words, the pager.
# Usage: help_test.sh MMADIFF
set -u
m=$(realpath "$1")
. "$(dirname "$0")/../testing/expect.sh"
unset PAGER
flags_of() { sed -n '/^Arguments/,/^$/s/^  \(-., \)\?\(--[a-z_]*\).*/\2/p' "$1"; }

# ---- Help
expect 0 --help; cp out whole; expect 0 help; is "$(cmp out whole && wc -c <err)" 0
verbs=$(sed -n '/^Usage:/,/^Global flags:/s/^  \([a-z]\+\)  .*/\1/p' whole); [ "$(wc -w <<<"$verbs")" -ge 20 ] || fail "only these verbs: $verbs"
lacks whole survey-ask
# A heading for each group, also in the man page.
is "$(sed -n '/^Usage:/,/^Global flags:/s/^\([A-Z].*\):$/\1/p' whole | wc -l)" 11  # the groups, Usage and Global flags
for title in 'Test a device' 'Learn about a device' 'Folders of runs' 'One mismatch' 'Line protocol' \
  'Whole matrix products' 'Compare models and devices' 'The tables and the generator' Help; do has whole "$title:"; done
"$m" help --man >man; "$m" help --completion=bash >completion; "$m" help --completion=fish >fish; "$m" help --completion=zsh >zsh
for verb in $verbs; do
  expect 0 $verb --help; cp out help; expect 0 help $verb; is "$(cmp out help && wc -c <err)" 0
  for title in Usage Example 'Global flags' 'Exit codes'; do has help "$title:"; done
  is "$(awk 'NR > 1 && length > 79' help)" ''
  has man ".SS $verb"; has whole "  $verb "
  is "$(flags_of help | wc -l)" "$(sed -n '/^Arguments/,/^$/p' help | grep -c '^  -')"
  for flag in $(flags_of help); do
    has man "${flag//-/\\-}"; is "$(grep -c "^    $verb) flags='.*$flag[=' ]" completion)" 1
    is "$(grep -cE "__fish_seen_subcommand_from $verb' -l ${flag#--} " fish)" 1
    is "$(grep -cE "^    $verb\) _arguments .* '$flag(=)?\[" zsh)" 1
  done
  # --json where it works.
  if grep -q -- --json help; then continue; fi
  is $verb help; expect 2 $verb --json; has err 'has no --json'
done
# Defaults and values come from what the flags are.
expect 0 gen --help; has out 'products [1000]'; has out 'mixed, boundary, bits'; lacks out faulty
expect 0 mutants --help; has out '[100000]'; has out '1 to 1024 [all cores]'; has out 'a fault was not found'
for verb in run replay minimize explain eval identify record survey probe; do
  expect 0 $verb --help; has out 'recorded:PATH'; has out 'help devices'; lacks out wrong_lane
done
expect 0 help devices; cp out devices; has devices 'recorded:PATH'; is "$(awk 'length > 79' devices)" ''
expect 2 run --device=faulty:x=1; names=$(sed -n 's/.*; all: //; s/,//gp' err); [ "$(wc -w <<<"$names")" -ge 20 ] || fail "names: $names"
for name in $names; do has devices "  $name  "; done
for name in a layout c overlap around; do has devices "  $name  "; done; has devices c3d2; has devices chain

# ---- Misspelt
expect 2 rnu; has err "no verb 'rnu'; did you mean 'run'?"; expect 2 help rnu; has err "'run'"
expect 2 rnu --cases=5; has err "'run'"; expect 2; has err 'no verb'; expect 2 -q; has err 'no verb'
expect 2 run --csaes=5; has err "run has no flag '--csaes'; did you mean '--cases'?"; has err 'mmadiff help run'
expect 2 gen --csaes=5; has err "'--cases'"; expect 2 run --wrokdir x; has err "'--workdir'"
expect 2 --max_total_time=1 run; has err "'--max_total_time' must come after its verb"
expect 2 --qiuet run; has err "'--quiet'"; expect 2 list --jsno; has err "'--json'"
expect 2 run --instr=x86/vdpbf16p; has err x86/vdpbf16ps; expect 2 list instructions 'x86/vfmad231*'; has err x86/vfmadd231ss
expect 2 xyzzy; has err "no verb 'xyzzy'"; lacks err 'did you mean'; expect 2 run --xyzzy; lacks err 'did you mean'
for value in '--instr= --cases=5' '--instr --cases=5' '--workdir --quiet'; do
  expect 2 run $value --dry_run; has err "needs a value, not '--"
done
expect 2 run --junit=x; has err "'--junit'; it is a flag of report, replay"; expect 2 -q; has err 'run` tests'; silent out
expect 2 probe; has err 'up to --max_total_time'; has err '`mmadiff probe --list` shows the questions'
unknown=$("$m" list --evidence | grep -B1 '^  unknown: ' | head -n 1)
expect 4 list instructions "$unknown"; has err '--evidence lists them too'; expect 0 list instructions "$unknown" --evidence
expect 2 list formats 'x*'; has err "no formats 'x*'"

is "$(for v in $verbs; do "$m" help "$v"; done | awk 'length($0) > 80')" ''

# ---- Globs
expect 0 list instructions 'x86/vfm*'; is "$(cat out)" $'x86/vfmadd231ss\nx86/vfmadd231sd'
expect 0 list instructions 'hopper/mma.m16n8k4.f32.tf32.*'; is "$(cat out)" sm_90/mma.m16n8k4.f32.tf32.tf32.f32
expect 0 list formats 'e*'; is "$(wc -l <out)" 7
fma='--device=faulty:none=0 --instr=x86/vfm*ss --instr=x86/vfm*sd,arm/bfdot'
expect 0 run $fma --dry_run; is "$(grep -c 'cases of' out)" 3
expect 0 probe $fma --question=order; is "$(grep -c '^  order' out)" 2
expect 0 record $fma --cases=1 --max_total_time=0 recorded; has out '3 instructions'
expect 0 mutants ${fma#* } --cases=2000; has out 'stat::instructions: 3'

# ---- The plan of a shard: 9000 cases are four units of 2048, and 808.
mma='--device=faulty:none=0 --instr=sm_90/mma.m16n8k16.f32.f16.f16.f32 --cases=9000'
expect 0 run $mma --dry_run; has out 'f32  9000 cases'; lacks out shard
expect 0 run $mma --dry_run --shard=0/2; has out 'f32  4904 cases'; has out 'shard     0/2'
expect 0 run $mma --dry_run --shard=4/5; has out 'f32  808 cases'; expect 0 run $mma --dry_run --shard=5/6; has out 'f32  0 cases'

# ---- The man page, by groff where it is
has man '.SH FOLDERS OF RUNS'; has man '.SH THE TABLES AND THE GENERATOR'
is "$(grep -vE '^(\.(TH|SH|SS|TP|PP|B|I)( |$)|[^.'\''])' man)" ''
if command -v groff >/dev/null; then is "$(groff -man -ww -z man 2>&1)" ''; fi

# ---- Completion
. ./completion
compopt() { :; }  # bash has it only while it completes
complete_words() {  # as bash splits the line
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _mmadiff "$m"
  echo "${COMPREPLY[*]}"
}
is "$(complete_words mmadiff '')" "$(echo $verbs)"
is "$(complete_words mmadiff re)" 'record report replay'
is "$(complete_words mmadiff run --max)" '--max_mismatches= --max_total_time='
is "$(complete_words mmadiff --quiet run --for)" '--forever '
is "$(complete_words mmadiff gen --for)" ''
is "$(complete_words mmadiff gen x86/vdp)" x86/vdpbf16ps
is "$(complete_words mmadiff run --instr = x86/vdp)" x86/vdpbf16ps
is "$(complete_words mmadiff run --instr =)" "$(echo $("$m" list))"
is "$(complete_words mmadiff run --device = f)" 'faulty: fd:'
is "$(complete_words mmadiff run --device = faulty : fra)" fraction_bits=
is "$(complete_words mmadiff run --strategy =)" 'mixed boundary bits scheduled'
is "$(complete_words mmadiff run --strategy b)" 'boundary bits'
is "$(complete_words mmadiff list fo)" formats; is "$(complete_words mmadiff help ex)" explain
is "$(sed -n "s/^    help) _arguments .* '\*:verb:(\([a-z ]*\))'.*/\1/p" zsh)" "$(echo $verbs)"
is "$(sed -n "s/.*_from help' -f -a '\([a-z ]*\)'.*/\1/p" fish)" "$(echo $verbs)"
is "$(complete_words mmadiff replay co)" ''  # files, by bash
if command -v zsh >/dev/null; then is "$(zsh -f -n zsh 2>&1)" ''; fi
if command -v fish >/dev/null; then
  ln -s "$m" mmadiff
  of_fish() { PATH=$PWD:$PATH HOME=$PWD fish -c "source fish; complete -C '$1'" | cut -f 1 | sort | xargs; }
  is "$(of_fish 'mmadiff re')" 'record replay report'; is "$(of_fish 'mmadiff run --dev')" --device
  is "$(of_fish 'mmadiff run --strategy=')" '--strategy=bits --strategy=boundary --strategy=mixed'
  is "$(of_fish 'mmadiff gen x86/vdp')" x86/vdpbf16ps; is "$(of_fish 'mmadiff list fo')" formats; is "$(of_fish 'mmadiff help ex')" explain
fi

# ---- Version
expect 0 --version; is "$(sed -n 1p out | cut -c-10)" 'mmadiff 0.'; has out 'CUDA kernels'
is "$(sed -n 2p out | grep -cE '^commit ([0-9a-f]{7,}(-dirty)?|.*-g[0-9a-f]{7,}(-dirty)?|unknown)$')" 1

# ---- The pager: on a terminal alone
PAGER='sed s/^/paged:/' expect 0 list; lacks out paged:
if command -v script >/dev/null; then
  terminal() { script -qec "stty cols 80; $*" /dev/null </dev/null | tr -d '\r' >out; }
  terminal "PAGER='sed s/^/paged:/' '$m' list instructions 'arm/*'"; has out 'paged:arm/bfdot  '; has out ' arm/sdot '
  terminal "PAGER='sed s/^/paged:/' '$m' run --help"; has out 'paged:Usage:'
  terminal "PAGER=/none/pager '$m' list instructions 'arm/*'; echo code \$?"; has out 'arm/bfdot  '; has out 'code 0'
  terminal "PAGER=true '$m' list --evidence; echo code \$?"; has out 'code 0'
  terminal "PAGER= '$m' list formats"; has out 'f64      64 bits'
fi

ended
