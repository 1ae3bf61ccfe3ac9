#!/usr/bin/env bash
# One task of a Slurm job array that is one run; its arguments are those of `mmadiff run`:
#   sbatch --array=0-15 slurm_array.sh --device=cuda:0 --instr='sm_90/*' --cases=1e9 --max_mismatches=0
# Each task has a folder of its own in $NIGHT, on a file system that all nodes see. A task that was
# stopped or killed is put back into the queue and goes on.
#SBATCH --job-name=mmadiff
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=mmadiff-%a.txt
#SBATCH --signal=B:TERM@60
folder=${NIGHT:-night}/$SLURM_ARRAY_TASK_ID
preempted=false
trap 'preempted=true; kill -TERM $!' TERM # comes 60 seconds before the time limit, and at preemption
"${MMADIFF:-mmadiff}" run --shard=auto --workdir="$folder" "$@" &
while :; do
  wait $!
  code=$?
  kill -0 $! 2>/dev/null || break # else the trap ended the wait
done
# 75: stopped early; 1: something differs, and a run that was preempted has more to do; 137: killed, by lack of memory say.
# Not after four times with nothing new in the logs between them. Everything else would be the same again.
if [ "$code" = 75 ] || [ "$code" = 137 ] || { [ "$code" = 1 ] && $preempted; }; then
  cat "$folder"/units-*.log | wc -c >>"$folder/stops"
  [ "$(tail -n 4 "$folder/stops" | uniq -c | awk '{ print $1 }')" = 4 ] ||
    scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
fi
exit "$code"
