# Runs a command with the programs of PostgreSQL on the PATH, and with the port that the database has in this run.
set -eu
for programs in /usr/lib/postgresql/*/bin; do
  [ ! -d "$programs" ] || PATH=$programs:$PATH
done
export PATH
if [ -n "${OPFLOW_PORT_DB-}" ]; then export PGPORT="$OPFLOW_PORT_DB"; fi
if ! command -v postgres >/dev/null; then
  echo "PostgreSQL is not there: on Debian, apt-get install postgresql" >&2
  exit 127
fi
exec "$@"
