# Measures how fast the journal is written and read, and how fast the scheduler decides.
# shellcheck shell=bash disable=SC2154,SC2317

build_stress() {
  local log=build.log
  swift build --package-path "$root" -c release -debug-info-format none --product Stress >"$log" 2>&1 </dev/null || { cat "$log" >&2; exit 1; }
  stress=$root/.build/release/Stress
}

bench_journal() {
  local count
  count=$(sized 1000000)
  build_stress
  append_run() { "$stress" journal append "$count" ours.log; }
  append_limit_run() { "$place/journal" append "$count" theirs.log; }
  race 'journal, a line written' "$count" 'cpu wall' append append_limit
  replay_run() { "$stress" journal replay "$count" ours.log; }
  replay_limit_run() { "$place/journal" replay theirs.log; }
  replay_wc_run() { measure 1 wc -l ours.log; }
  race 'journal, a line read' "$count" 'cpu wall' replay replay_limit replay_wc
  fact 'journal, a million lines read, cpu' us \
    "$(ours 'journal, a line read, cpu' | awk '{ print $1 * 1000000 }')" 150000
  rm -f ours.log theirs.log
}

bench_scheduler() {
  local count
  build_stress
  for count in 1000 10000 100000 1000000; do
    ((count / scale >= 10)) || continue
    # The program measures itself, without the time to make the plan.
    scheduler_run() {
      "$stress" scheduler "$count" |
        awk -v transitions=$((3 * count)) '$1 == "play_us" { print $2, $2, 0, transitions }'
    }
    goal["scheduler, a transition among $count tasks/cpu/"]=0.1
    race "scheduler, a transition among $count tasks" 1 cpu scheduler
  done
}
