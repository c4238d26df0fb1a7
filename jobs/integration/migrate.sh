# Applies the missing migrations. A migration and its row in the table `migrations` are one
# transaction.
set -eu
run() { sh integration/postgres.sh psql -XAtq -v ON_ERROR_STOP=1 "$@"; }
export PGAPPNAME=migrate PGOPTIONS='-c client_min_messages=warning'
run -c 'create table if not exists migrations (name text primary key)'
for file in integration/*.sql; do
  name=${file##*/}
  [ "$name" != tests.sql ] || continue
  if [ -n "$(run -c "select 1 from migrations where name = '$name'")" ]; then
    echo "$name already applied"
    continue
  fi
  run --single-transaction -f "$file" -c "insert into migrations values ('$name')"
  echo "$name applied"
done
