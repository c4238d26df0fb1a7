# Measures contenders and prints the results. The other files in this folder define the benchmarks.
# shellcheck shell=bash disable=SC2154

# prepare_limits: builds the C programs, which do only the unavoidable work, and the clock.
prepare_limits() {
  local name
  for name in clock spawn nothing; do cc -O2 -o "$place/$name" "$own/$name.c"; done
  cc -O2 -o "$place/events" "$own/events.c" -lyaml
  cc -O2 -o "$place/fetch" "$own/fetch.c" -lcurl -lcrypto
  cc -O2 -I "$root/Sources/CHash/include" -o "$place/journal" "$own/journal.c" "$root"/Sources/CHash/*.c -lxxhash -lcrypto
  : >"$place/table.tsv"
}

# sized N: prints N, scaled down by --small.
sized() {
  local number=$(($1 / scale))
  printf '%d' $((number > 10 ? number : 10))
}

# measure COUNT COMMAND...: runs the command COUNT times and prints `CPU WALL RSS`. If it fails,
# prints its errors and exits.
measure() {
  "$place/clock" "$@" || { printf 'bench: command failed: %s\n' "${*:2}" >&2; cat errors >&2; exit 1; }
}

# race LABEL PER COLUMNS CONTENDER...: runs all contenders in turn, in each round, and adds a row
# for each column (cpu, wall, rss) and each peer. The first contender is opflow. A contender is a
# function CONTENDER_run that prints `CPU WALL RSS` for PER items, or for the number of items that
# it prints as a fourth value. The table shows the part of its name after the last `_`. The goal of
# a ratio is goal[LABEL/COLUMN/PEER].
declare -A goal=()
race() {
  local label=$1 per=$2 columns=$3 round contender figures
  local -a contenders=()
  shift 3
  for contender; do
    if is_there "${contender##*_}"; then contenders+=("$contender"); fi
  done
  set -- "${contenders[@]}"
  : >"$place/rows"
  for ((round = 1; round <= rounds; round++)); do
    for contender; do
      figures=$("${contender}_run")
      printf '%s %s %s %s\n' "$round" "$contender" "$figures" "$per" >>"$place/rows"
    done
  done
  local column peer
  for column in $columns; do
    if (($# == 1)); then add_row "$label" "$column" "$1" ''; fi
    for peer in "${@:2}"; do add_row "$label" "$column" "$1" "$peer"; done
  done
}

# go-task is installed from a Python package, since Debian has none.
gotask=$root/.build/bench/bin/task

# is_there PEER: succeeds if the peer is installed. With --small, missing peers are skipped.
is_there() {
  case "$1" in
    makeflow | ninja | make | xargs | parallel | curl | aria2c | xxhsum | find) command -v "$1" >/dev/null ;;
    gotask) [[ -x $gotask ]] ;;
  esac
}

# add_row LABEL COLUMN OURS PEER: adds a row to the table, from the file `rows`.
add_row() {
  local word=${4##*_}
  awk -v label="$1" -v column="$2" -v ours="$3" -v peer="$4" -v word="$word" \
    -v goal="${goal[$1/$2/$word]-}" -f "$own/row.awk" "$place/rows" >>"$place/table.tsv"
}

# ours LABEL: prints the value of opflow in an existing row.
ours() { awk -F '\t' -v label="$1" '$1 == label { print $4; exit }' "$place/table.tsv"; }

# fact LABEL UNIT VALUE GOAL: adds a row without a peer.
fact() { printf '%s\t%s\t\t%s\t\t\t\t\t%s\n' "$1" "$2" "$3" "$4" >>"$place/table.tsv"; }

machine() {
  local model
  model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
  printf '%s, %s cores, %s, %s' "${model:-$(uname -m)}" "$(nproc)" "$(uname -sr)" \
    "$(df --output=fstype "$place" | tail -n 1)"
}

versions() {
  local peer
  "$opflow" version | head -n 1 | tr -d '\n'
  for peer in ninja make parallel curl aria2c xxhsum find; do
    if is_there "$peer"; then printf ', %s %s' "$peer" "$("$peer" --version 2>&1 | grep -oE '[0-9][0-9.]+' | head -n 1)"; fi
  done
  if is_there gotask; then printf ', go-task %s' "$("$gotask" --version | grep -oE '[0-9][0-9.]+' | head -n 1)"; fi
}

print_table() {
  printf '%s\n%s\n%s\n\n' "$(date -u +%F)" "$(machine)" "$(versions)"
  awk -F '\t' -v form=text -f "$own/table.awk" "$place/table.tsv"
}

print_json() {
  awk -F '\t' -v form=json -v date="$(date -u +%F)" -v machine="$(machine)" \
    -v versions="$(versions)" -f "$own/table.awk" "$place/table.tsv"
}

# write_page FILE: replaces the table between the two marks of the page.
write_page() {
  {
    sed '/<!-- table -->/q' "$1"
    printf '\nMeasured on %s, %s rounds: %s.\n%s.\n\n' "$(date -u +%F)" "$rounds" "$(machine)" "$(versions)"
    printf '<!-- not run: a table of measurements -->\n```\n'
    awk -F '\t' -v form=page -f "$own/table.awk" "$place/table.tsv"
    printf '```\n\n'
    sed -n '/<!-- end of table -->/,$p' "$1"
  } >page.md
  cp page.md "$1"
}
