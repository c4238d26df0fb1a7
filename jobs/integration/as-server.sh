# Runs a command as PostgreSQL's own user where this is root, since the server refuses root. That user must be able to
# come to the folder.
set -eu
if [ "$(id -u)" = 0 ]; then
  set -- setpriv --reuid=postgres --regid=postgres --clear-groups "$@"
fi
exec sh integration/postgres.sh "$@"
