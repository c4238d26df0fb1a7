# Measures how much of `-j` nested makes use, and whether they exceed it.
# shellcheck shell=bash disable=SC2154

# A fake compiler that logs its start and end and uses no CPU.
compiler() {
  cat <<'SCRIPT'
#!/usr/bin/env bash
printf '%s 1\n' "$EPOCHREALTIME" >>"$LOG"
sleep "0.$((RANDOM % 3 + 1))"
printf '%s -1\n' "$EPOCHREALTIME" >>"$LOG"
SCRIPT
}

bench_jobserver() {
  mkdir makes
  pushd makes >/dev/null
  compiler >compiler
  chmod +x compiler
  local count most busy idle
  {
    printf 'tasks:\n'
    # Builds of different sizes, so that some end before others.
    for count in 20 30 40 50; do
      printf '  build-%d: { jobserver: true, run: make -s COUNT=%d }\n' "$count" "$count"
    done
  } >opflow.yaml
  # shellcheck disable=SC2016
  printf 'OBJECTS := $(addprefix o,$(shell seq $(COUNT)))\nall: $(OBJECTS)\n$(OBJECTS): ; @./compiler\n' >Makefile
  : >jobs
  local began=$EPOCHREALTIME
  LOG=$PWD/jobs "$opflow" run -q -j 4 >/dev/null 2>&1
  read -r most busy idle < <(sort -n jobs | awk -v began="$began" -v ended="$EPOCHREALTIME" '
    { at += $2; if (at > most) most = at; sum += $2 < 0 ? $1 - began : began - $1 }
    END { part = sum / 4 / (ended - began) * 100; printf "%d %.1f %.1f\n", most, part, 100 - part }')
  fact 'four makes with -j 4, most compilers at once' jobs "$most" 4
  fact 'the same, part of -j that idles' percent "$idle" 10
  printf 'bench: jobs busy %s percent of the time\n' "$busy" >&2
  popd >/dev/null
}
