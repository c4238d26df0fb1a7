# Runs the tests of one shard. Passes the number of its customers to the task `report`, and writes
# it to a file.
set -eu
export PGAPPNAME="shard-$SHARD"
run() { sh integration/postgres.sh psql -XAtq -v ON_ERROR_STOP=1 -v "shard=$SHARD" -v "schema=shard_$SHARD" "$@"; }
run -f integration/tests.sql
if [ "$BROKEN" = true ]; then run -c 'select nothing_of_that_name from customers'; fi
count=$(run -c "select count(*) || ' ' || sum(cents) from shard_$SHARD.mine join totals on customer = id")
echo "$count" > "out/integration/shard-$SHARD.part"
mv "out/integration/shard-$SHARD.part" "out/integration/shard-$SHARD"
echo "${count% *}" > "$OPFLOW_VALUES/customers"
