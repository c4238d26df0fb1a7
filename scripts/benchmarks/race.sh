# How things are measured and shown; what is measured stands in the files beside this one.
# shellcheck shell=bash disable=SC2154

# prepare_limits: builds the C programs that do the bare minimum, and the clock.
prepare_limits() {
  local name
  for name in clock spawn nothing; do cc -O2 -o "$place/$name" "$own/$name.c"; done
  cc -O2 -o "$place/events" "$own/events.c" -lyaml
  cc -O2 -o "$place/fetch" "$own/fetch.c" -lcurl -lcrypto
  cc -O2 -I "$root/Sources/CHash/include" -o "$place/journal" "$own/journal.c" "$root"/Sources/CHash/*.c -lxxhash -lcrypto
  : >"$place/table.tsv"
}

# sized N: N, or what --small makes of it.
sized() {
  local number=$(($1 / scale))
  printf '%d' $((number > 10 ? number : 10))
}

# measure COUNT COMMAND...: `CPU WALL RSS` of that many goes, or the end with the command's words.
measure() {
  "$place/clock" "$@" || { printf 'bench: this failed: %s\n' "${*:2}" >&2; cat errors >&2; exit 1; }
}

# race LABEL PER COLUMNS CONTENDER...: all contenders in turn, for every round; then a row for each
# column (cpu, wall, rss) and each contender but the first, which is ours. A contender is a function
# CONTENDER_run that prints `CPU WALL RSS` for PER things, or with a fourth number for that many; the
# table names it by what follows the last `_` of its name. The ratio that is to be held stands in
# `goal` under LABEL/COLUMN/PEER.
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

# A Go program that only its own project's packages and a Python package have.
gotask=$root/.build/bench/bin/task

# is_there WORD: whether the peer of that name can take part. Only --small goes on without one.
is_there() {
  case "$1" in
    makeflow | ninja | make | xargs | parallel | curl | aria2c | xxhsum | find) command -v "$1" >/dev/null ;;
    gotask) [[ -x $gotask ]] ;;
  esac
}

# add_row LABEL COLUMN OURS PEER: one row of the table, from `rows`.
add_row() {
  local word=${4##*_}
  awk -v label="$1" -v column="$2" -v ours="$3" -v peer="$4" -v word="$word" \
    -v goal="${goal[$1/$2/$word]-}" -f "$own/row.awk" "$place/rows" >>"$place/table.tsv"
}

# ours LABEL: our own figure of a row that is there already.
ours() { awk -F '\t' -v label="$1" '$1 == label { print $4; exit }' "$place/table.tsv"; }

# fact LABEL UNIT VALUE GOAL: a row that compares with nothing but its goal.
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

# write_page FILE: replaces what stands between the two marks of the page.
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
