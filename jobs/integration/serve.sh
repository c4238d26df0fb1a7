# Runs the server in the foreground. With fsync=off, a power failure can damage the data, which does
# not matter here: each run creates a new database.
set -eu
exec sh integration/as-server.sh postgres -D "$1" -p "$OPFLOW_PORT_DB" -c listen_addresses=127.0.0.1 \
  -c unix_socket_directories= -c fsync=off -c max_connections=40 -c log_line_prefix='%q%a '
