#!/usr/bin/env bash
# Checks what can be checked of deploy/ without a container engine: bash deploy/check.sh PROGRAM, as root on Linux.
# The program runs as in the image: alone in a root with its libraries, as the user 65532, with the image's environment; the unit and the
# compose files are judged by systemd-analyze and docker-compose where they are installed.
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "$0")"
root=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$root" "$root.log"' EXIT

mkdir -p "$root"/{usr/local/bin,data,tmp,etc}
cp "$program" "$root/usr/local/bin/contextmem"
{ ldd "$program" 2>/dev/null || true; } | { grep -o '/[^ ]*' || true; } | while read -r lib; do mkdir -p "$root$(dirname "$lib")" && cp -L "$lib" "$root$lib"; done
chown 65532:65532 "$root/data"
chmod 755 "$root" && chmod 1777 "$root/tmp"
environment=$(sed -n 's/^ENV //p' Dockerfile | sed 's/CONTEXTMEM_ADDR=[^ ]*/CONTEXTMEM_ADDR=127.0.0.1:0/')
command=$(sed -n 's/^ENTRYPOINT \["\(.*\)"\]$/\1/p' Dockerfile)

start() {
  : >"$root.log"
  env -i $environment CONTEXTMEM_API_KEYS=check "$(command -v chroot)" --userspec=65532:65532 "$root" "$command" serve 2>"$root.log" &
  server=$!
  for _ in $(seq 200); do
    address=$(sed -n 's/^contextmem is ready at //p' "$root.log")
    [ -n "$address" ] && return
    kill -0 "$server" 2>/dev/null || break
    sleep 0.05
  done
  cat "$root.log"; echo "it did not start"; exit 1
}
stop() {
  kill -TERM "$server"
  wait "$server" || { cat "$root.log"; echo "it did not end well"; exit 1; }
  server=
}
ask() { curl -sf "$address$1" -H 'Authorization: Bearer check' -H 'Content-Type: application/json' -d "$2"; }

start
grep -q '^Uid:[[:space:]]*65532[[:space:]]*65532' "/proc/$server/status"
ask /ext/databases '{"database":"main"}' >/dev/null
ask /ext/remember '{"database":"main","memories":[{"text":"Alice takes her coffee black."}]}' >/dev/null
stop
start
ask /query '{"database":"main","type":"memory","query":"how does Alice drink coffee?"}' | grep -q 'coffee black'
stop
[ -z "$(find "$root" -user 65532 ! -path "$root/data*" ! -path "$root/tmp*")" ] || { echo "it wrote outside /data"; exit 1; }
echo "the program runs as in the image"

if command -v systemd-analyze >/dev/null; then
  mkdir -p "$root/etc/systemd/system"
  cp contextmem.service "$root/etc/systemd/system/"
  cp contextmem.env "$root/etc/contextmem.env"
  said=$(systemd-analyze verify --man=no --recursive-errors=no --root="$root" /etc/systemd/system/contextmem.service 2>&1) || { echo "$said"; exit 1; }
  ! grep contextmem <<<"$said" || exit 1
  echo "the unit is well"
fi
# What goes wrong beside an engine only. 10 s for requests and 20 s to close have to fit before the engine or systemd kills.
long() { sed -n "s/^ *$1\([0-9]*\)s\{0,1\}\( .*\)\{0,1\}$/\1/p" "$2" | head -n 1; }
for limit in "$(long 'stop_grace_period: ' compose.yaml)" "$(sed -n '/^  contextmem:/,$p' compose.postgres.yaml | long 'stop_grace_period: ' /dev/stdin)" "$(long TimeoutStopSec= contextmem.service)"; do
  [ "${limit:-0}" -gt 30 ] || { echo "a server that takes 30 s to end is killed before"; exit 1; }
done
# A project without a name is called deploy, as any other in a folder of that name.
for file in compose.yaml compose.postgres.yaml; do grep -qx 'name: contextmem' "$file" || { echo "$file has no name"; exit 1; }; done
# A node that reaches none of those it shall join ends, and one that does not know the name of the first joins none: each begins with itself.
nodes=$(sed -n 's/^  \(weaviate[0-9]*\):$/\1/p' compose.weaviate.yaml | sort -u)
for node in $nodes; do
  joined=$(sed -n "/^  $node:\$/,/^  [^ ]/s/^ *CLUSTER_JOIN: //p" compose.weaviate.yaml | head -n 1)
  [ "${joined%%:*}" = "$node" ] && [ "$(tr , '\n' <<<"$joined" | sed 's/:7100$//' | sort)" = "$nodes" ] || { echo "$node does not join itself first, and then all others"; exit 1; }
done
echo "the limits and names of the compose files are well"

if command -v docker-compose >/dev/null; then
  mkdir "$root/deploy"
  cp compose*.yaml "$root/deploy/"
  [[ $(docker-compose version --short) != 1.* ]] || sed -i '/^name: /d' "$root"/deploy/compose*.yaml # generation 1 does not know it
  cd "$root/deploy"
  unset CONTEXTMEM_API_KEYS CONTEXTMEM_DB_PASSWORD POSTGRES_PASSWORD
  CONTEXTMEM_API_KEYS=check docker-compose -f compose.yaml config >/dev/null
  ! docker-compose -f compose.yaml config >/dev/null 2>&1 || { echo "the compose file does not ask for a key"; exit 1; }
  CONTEXTMEM_API_KEYS=check CONTEXTMEM_DB_PASSWORD=check POSTGRES_PASSWORD=check docker-compose -f compose.postgres.yaml config >/dev/null
  ! CONTEXTMEM_API_KEYS=check docker-compose -f compose.postgres.yaml config >/dev/null 2>&1 || { echo "the compose file of PostgreSQL does not ask for passwords"; exit 1; }
  CONTEXTMEM_API_KEYS=check CONTEXTMEM_DB_PASSWORD=check POSTGRES_PASSWORD=check docker-compose -f compose.postgres.yaml -f compose.weaviate.yaml config >/dev/null
  echo "the compose files are well"
fi
