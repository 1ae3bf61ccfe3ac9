# What the commands of commands.txt are made of, and `setup`, which runs first. Sourced by commands_test.py.
F=x86/vfmadd231ss M=sm_90/mma.m16n8k16.f32.f16.f16.f32 SCALED=sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x
SAME=--device=faulty:none=0 OTHER=--device=faulty:fraction_bits=24
one=$M@g3:1:0 line='3f800000 3f800000 3f800000'
# Never repeats an answer; fails on every case of a run, and answers what `run` asks to know that it speaks at all.
COUNTING='--device=exec:sh counting.sh' FAILING='--device=exec:sh failing.sh'

# The program. A row whose verb has results wants them as JSON where they go to the row's own output; what other verbs
# say there is no part of it.
mmadiff() {
  if [ ! "$JSON" ] || [ ! /dev/stdout -ef "$STDOUT" ]; then command mmadiff "$@"
  elif [ "$1" != "$JSON" ]; then command mmadiff "$@" >&2
  elif [[ " $* " =~ ' --'(json|csv|markdown)' ' ]]; then command mmadiff "$@"
  else
    echo "$1" >>"$STDOUT.asked"
    command mmadiff "$1" --json "${@:2}"
  fi
}
run() { mmadiff run --threads=1 "$@"; }
# DIGIT FOLDER [MISMATCHES]: the same run by every fact; an answer that ends in the digit is another.
lie() { LIE=$1 run --instr=$F --cases=50 --max_mismatches=${3:-0} --workdir=$2 --device='exec:mmadiff eval x86/vfmadd231ss | sed "s/$LIE\$/1/"'; }
survey() { mmadiff survey --cases=50 --max_total_time=0 "$@"; }
# CODE COMMAND...: with more and more seconds for @, until it has the code: a slow machine needs longer to begin.
patient() {
  local wanted=$1 s code
  shift
  for s in 0.3 1 3 10 30 100 300; do "${@//@/$s}"; code=$?; [ $code != $wanted ] || break; done
  return $code
}
signalled() { patient 75 timeout --preserve-status -s INT @ "$@"; }
evaluated() { command mmadiff gen "$@" | command mmadiff eval "$1"; }  # ROW FLAGS OF gen...
# Standard input, with another last bit in each result.
wrong() { sed '/^#/!{h;s/.*\(.\)$/\1/;y/0123456789abcdef/1032547698badcfe/;G;s/^\(.\)\n\(.*\).$/\2\1/}'; }

# same_members RUN REPORT: what `run --json` and `report --json` say of a folder is the same, but for what the attempt alone knows.
same_members() {
  python3 - "$@" <<'END'
import json, sys
run, report = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))['runs'][0]
OF_ATTEMPT = {'.attempt', '.left_out', '.instructions[].planted_fault', '.findings[].diagnosis', '.findings[].cases'}
def differing(path, a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        return [d for k in a.keys() & b.keys() if f'{path}.{k}' not in OF_ATTEMPT
                for d in differing(f'{path}.{k}', a[k], b[k])]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):  # a report has the worst first
        a, b = (sorted(rows, key=lambda row: row['instruction'] if isinstance(row, dict) else str(row)) for rows in (a, b))
        return [d for x, y in zip(a, b) for d in differing(path + '[]', x, y)]
    return [] if a == b else [f'{path}: {a!r} of run, {b!r} of report']
wrong = differing('', run, report)
sys.exit('\n'.join(wrong) or len(run.keys() & report.keys()) < 20)
END
}

setup() {
  python3 -c 'import sys; sys.stdout.buffer.write(bytes(range(256)) * 9)' >noise.log
  cat >counting.sh <<'END'
echo >>asked
while read -r line; do printf "%s %08x\n" "$line" "$(wc -l <asked)"; done
END
  cat >failing.sh <<'END'
while read -r a b c; do
  case $a$b$c in
    0000000000000000*) echo 00000000 ;;
    3f8000003f8000003f800000) echo 40000000 ;;
    *) echo xxxxxxxx ;;
  esac
done
END
  # Vectors, one with a wrong answer, one with a contested one.
  printf '%s\n' 'source: made' '' 'vector: one' 'about: 1 + 1' 'formats: f32 f32 f32 f32' 'operands: 3f800000 | 3f800000 | 3f800000' \
    "expected: 40000001 $F" '' 'vector: two' 'about: 1 + 1' 'formats: f32 f32 f32 f32' 'operands: 3f800000 | 3f800000 | 3f800000' \
    "contested: 40000002 $F : somebody" 'reason: made up' '' end >made.txt
}
