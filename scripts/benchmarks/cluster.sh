# Measures the cost of tasks on the nodes of a cluster.
# shellcheck shell=bash disable=SC2154

# Only the coordinator and one stream to a machine with 64 workers.
bench_stream() {
  local count
  count=$(sized 50000)
  cc -O2 -o "$place/agent" "$own/agent.c"
  awk -v count="$count" 'BEGIN {
    print "tasks:"
    for (t = 0; t < count; t++) printf "  t%d: { run: [/bin/true] }\n", t
  }' >opflow.yaml
  stream_run() { rm -rf state; measure 1 "$opflow" run -q --state-dir state --on "exec:$place/agent 64"; }
  goal['a task over one stream, 64 workers/wall/']=200
  race 'a task over one stream, 64 workers' "$count" 'wall cpu' stream
}

# A hundred tasks of 0.01 s on three nodes with four CPUs each, which are already allocated.
bench_cluster() {
  local count tasks
  tasks=$(sized 100)
  "$root/scripts/cluster" start "$place/slurm" 3 || return 0
  mkdir cluster
  pushd cluster >/dev/null
  # shellcheck source=/dev/null
  source "$place/slurm/env"
  printf 'tasks:\n' >opflow.yaml
  for ((count = 1; count <= tasks; count++)); do
    printf '  t%d: { run: sleep 0.01 }\n' "$count" >>opflow.yaml
    printf 'out.%d:\n\tsleep 0.01; touch out.%d\n' "$count" "$count" >>Makeflow
  done
  printf '#!/bin/sh\nfor i in $(seq %d); do srun -Q -N1 -n1 -c1 --exact --mem=0 sleep 0.01 & done\nwait\n' "$tasks" >loop
  chmod +x loop
  take_nodes
  goal["$tasks tasks of 0.01 s on 3 nodes/wall/makeflow"]=0.26
  race "$tasks tasks of 0.01 s on 3 nodes" 1 wall cluster_opflow cluster_makeflow cluster_srun
  scancel "$(<job)"
  popd >/dev/null
  "$root/scripts/cluster" stop "$place/slurm"
}

# Allocates the nodes and writes the ID of the job to the file `job`.
take_nodes() {
  salloc --quiet --no-shell -N 3 -c 4 -t 30
  squeue --noheader --format=%A >job
}

# within COMMAND...: measures the command in the allocation.
within() {
  SLURM_JOB_ID=$(<job) SLURM_JOB_NODELIST='n[1-3]' SLURM_JOB_CPUS_PER_NODE='4(x3)' measure 1 "$@"
}

cluster_opflow_run() {
  rm -rf .opflow
  within "$opflow" run --output quiet --on slurm
}
cluster_srun_run() { within ./loop; }
# makeflow submits a job per task, so free the allocation first.
cluster_makeflow_run() {
  scancel "$(<job)"
  rm -f out.* Makeflow.makeflowlog
  # Without this variable, Debian's makeflow searches for MPI programs, which it does not need.
  OMPI_MCA_ess_singleton_isolated=1 measure 1 makeflow -T slurm -J "$(sized 100)" Makeflow
  take_nodes
}
