# sh inbox/pack.sh LOG: compresses a log in the folder `taken`, verifies the result, removes the
# log.
set -eu
log=out/inbox/taken/$1
packed=out/inbox/packed/$1.gz
# An earlier attempt was killed after it removed the log.
if [ ! -e "$log" ] && [ -e "$packed" ]; then exit 0; fi
mkdir -p out/inbox/packed
gzip -9 -n -c < "$log" > "$packed.part"
gzip -d -c < "$packed.part" | cmp - "$log"
mv "$packed.part" "$packed"
rm "$log"
