# Prints the table in the format `form`: text, page (for the manual) or json.
# Fields: measurement, unit, peer, opflow, other, ratio, least ratio, greatest ratio, goal.

function short(value) {
  if (value == "") return ""
  if (value >= 100) return sprintf("%.0f", value)
  if (value >= 10) return sprintf("%.1f", value)
  return sprintf("%.2f", value)
}
function ratio(value) { return value == "" ? "" : sprintf("%.3f", value) }
function spread() { return $7 == "" ? "" : sprintf("%.2f to %.2f", $7, $8) }
function range() { return $7 == "" ? "" : sprintf("%.2f-%.2f", $7, $8) }
function wanted() { return $9 == "" ? "" : "at most " $9 }
# Formats a value with a unit that makes it short.
function measured(value) {
  if (value == "") return ""
  if ($2 == "us" && value >= 1e6) return short(value / 1e6) " s"
  if ($2 == "us" && value >= 1e3) return short(value / 1e3) " ms"
  if ($2 == "KiB" && value >= 1048576) return short(value / 1048576) " GiB"
  if ($2 == "KiB" && value >= 1024) return short(value / 1024) " MiB"
  return short(value) " " $2
}
# With a peer, a goal is a ratio.
function limit() { return $9 == "" ? "" : "goal " ($3 == "" ? measured($9) : $9) }
function quoted(text) { gsub(/[\\"]/, "\\\\&", text); return "\"" text "\"" }
function number(value) { return value == "" ? "null" : value }

BEGIN {
  if (form == "text")
    printf "%-44s %-9s %12s %12s %8s %-16s %s\n", "", "peer", "opflow", "peer", "ratio", "spread", "goal"
  if (form == "json")
    printf "{\"date\": %s, \"machine\": %s, \"versions\": %s, \"rows\": [", quoted(date), quoted(machine), quoted(versions)
}

form == "text" {
  printf "%-44s %-9s %12s %12s %8s %-16s %s\n", $1 " (" $2 ")", $3, short($4), short($5), ratio($6), spread(), wanted()
}
# Rows without peer and goal are only in JSON.
form == "page" && $3 $9 != "" {
  line = sprintf("%-48s %9s  %-9s %5s  %-9s  ", $1 == last ? "" : $1, $1 == last ? "" : measured($4), $3, ratio($6), range()) limit()
  sub(/ +$/, "", line)
  print line
  last = $1
}
form == "json" {
  printf "%s\n  {\"what\": %s, \"unit\": %s, \"peer\": %s, \"opflow\": %s, \"other\": %s, \"ratio\": %s, \"least\": %s, \"greatest\": %s, \"goal\": %s}",
    (NR > 1 ? "," : ""), quoted($1), quoted($2), ($3 == "" ? "null" : quoted($3)), number($4), number($5), number($6), number($7), number($8), number($9)
}

END { if (form == "json") print "\n]}" }
