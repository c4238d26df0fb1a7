# Measures how fast tasks start and end.
# shellcheck shell=bash disable=SC2154,SC2317

# manifest COUNT NEEDS COMMAND: writes tasks t0 to t(COUNT-1) to `opflow.yaml`, `build.ninja` and
# `Makefile`. NEEDS is an awk expression: the needs of task i, with a space before each.
manifest() {
  awk -v tasks="$1" -v command="$3" '
    function needs(i) { return '"$2"' }
    function listed(text) { gsub(/ /, ", ", text); return substr(text, 3) }
    BEGIN {
      print "tasks:" >"opflow.yaml"
      printf "rule run\n  command = %s\n", command >"build.ninja"
      all = ".PHONY:"
      for (i = 0; i < tasks; i++) {
        text = needs(i)
        printf "  t%d: { %srun: \"%s\" }\n", i, text == "" ? "" : "needs: [" listed(text) "], ", command >"opflow.yaml"
        printf "build t%d: run%s\n", i, text >"build.ninja"
        printf "t%d:%s\n\t@%s\n", i, text, command >"Makefile"
        all = all " t" i
      }
      print all >"Makefile"
      printf "all:" >"Makefile"
      for (i = 0; i < tasks; i++) printf " t%d", i >"Makefile"
      print "" >"Makefile"
    }'
}
# A hundred parallel chains: task i needs task i - 100.
chains='i < 100 ? "" : " t" (i - 100)'

opflow_run() { rm -rf state; measure 1 "$opflow" run -j 2 -q --state-dir state; }
ninja_run() { rm -f .ninja_log .ninja_deps; measure 1 ninja -j 2 --quiet; }
make_run() { measure 1 make -s -j 2 all; }

bench_start() {
  start_run() { measure 200 "$opflow" version; }
  start_ninja_run() { measure 200 ninja --version; }
  start_limit_run() { measure 200 "$place/nothing"; }
  goal[start-up/cpu/ninja]=1
  goal[start-up/wall/ninja]=1
  race start-up 200 'cpu wall' start start_ninja start_limit
}

bench_dispatch() {
  local count few
  count=$(sized 10000)
  few=$(sized 500)
  # With a path, because `true` is a builtin of ninja's shell.
  manifest "$count" "$chains" /bin/true
  xargs_run() { seq "$count" >numbers; CLOCK_INPUT=numbers measure 1 xargs -P 2 -n 1 /bin/true; }
  # GNU parallel is slow: fewer tasks are enough.
  parallel_run() {
    seq "$few" >few
    local figures
    figures=$(CLOCK_INPUT=few measure 1 parallel -j 2 /bin/true)
    printf '%s %s\n' "$figures" "$few"
  }
  limit_run() { measure 1 "$place/spawn" "$count" /bin/true; }
  goal[dispatch/cpu/limit]=1.10
  goal[dispatch/cpu/ninja]=0.82
  race dispatch "$count" 'cpu wall' opflow ninja make xargs parallel limit
}

# opflow, make and the limit start the program `true`; in ninja it is a builtin of the shell.
bench_builtin() {
  local count
  count=$(sized 10000)
  manifest "$count" "$chains" true
  limit_run() { measure 1 "$place/spawn" "$count" true; }
  race "dispatch of a shell's builtin" "$count" 'cpu wall' opflow ninja make limit
}

# The program is in the last of sixteen folders of PATH. Its name is not a builtin of any shell, so
# all contenders search PATH.
bench_path() {
  local count number folders=
  count=$(sized 10000)
  for number in {1..16}; do
    mkdir -p "folder-$number"
    folders+=${folders:+:}$place/folder-$number
  done
  ln -sf "$(type -P true)" folder-16/nothing-to-do
  manifest "$count" "$chains" nothing-to-do
  path_run() { rm -rf state; PATH=$folders measure 1 "$opflow" run -j 2 -q --state-dir state; }
  path_ninja_run() {
    rm -f .ninja_log .ninja_deps
    PATH=$folders measure 1 "$ninja" -j 2 --quiet
  }
  path_limit_run() { PATH=$folders measure 1 "$place/spawn" "$count" nothing-to-do; }
  local ninja
  ninja=$(type -P ninja || true)
  goal['dispatch, PATH of sixteen folders/cpu/ninja']=0.82
  race 'dispatch, PATH of sixteen folders' "$count" 'cpu wall' path path_ninja path_limit
}

# A short run, in which start and end of the run matter.
bench_thousand() {
  local count
  count=$(sized 1000)
  manifest "$count" "$chains" true
  goal['dispatch of a thousand/cpu/ninja']=0.88
  race 'dispatch of a thousand' "$count" 'cpu wall' opflow ninja
}

bench_shell() {
  local count
  count=$(sized 10000)
  manifest "$count" "$chains" 'exit 0'
  limit_run() { measure 1 "$place/spawn" "$count" /bin/sh -ec 'exit 0'; }
  goal['dispatch through sh/cpu/limit']=1.10
  goal['dispatch through sh/cpu/ninja']=1
  race 'dispatch through sh' "$count" 'cpu wall' opflow ninja make limit
}

bench_output() {
  local count
  count=$(sized 10000)
  manifest "$count" "$chains" '/bin/echo a line of output'
  limit_run() { measure 1 "$place/spawn" "$count" /bin/echo a line of output; }
  race 'dispatch with output' "$count" 'cpu wall' opflow ninja make limit
}

bench_chain() {
  local count
  count=$(sized 10000)
  manifest "$count" 'i == 0 ? "" : " t" (i - 1)' true
  race 'chain, a hop' "$count" 'cpu wall' opflow ninja make
}

bench_fan() {
  local count
  count=$(sized 10000)
  # The last task needs all others.
  awk -v tasks="$count" 'BEGIN {
    all = ""
    print "tasks:\n  first: { run: \"true\" }" >"opflow.yaml"
    print "rule run\n  command = true\nbuild first: run" >"build.ninja"
    print "all: last\nfirst:\n\t@true" >"Makefile"
    for (i = 0; i < tasks; i++) {
      printf "  t%d: { needs: first, run: \"true\" }\n", i >"opflow.yaml"
      printf "build t%d: run first\n", i >"build.ninja"
      printf "t%d: first\n\t@true\n", i >"Makefile"
      all = all " t" i
    }
    text = all
    gsub(/ /, ", ", text)
    printf "  last: { needs: [%s], run: \"true\" }\n", substr(text, 3) >"opflow.yaml"
    printf "build last: run%s\n", all >"build.ninja"
    printf "last:%s\n\t@true\n", all >"Makefile"
  }'
  race 'fan' "$count" 'cpu wall' opflow ninja make
}

bench_one() {
  manifest 1 '""' true
  one_run() { rm -rf state; measure 1 "$opflow" run -q --state-dir state; }
  unsynced_run() { rm -rf state; measure 1 "$opflow" run -q --state-dir state --durability none; }
  race 'run of one task' 1 'wall cpu' one ninja make
  race 'run of one task, not synced' 1 'wall cpu' unsynced ninja make
  fact 'run of one task, not synced' us "$(ours 'run of one task, not synced, wall')" 6000
}

# The cost of the live view, with known times from an earlier run.
bench_live() {
  local count
  count=$(sized 20000)
  manifest "$count" "$chains" true
  shown_as() {
    TERM=xterm-256color CLOCK_TERMINAL=1 measure 1 "$opflow" run -j 2 --output "$1" --state-dir known
  }
  live_run() { shown_as live; }
  live_quiet_run() { shown_as quiet; }
  "$opflow" run -q -j 2 --state-dir known 2>errors
  goal['live view/cpu/quiet']=1.02
  race 'live view' "$count" 'cpu' live live_quiet
  rm -rf known
}

bench_million() {
  local count saved=$rounds
  count=$(sized 1000000)
  rounds=1
  manifest "$count" "$chains" true
  goal['a million tasks, a task/rss/']=409600
  race 'a million tasks, a task' "$count" 'cpu wall rss' opflow
  rounds=$saved
}
