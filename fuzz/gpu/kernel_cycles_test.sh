#!/usr/bin/env bash
# The kernels of a run on a GPU, as machine code for sm_90: executed, they give the host's operands
# and digests, and no more cycles than kernel_cycles.txt allows.
#   kernel_cycles_test.sh KERNEL_CYCLES CUBIN LIMITS
# NVDISASM is the disassembler, if it is not in PATH or beside nvcc. Exit code 77: none is here.
tool=${NVDISASM:-$(PATH=$PATH:/usr/local/cuda/bin:$CUDA_HOME/bin command -v nvdisasm)}
[ -x "$tool" ] || { echo 'skipped: no nvdisasm of the CUDA Toolkit here'; exit 77; }
[ -f "$2" ] || { echo "skipped: this build has no $2"; exit 77; }
table=$("$1" "$tool" "$2" 32) || { echo "$table"; exit 1; }
if measured=$("$1" gpu 2>/dev/null); then  # a GPU: what it takes stands beside what was counted
  awk 'NR == FNR { took[$1 " " $2] = $3; next }
       { print $0, (FNR == 1 ? "measured" : took[$1 " " $2]) }' <(echo "$measured") <(echo "$table")
else
  echo "$table"
fi
awk 'NR == FNR { if ($1 ~ /^#/) next
                  key = $1 " " $2
                  if (key in limit) { print "two limits for " key; bad = 1 }
                  limit[key] = $3; next }
     $1 ~ /\// {
       key = $1 " " $2
       cycles = $2 == "all" ? $NF : $(NF - 1)
       if (cycles !~ /^[0-9]+$/) { print "no number of " key; bad = 1 }
       seen[key] = 1
       if (!(key in limit)) { print "no limit for " key; bad = 1 }
       else if (cycles + 0 > limit[key]) { print key ": " cycles " cycles, more than " limit[key]; bad = 1 }
     }
     END { for (key in limit) if (!(key in seen)) { print "not measured: " key; bad = 1 }
           exit bad }' "$3" <(echo "$table")
