#!/usr/bin/env bash
# A night on a cluster in miniature: docs/cluster/slurm_array.sh as a job array on a Slurm of one node
# on loopback, its tasks killed and requeued at random, gives after `merge` the digest and counts of
# one process that nobody touched. Then srun and mpirun one-liners.
# Usage: [MMADIFF_SHARDS=N] [MMADIFF_KILLS=N] slurm_test.sh MMADIFF [FOLDER_THAT_STAYS]
set -u
m=$(realpath "$1") here=$(cd "$(dirname "$0")" && pwd)
shards=${MMADIFF_SHARDS:-16} kills=${MMADIFF_KILLS:-50} seed=${MMADIFF_KILL_SEED:-$RANDOM}
skip() { echo "skipped: $1"; exit 77; }
for program in slurmctld slurmd sbatch srun scontrol; do
  command -v $program >/dev/null || skip "no $program (Debian: slurmctld, slurmd, slurm-client)"
done
[ "$(id -u)" = 0 ] || skip "slurmd without munge wants root"
tmp=${2:-$(mktemp -d)}
mkdir -p "$tmp/state" "$tmp/spool" && cd "$tmp" || exit 2
tmp=$PWD
export SLURM_CONF=$tmp/slurm.conf MMADIFF=$m NIGHT=$tmp/night
stop_slurm() {
  scancel --user=root 2>/dev/null
  sleep 1
  for pid in ctld.pid d.pid; do [ -f $pid ] && kill "$(cat $pid)"; done
  [ $# = 0 ] || rm -rf "$tmp"
}
if [ $# = 1 ]; then trap 'stop_slurm all' EXIT; else trap stop_slurm EXIT; fi
port=$((20000 + $$ % 20000))
# More CPUs than there are: tasks share them, as they share nothing else.
cat >slurm.conf <<END
ClusterName=test
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
AuthInfo=cred_expire=5
CredType=cred/none
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmctldPidFile=$tmp/ctld.pid
SlurmdPidFile=$tmp/d.pid
StateSaveLocation=$tmp/state
SlurmdSpoolDir=$tmp/spool
SlurmctldLogFile=$tmp/ctld.log
SlurmdLogFile=$tmp/d.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,sched_min_interval=100000
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=1
NodeName=$(hostname) NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=4 Boards=1 SocketsPerBoard=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=1000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
slurmctld -c -f "$SLURM_CONF" && slurmd -c -f "$SLURM_CONF" || skip "Slurm does not start here"
for _ in $(seq 60); do sinfo -h -o %T 2>/dev/null | grep -q idle && break; sleep 0.5; done
sinfo -h -o %T | grep -q idle || skip "Slurm's node does not come up here"

failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
stats() { grep -E '^stat::(digest|cases|dot_products|mismatches|class\.[a-z_]+|event\.[a-z_]+):' "$1"; }
run=(--device=faulty:fraction_bits=23
     --instr='sm_80/mma.m16n8k4.f32.tf32.tf32.f32,sm_89/mma.m16n8k8.f32.tf32.tf32.f32'
     --cases="${MMADIFF_CASES:-800000}" --max_mismatches=0 --threads=1 --quiet)

"$m" run "${run[@]}" --workdir="$tmp/alone" >alone.txt 2>alone.err
[ $? = 1 ] || fail "one process: $(cat alone.err)"

RANDOM=$seed
echo "$shards shards, $kills kills, MMADIFF_KILL_SEED=$seed"
job=$(sbatch --parsable --array=0-$((shards - 1)) --time=10 "$here/../../docs/cluster/slurm_array.sh" "${run[@]}")
killed=0 running=0 done_again=0
while [ $killed -lt "$kills" ]; do
  sleep 0.$((RANDOM % 10))
  mapfile -t tasks < <(squeue -h -r -j "$job" -t RUNNING -o %K 2>/dev/null)
  if [ ${#tasks[@]} -gt 0 ]; then
    task=${tasks[RANDOM % ${#tasks[@]}]}
    if [ $((RANDOM % 2)) = 0 ]; then # as an out-of-memory killer does it; the script requeues
      pid=$("$m" status "$NIGHT/$task" 2>/dev/null | sed -n 's/^  writing *pid \([0-9]*\) on .*/\1/p')
      [ -n "$pid" ] && kill -KILL "$pid" 2>/dev/null || continue
    else
      scontrol requeue "${job}_$task" 2>/dev/null || continue
    fi
    running=$((running + 1))
  elif [ -z "$(squeue -h -j "$job" -o %T 2>/dev/null)" ]; then # all done: nothing is left to do
    scontrol requeue "${job}_$((RANDOM % shards))" 2>/dev/null || continue
    done_again=$((done_again + 1))
  else
    continue
  fi
  killed=$((killed + 1))
done
for _ in $(seq 600); do
  [ -n "$(squeue -h -j "$job" -o %T 2>/dev/null)" ] || break
  sleep 0.5
done
[ -z "$(squeue -h -j "$job" -o %T 2>/dev/null)" ] || fail "the array did not end: $(squeue -j "$job")"
echo "$killed requeues, $running of them in the middle of a run, $done_again of finished tasks"
[ $running -gt 0 ] || fail "no task was killed while it ran"

"$m" merge whole night/* >merge.txt 2>merge.err || fail "merge: $(cat merge.err)"
"$m" run "${run[@]}" --workdir="$tmp/whole" >whole.txt 2>whole.err
[ $? = 1 ] || fail "the whole: $(cat whole.err)"
grep -q 'no unit was executed' whole.txt || fail "the merged folder was not whole: $(cat whole.txt)"
stats whole.txt | cmp -s - <(stats alone.txt) ||
  fail "another result: $(stats whole.txt | diff - <(stats alone.txt) | head -4)"
stats whole.txt | grep digest

# One-liners of docs/cluster.md: processes that a launcher numbers.
small=(--device=faulty:fraction_bits=23 --instr=sm_80/mma.m16n8k4.f32.tf32.tf32.f32 --cases=20000
       --max_mismatches=0 --threads=1 --quiet)
"$m" run "${small[@]}" --workdir="$tmp/small" >small.txt 2>&1
launch() {  # NAME LAUNCHER...
  local name=$1
  shift
  # shellcheck disable=SC2016 # the launched shell has the rank
  "$@" bash -c '"$0" run --shard=auto --workdir="$1/${OMPI_COMM_WORLD_RANK:-$SLURM_PROCID}" "${@:2}"; [ $? = 1 ]' \
    "$m" "$tmp/$name" "${small[@]}" >"$name.txt" 2>&1 || fail "$name: $(tail -3 "$name.txt")"
  "$m" merge "$name.all" "$name"/* >"$name.merge" 2>&1 || fail "$name: $(cat "$name.merge")"
  "$m" run "${small[@]}" --workdir="$tmp/$name.all" >"$name.whole" 2>&1
  stats "$name.whole" | cmp -s - <(stats small.txt) || fail "$name: another result"
}
launch srun srun -n 3
if command -v mpirun >/dev/null; then
  launch mpirun mpirun -n 3 --oversubscribe --allow-run-as-root
else
  echo "no mpirun here: that line was not tried"
fi
echo "$failures failures"
[ $failures = 0 ]
