#!/usr/bin/env bash
# Runs a convoy pipeline over many files as a Slurm job array: each task takes its part of the list, by bytes.
#
#     sbatch --array=1-16 data/slurm/convoy-array.sh pipeline.yaml [OPTION OF convoy run ...]
#
# Preemption, a time limit or a node that fails cost only the chunks since the last record: Slurm requeues the task,
# and --resume goes on where it was. Afterwards, one report of all tasks:
#
#     convoy run --merge-reports convoy-reports/JOBID-*.json --report report.json
#
# CONVOY names the program, CONVOY_REPORTS the folder of reports.
#SBATCH --job-name=convoy
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@60
#SBATCH --output=convoy-%A_%a.log
set -euo pipefail

: "${1:?usage: sbatch --array=1-N convoy-array.sh pipeline.yaml [option ...]}"
: "${SLURM_ARRAY_TASK_ID:?start it with sbatch --array=1-N}"
reports=${CONVOY_REPORTS:-convoy-reports}
mkdir -p "$reports"

# The shell is what Slurm signals 60 s before the end, and on preemption: it hands the signal on, and waits for the
# journal to be written.
"${CONVOY:-convoy}" run "$@" --shard slurm --resume --threads "${SLURM_CPUS_PER_TASK:-1}" \
  --report "$reports/$SLURM_ARRAY_JOB_ID-$SLURM_ARRAY_TASK_ID.json" &
work=$!
stopped=no
trap 'stopped=now; kill -USR1 "$work" 2>/dev/null || true' USR1 TERM
finish() { status=0; wait "$work" || status=$?; }
finish
while [ "$stopped" = now ]; do  # the signal ended the wait, not the work
  stopped=yes
  finish
done

# Out of time, not preempted: back into the queue by ourselves. 138 is 128 + SIGUSR1.
if [ "$stopped" = yes ] && [ "$status" = 138 ]; then
  scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID" || true
fi
exit "$status"
