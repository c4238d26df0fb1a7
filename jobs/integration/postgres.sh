# Runs a command with the PostgreSQL programs on the PATH and the port of this run's server in
# PGPORT.
set -eu
for programs in /usr/lib/postgresql/*/bin; do
  [ ! -d "$programs" ] || PATH=$programs:$PATH
done
export PATH
if [ -n "${OPFLOW_PORT_DB-}" ]; then export PGPORT="$OPFLOW_PORT_DB"; fi
if ! command -v postgres >/dev/null; then
  echo "PostgreSQL not found (Debian: apt-get install postgresql)" >&2
  exit 127
fi
exec "$@"
