# sh inbox/pack.sh LOG: packs one log of those that were taken.
set -eu
log=out/inbox/taken/$1
packed=out/inbox/packed/$1.gz
# A try before this one had come to its last line.
if [ ! -e "$log" ] && [ -e "$packed" ]; then exit 0; fi
mkdir -p out/inbox/packed
gzip -9 -n -c < "$log" > "$packed.part"
gzip -d -c < "$packed.part" | cmp - "$log"
mv "$packed.part" "$packed"
rm "$log"
