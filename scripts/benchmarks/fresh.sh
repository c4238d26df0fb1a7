# Measures how fast changed inputs are detected.
# shellcheck shell=bash disable=SC2154,SC2317

# project COUNT: writes COUNT tasks with nine input files each and one shared file: with file names
# in `opflow.yaml`, `build.ninja`, `Makefile` and `Taskfile.yml`, with patterns in
# `globs/opflow.yaml`.
project() {
  mkdir -p src out globs
  awk -v tasks="$1" 'BEGIN {
    print "tasks:" >"opflow.yaml"
    print "tasks:" >"globs/opflow.yaml"
    print "rule run\n  command = touch $out" >"build.ninja"
    print "version: \"3\"\ntasks:\n  all:\n    deps:" >"Taskfile.yml"
    all = "all:"
    for (i = 0; i < tasks; i++) {
      files = ""
      for (k = 0; k < 9; k++) {
        name = "src/" i "." k
        files = files " " name
        print name >name
        close(name)
      }
      listed = files
      gsub(/ /, ", ", listed)
      printf "  t%d: { run: [touch, out/%d], inputs: [src/common%s], outputs: [out/%d] }\n", i, i, listed, i >"opflow.yaml"
      printf "  t%d: { dir: .., run: [touch, out/%d], inputs: [src/common, \"src/%d.?\"], outputs: [out/%d] }\n", i, i, i, i >"globs/opflow.yaml"
      printf "build out/%d: run src/common%s\n", i, files >"build.ninja"
      rules = rules sprintf("out/%d: src/common%s\n\t@touch $@\n", i, files)
      all = all " out/" i
      printf "      - t%d\n", i >"Taskfile.yml"
    }
    printf "%s\n%s", all, rules >"Makefile"
    for (i = 0; i < tasks; i++) {
      printf "  t%d:\n    cmds: [touch out/%d]\n    generates: [out/%d]\n    sources:\n      - src/common\n", i, i, i >"Taskfile.yml"
      for (k = 0; k < 9; k++) printf "      - src/%d.%d\n", i, k >"Taskfile.yml"
    }
  }'
  printf 'common\n' >src/common
}

# settle COMMAND...: runs the command twice. The first run cannot trust the times of files that were
# just written, so the second reads them again.
settle() { { "$@" && "$@"; } >/dev/null 2>&1 || { printf 'bench: command failed: %s\n' "$*" >&2; exit 1; }; }

bench_fresh() {
  local count few
  count=$(sized 10000)
  few=$(sized 500)
  mkdir fresh
  pushd fresh >/dev/null
  project "$count"
  literal_run() { measure 1 "$opflow" run -j 2 -q --state-dir state opflow.yaml; }
  globs_run() { measure 1 "$opflow" run -j 2 -q --state-dir state globs/opflow.yaml; }
  fresh_ninja_run() { measure 1 ninja -j 2 --quiet; }
  fresh_make_run() { measure 1 make -r -s -j 2 all; }
  # go-task is slow: fewer tasks are enough.
  gotask_run() { (cd few && printf '%s %s\n' "$(measure 1 "$gotask" --silent --concurrency 2 all)" "$few"); }
  settle "$opflow" run -j 2 -q --state-dir state opflow.yaml
  settle "$opflow" run -j 2 -q --state-dir state globs/opflow.yaml
  if is_there ninja; then settle ninja --quiet; fi
  if is_there make; then settle make -r -s all; fi
  if is_there gotask; then
    mkdir few
    (cd few && project "$few" && settle "$gotask" --silent --concurrency 2 all)
  fi
  goal['nothing changed, inputs by name/wall/ninja']=1.3
  goal['nothing changed, inputs by patterns/wall/ninja']=2
  race 'nothing changed, inputs by name' "$count" 'cpu wall' literal fresh_ninja fresh_make gotask
  race 'nothing changed, inputs by patterns' "$count" 'wall rss' globs fresh_ninja
  popd >/dev/null
  rm -rf fresh
}

# All files have new times, so they must be read again. No task runs.
bench_touched() {
  local count
  count=$(sized 100000)
  mkdir touched
  pushd touched >/dev/null
  mkdir src
  awk -v files="$count" 'BEGIN {
    while (length(filler) < 20000) filler = filler "some text of a file "
    for (i = 0; i < files; i++) {
      name = "src/" i
      print i, filler >name
      close(name)
    }
  }'
  printf 'tasks:\n  a: { run: [touch, out], inputs: ["src/*"], outputs: [out] }\n' >opflow.yaml
  touch_all() { find src -type f -print0 | xargs -0 touch -d '2020-01-01 00:00:00.5'; }
  touched_run() {
    touch_all
    measure 1 "$opflow" run -j 2 -q --state-dir state opflow.yaml
  }
  xxhsum_run() { CLOCK_INPUT=names measure 1 xargs -0 xxhsum -q -H2; }
  settle "$opflow" run -j 2 -q --state-dir state opflow.yaml
  find src -type f -print0 >names
  goal['all files touched, 20 KB each/wall/xxhsum']=1.2
  race 'all files touched, 20 KB each' "$count" 'cpu wall rss' touched xxhsum
  popd >/dev/null
  rm -rf touched
}

# One task that reads a million files in a thousand folders.
bench_tree() {
  local folders
  folders=$(sized 1000)
  mkdir tree
  pushd tree >/dev/null
  local folder
  for ((folder = 0; folder < folders; folder++)); do
    mkdir -p "src/$folder"
    (cd "src/$folder" && seq -f 'file-%g.c' 1000 | xargs touch)
  done
  printf 'tasks:\n  a: { run: "true", inputs: ["src/**/*.c"] }\n' >opflow.yaml
  tree_run() { measure 1 "$opflow" run -j 1 -q --state-dir state opflow.yaml; }
  find_run() { measure 1 find src -name '*.c' -printf '%p %i %s %T@ %C@\n'; }
  settle "$opflow" run -j 1 -q --state-dir state opflow.yaml
  goal['a million files by a pattern/wall/find']=2
  race 'a million files by a pattern' "$((folders * 1000))" 'cpu wall rss' tree find
  popd >/dev/null
  rm -rf tree
}
