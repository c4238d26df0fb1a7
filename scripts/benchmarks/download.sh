# Measures downloads from a server on this machine.
# shellcheck shell=bash disable=SC2154,SC2317

# serve: starts nginx on a free port with the files in `served`, and sets `base` to its URL.
serve() {
  [[ -z ${base-} ]] || return 0
  mkdir -p served nginx
  local port
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  cat >nginx.conf <<CONF
daemon on;
worker_processes 1;
pid $place/server.pid;
error_log $place/nginx/errors;
events { worker_connections 256; }
http {
  access_log off;
  sendfile on;
  keepalive_requests 100000;
  client_body_temp_path $place/nginx; proxy_temp_path $place/nginx; fastcgi_temp_path $place/nginx;
  uwsgi_temp_path $place/nginx; scgi_temp_path $place/nginx;
  server { listen 127.0.0.1:$port; root $place/served; }
}
CONF
  chmod 755 "$place" served
  nginx -c "$place/nginx.conf" 2>nginx/errors || { cat nginx/errors >&2; exit 1; }
  base=http://127.0.0.1:$port
}

bench_download() {
  local size
  size=$(sized 1073741824)
  serve
  head -c "$size" /dev/urandom >served/large
  local sum
  sum=$(sha256sum <served/large | cut -d' ' -f1)
  cat >opflow.yaml <<YAML
tasks:
  large: { download: { url: "$base/large", to: got/ours, sha256: "$sum" } }
YAML
  mkdir -p got
  fetch_run() { rm -rf state got/ours; measure 1 "$opflow" run -q --state-dir state; }
  curl_run() { rm -f got/theirs; measure 1 curl -s -o got/theirs "$base/large"; }
  verified_run() {
    rm -f got/theirs
    measure 1 sh -c "curl -s -o got/theirs $base/large && echo '$sum  got/theirs' | sha256sum -c --status"
  }
  aria2c_run() {
    rm -f got/theirs
    measure 1 aria2c -q --allow-overwrite=true --file-allocation=none --checksum=sha-256="$sum" -d got -o theirs "$base/large"
  }
  limit_run() { rm -f got/theirs; measure 1 "$place/fetch" "$base/large" got/theirs "$sum"; }
  goal['download of 1 GiB, verified/cpu/curl']=0.95
  race 'download of 1 GiB, verified' 1 'cpu wall rss' fetch curl verified aria2c limit
  cmp got/ours served/large
  rm -rf got served/large
}

bench_files() {
  local count=100 number
  serve
  mkdir -p got
  : >list
  printf 'resources: { download: 4 }\ntasks:\n' >opflow.yaml
  for ((number = 0; number < count; number++)); do
    head -c 4096 /dev/urandom >"served/file-$number"
    printf '  f%d: { download: { url: "%s/file-%d", to: got/file-%d } }\n' "$number" "$base" "$number" "$number" >>opflow.yaml
    printf 'url = "%s/file-%d"\noutput = "other/file-%d"\n' "$base" "$number" "$number" >>list
    printf '%s/file-%d\n' "$base" "$number" >>addresses
  done
  fetch_run() { rm -rf state got; mkdir got; measure 1 "$opflow" run -q --state-dir state; }
  curl_run() { rm -rf other; mkdir other; measure 1 curl -s -K list; }
  aria2c_run() { rm -rf other; mkdir other; measure 1 aria2c -q -i addresses -d other; }
  goal['100 small files/wall/curl']=1.3
  race '100 small files' "$count" 'wall cpu' fetch curl aria2c
  rm -rf got other served/file-*
}
