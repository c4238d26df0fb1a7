# Measures the cost of adding tasks to a queue from Swift, compared with a manifest that has them.
# shellcheck shell=bash disable=SC2154,SC2317

goal['tasks added from Swift, each awaited/wall/manifest']=1.3
goal['tasks added from Swift in one call/wall/manifest']=1.3

bench_library() {
  local count
  count=$(sized 10000)
  swift build -c release -debug-info-format none --disable-local-rpath --package-path "$root" --product LibraryBench </dev/null >"$place/log" 2>&1 ||
    { cat "$place/log" >&2; exit 1; }
  mkdir library
  pushd library >/dev/null
  awk -v count="$count" 'BEGIN {
    print "tasks:"
    for (t = 0; t < count; t++) printf "  t%d: { run: [/bin/true] }\n", t
  }' >all.yaml
  library() { rm -rf queue; measure 1 "$root/.build/release/LibraryBench" "$1" "$count" queue "$opflow"; }
  each_run() { library each; }
  together_run() { library bulk; }
  manifest_run() { rm -rf run; measure 1 "$opflow" run all.yaml -q --state-dir run; }
  # Wall time only: the queue runs in another process.
  race 'tasks added from Swift, each awaited' "$count" wall each manifest
  race 'tasks added from Swift in one call' "$count" wall together manifest
  popd >/dev/null
  rm -rf library
}
