# Measures how fast manifests and finished runs are read.
# shellcheck shell=bash disable=SC2154,SC2317

# large COUNT: prints a realistic manifest, with a few keys per task in block style.
large() {
  awk -v tasks="$1" 'BEGIN {
    print "version: 1\nname: large\ntasks:"
    for (i = 0; i < tasks; i++) {
      printf "  task-%d:\n    desc: the task with the number %d\n", i, i
      if (i >= 10) printf "    needs: [task-%d, task-%d]\n", i - 10, i - 7
      printf "    run: ./work --number %d --output out/%d.txt\n    env: { NUMBER: %d, LEVEL: high }\n    timeout: 10m\n    priority: %d\n", i, i, i, i % 10
    }
  }'
}

check_run() { measure 1 "$opflow" check large.yaml; }

bench_check() {
  local count
  count=$(sized 100000)
  large "$count" >large.yaml
  libyaml_run() { measure 1 "$place/events" large.yaml; }
  goal[check/cpu/libyaml]=1.3
  race check "$count" 'cpu wall' check libyaml
  # Subtract the memory of an almost empty manifest.
  large 10 >little.yaml
  local all little
  read -r _ _ all <<<"$(measure 1 "$opflow" check large.yaml)"
  read -r _ _ little <<<"$(measure 1 "$opflow" check little.yaml)"
  fact 'check, memory of a task above the file' bytes \
    $((((all - little) * 1024 - $(stat -c %s large.yaml)) / count)) 250
}

# finished COUNT: makes a finished run of COUNT tasks in `state`, and the same graph for ninja, with
# nothing to do: outputs are created in order, and `generator` keeps ninja from comparing commands
# with its log.
finished() {
  awk -v tasks="$1" 'BEGIN {
    print "tasks:" >"opflow.yaml"
    print "rule run\n  command = touch $out\n  generator = 1" >"build.ninja"
    for (i = 0; i < tasks; i++) {
      printf "  t%d: { %srun: \"true\" }\n", i, i < 10 ? "" : sprintf("needs: [t%d, t%d], ", i - 10, i - 7) >"opflow.yaml"
      printf "build t%d: run%s\n", i, i < 10 ? "" : sprintf(" t%d t%d", i - 10, i - 7) >"build.ninja"
    }
  }'
  seq 0 $(($1 - 1)) | sed 's/^/t/' | xargs touch
  rm -rf state
  measure 1 "$opflow" run -j 2 -q --state-dir state --durability none >/dev/null
}

bench_resume() {
  local count
  count=$(sized 100000)
  mkdir finished
  pushd finished >/dev/null
  finished "$count"
  resume_run() { measure 1 "$opflow" resume -q --state-dir state; }
  status_run() { measure 1 "$opflow" status --state-dir state; }
  idle_ninja_run() { measure 1 ninja --quiet; }
  goal['resume of a finished run/wall/ninja']=0.1
  goal['status of a finished run/wall/ninja']=0.1
  race 'resume of a finished run' "$count" 'cpu wall' resume idle_ninja
  race 'status of a finished run' "$count" 'cpu wall' status idle_ninja
  popd >/dev/null
  rm -rf finished
}

bench_growth() {
  local count kind
  local -a sizes=(1000 10000 100000 1000000)
  ((scale == 1)) || sizes=(100 1000)
  for count in "${sizes[@]}"; do
    large "$count" >large.yaml
    plan_run() { measure 1 "$opflow" plan large.yaml; }
    race "check of $count, a task" "$count" cpu check
    race "plan of $count, a task" "$count" 'cpu rss' plan
  done
  for kind in "a chain of" "one that needs"; do
    for count in "${sizes[@]}"; do
      shape "$kind" "$count" >large.yaml
      race "check of $kind $count, a task" "$count" cpu check
    done
  done
}

# shape KIND COUNT: prints a manifest: a chain of COUNT tasks, or a task that needs COUNT others.
shape() {
  awk -v kind="$1" -v tasks="$2" 'BEGIN {
    print "tasks:"
    for (i = 0; i < tasks; i++)
      printf "  t%d: { %srun: \"true\" }\n", i, kind == "a chain of" && i ? sprintf("needs: [t%d], ", i - 1) : ""
    if (kind == "one that needs") {
      printf "  last: { run: \"true\", needs: ["
      for (i = 0; i < tasks; i++) printf "%st%d", i ? ", " : "", i
      print "] }"
    }
  }'
}
