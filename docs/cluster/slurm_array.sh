#!/usr/bin/env bash
# One task of a Slurm job array that is one run; its arguments are those of `mmadiff run`:
#   sbatch --array=0-15 slurm_array.sh --device=cuda:0 --instr='sm_90/*' --cases=1e9
# Each task has a folder of its own in $NIGHT, on a file system that all nodes see. A task that was
# stopped or killed is put back into the queue and goes on.
#SBATCH --job-name=mmadiff
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=mmadiff-%a.txt
#SBATCH --signal=B:TERM@60
"${MMADIFF:-mmadiff}" run --shard=auto --workdir="${NIGHT:-night}/$SLURM_ARRAY_TASK_ID" "$@" &
trap 'kill -TERM $!' TERM # comes 60 seconds before the time limit, and at preemption
while :; do
  wait $!
  code=$?
  kill -0 $! 2>/dev/null || break # else the trap ended the wait
done
# 75: stopped early; 137: killed, by lack of memory say. Everything else would be the same again.
if [ "$code" = 75 ] || [ "$code" = 137 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 1000 ]; then
  scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
fi
exit "$code"
