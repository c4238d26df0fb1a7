# Makes one row of the table from lines `ROUND CONTENDER CPU WALL RSS COUNT...`: the medians of
# opflow and of the peer per item, and the median, least and greatest ratio of the rounds.

function median(values, count,   i, j, held) {
  for (i = 2; i <= count; i++) {
    held = values[i]
    for (j = i - 1; j > 0 && values[j] > held; j--) values[j + 1] = values[j]
    values[j + 1] = held
  }
  return count % 2 ? values[(count + 1) / 2] : (values[count / 2] + values[count / 2 + 1]) / 2
}

BEGIN { field = column == "cpu" ? 3 : column == "wall" ? 4 : 5 }

# If a contender prints its own count, that is field 6, before the general count. Memory is not
# divided by the count.
{ value = column == "rss" ? $field : $field / $6 }
$2 == ours { mine[$1] = value; own[++ownCount] = value }
peer != "" && $2 == peer { its[$1] = value; other[++otherCount] = value }

END {
  unit = column == "rss" ? "KiB" : "us"
  if (peer == "") {
    printf "%s, %s\t%s\t\t%s\t\t\t\t\t%s\n", label, column, unit, median(own, ownCount), goal
    exit
  }
  for (round in mine) {
    if (its[round] <= 0) continue
    ratios[++count] = mine[round] / its[round]
  }
  middle = median(ratios, count)
  printf "%s, %s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", label, column, unit, word, median(own, ownCount),
    median(other, otherCount), middle, ratios[1], ratios[count], goal
}
