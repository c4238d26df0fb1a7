# Measures the cost of adding tasks to a run, compared with a manifest that has them.
# shellcheck shell=bash disable=SC2154,SC2317

# adding BATCHES TASKS: writes a script that adds BATCHES batches of TASKS tasks to a queue, one
# after the other. Each batch needs tasks of the one before.
adding() {
  awk -v batches="$1" -v tasks="$2" 'BEGIN {
    print "tasks:" >"all.yaml"
    for (b = 0; b < batches; b++) {
      file = "batch-" b ".yaml"
      print "tasks:" >file
      for (t = 0; t < tasks; t++) {
        line = sprintf("  b%d-t%d: { %srun: \"true\" }", b, t, b && t < 10 ? "needs: [b" b - 1 "-t" t "], " : "")
        print line >file
        print line >"all.yaml"
      }
      close(file)
    }
  }'
  cat >adding.sh <<'SCRIPT'
"$OPFLOW" serve --name q -q -j 2 --state-dir batches &
until "$OPFLOW" add --run q --state-dir batches batch-0.yaml; do :; done
for ((batch = 1; batch < BATCHES; batch++)); do
  "$OPFLOW" add --run q --state-dir batches "batch-$batch.yaml" || exit
done
"$OPFLOW" close --run q --state-dir batches
wait %1
SCRIPT
}

bench_adding() {
  local count batches
  count=$(sized 100000)
  batches=$((count / 100))
  mkdir adding
  pushd adding >/dev/null
  adding "$batches" 100
  batches_run() { rm -rf batches; OPFLOW=$opflow BATCHES=$batches measure 1 bash adding.sh; }
  one_manifest_run() { rm -rf one; measure 1 "$opflow" run all.yaml -q -j 2 --state-dir one; }
  race 'tasks added, a hundred at a time' "$count" 'cpu wall' batches one_manifest
  # The same rounds, without the cost allowed per batch.
  fact 'the same without 5 ms a batch, wall, of one manifest' ratio \
    "$(awk -v batches="$batches" -v count="$count" -F '\t' '
      $1 == "tasks added, a hundred at a time, wall" { printf "%.3f", ($4 * count - batches * 5000) / ($5 * count) }' \
      "$place/table.tsv")" 1.5
  popd >/dev/null
  rm -rf adding
}
