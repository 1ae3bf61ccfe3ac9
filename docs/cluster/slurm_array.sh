#!/usr/bin/env bash
# One task of a Slurm job array; the array is one run. The arguments are those of `mmadiff run`:
#   sbatch --array=0-15 slurm_array.sh --device=cuda:0 --instr='sm_90/*' --cases=1e9 --max_mismatches=0
# Each task has its own folder in $NIGHT, on a file system that all nodes share. A task that was
# stopped or killed is requeued and continues.
#SBATCH --job-name=mmadiff
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=mmadiff-%a.txt
#SBATCH --signal=B:TERM@60
folder=${NIGHT:-night}/$SLURM_ARRAY_TASK_ID
preempted=false
trap 'preempted=true; kill -TERM $!' TERM # sent 60 seconds before the time limit, and at preemption
"${MMADIFF:-mmadiff}" run --shard=auto --workdir="$folder" "$@" &
while :; do
  wait $!
  code=$?
  kill -0 $! 2>/dev/null || break # otherwise the trap interrupted the wait
done
# The task is requeued after 75 (stopped early), after 1 (mismatches) if the run was preempted and so has more to do,
# and after 137 (killed, for example for lack of memory), but not after four stops without new data in the logs. A retry
# after any other code would give the same result.
if [ "$code" = 75 ] || [ "$code" = 137 ] || { [ "$code" = 1 ] && $preempted; }; then
  cat "$folder"/units-*.log | wc -c >>"$folder/stops"
  [ "$(tail -n 4 "$folder/stops" | uniq -c | awk '{ print $1 }')" = 4 ] ||
    scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
fi
exit "$code"
