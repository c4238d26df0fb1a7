# Creates an empty database cluster in FOLDER/data. Local connections need no password.
set -eu
rm -rf "$1"
mkdir -p "$1/data"
chmod 700 "$1/data"
if [ "$(id -u)" = 0 ]; then
  chown postgres: "$1/data"
  if ! sh integration/as-server.sh test -w "$PWD/$1/data"; then
    echo "The server runs as the user postgres, who has no access to $PWD/$1." >&2
    exit 1
  fi
fi
sh integration/as-server.sh initdb --pgdata="$1/data" --username=app --auth=trust --encoding=UTF8 \
  --no-locale --no-sync --no-instructions > "$1/initdb"
echo "created a cluster in $1/data"
