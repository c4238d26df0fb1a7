# The server, in the foreground. What it kills a power failure may break: this database is made anew in each run.
set -eu
exec sh integration/as-server.sh postgres -D "$1" -p "$OPFLOW_PORT_DB" -c listen_addresses=127.0.0.1 \
  -c unix_socket_directories= -c fsync=off -c max_connections=40 -c log_line_prefix='%q%a '
