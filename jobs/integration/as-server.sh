# Runs a command as the user postgres if this user is root, because PostgreSQL refuses to run as
# root. The user postgres needs access to this folder.
set -eu
if [ "$(id -u)" = 0 ]; then
  set -- setpriv --reuid=postgres --regid=postgres --clear-groups "$@"
fi
exec sh integration/postgres.sh "$@"
