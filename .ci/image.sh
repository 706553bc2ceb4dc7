#!/usr/bin/env bash
# Builds the container image without a Docker daemon and runs it as docs/container.md says: no root, no capability, read-only, one volume.
# The base image stands in for the one that the Dockerfile names: Debian bookworm with Node 24 and npm from the npm registry.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! bash .ci/packages.sh buildah=buildah mmdebstrap=mmdebstrap; then
  [[ ${CI:-} != true ]] || exit 1
  echo 'skipped: buildah and mmdebstrap are not here'
  exit 0
fi

work=$(mktemp -d)
canary="canary-$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n')"
running=''
build() { buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs "$@"; }
finish() {
  [[ -z $running ]] || kill -KILL "$running" 2> /dev/null || true
  build umount --all > /dev/null 2>&1 || true
  rm -rf "$work"
}
trap finish EXIT

echo 'base image'
mmdebstrap --quiet --variant=minbase --include=ca-certificates bookworm "$work/base.tar" > "$work/log" 2>&1 || { tail -n 20 "$work/log"; exit 1; }
base=$(build from scratch)
root=$(build mount "$base")
tar -xf "$work/base.tar" -C "$root"
cp "$(bash .ci/nodeBinary.sh 24)/node" "$root/usr/local/bin/node"
mkdir -p "$root/usr/local/lib/node_modules"
cp -rL "$(npm root --global)/npm" "$root/usr/local/lib/node_modules/npm"
ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
# This machine may reach its registries through certificates and addresses of its own.
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
mkdir -p "$root/usr/local/etc"
echo "registry=$(npm config get registry)
cafile=/etc/ssl/certs/ca-certificates.crt" > "$root/usr/local/etc/npmrc"
build umount "$base" > /dev/null
build commit --quiet --rm "$base" "docker.io/library/$(awk '$1 == "FROM" { print $2; exit }' Dockerfile)" > /dev/null

echo 'image'
git clone --quiet --no-hardlinks . "$work/context"
for file in .env secret.key config/mine.local.yaml src/.env; do echo "$canary" > "$work/context/$file"; done
PUNTAS_API_SECRET=$canary build bud --quiet --pull-never --isolation chroot --format docker --network host \
  --tag localhost/puntas:ci "$work/context" > "$work/log" 2>&1 || { tail -n 40 "$work/log"; exit 1; }

echo 'what the image says of itself'
build inspect --type image localhost/puntas:ci > "$work/inspect.json"
node -e "
  const { config } = JSON.parse(require('fs').readFileSync(process.argv[1], 'utf8')).Docker;
  const flaws = [
    [/^[1-9]\d*:[1-9]\d*\$/.test(config.User), 'User is a number above 0, found ' + config.User],
    [config.Entrypoint?.[0] === 'node', 'Entrypoint is node itself, without a shell'],
    [config.StopSignal === 'SIGTERM' || config.StopSignal === '15', 'StopSignal is SIGTERM, found ' + config.StopSignal],
    [config.Healthcheck?.Test?.[0] === 'CMD', 'there is a health check without a shell'],
    [JSON.stringify(Object.keys(config.Volumes ?? {})) === '[\"/state\"]', 'the only volume is /state'],
    [!(config.Env ?? []).some(line => /PUNTAS_API/.test(line)), 'no secret is in the environment'],
  ].filter(([holds]) => !holds);
  for (const [, what] of flaws) console.error('not as it must be: ' + what);
  process.exit(flaws.length);
" "$work/inspect.json"

echo 'no secret in the layers'
build push --quiet localhost/puntas:ci "dir:$work/layers" > /dev/null
# Counts instead of stopping at the first find: a search that stops early breaks its own pipe, and pipefail calls that "not found".
found_in() {
  local layer count
  for layer in "$work"/layers/*; do
    count=$({ zcat "$layer" 2> /dev/null || cat "$layer"; } | grep --count --text --fixed-strings "$1" || true)
    if [[ $count -gt 0 ]]; then echo "$layer"; fi
  done
}
[[ -n $(found_in '"name": "puntas"') ]] || { echo 'this search finds nothing at all'; exit 1; }
leak=$(found_in "$canary")
[[ -z $leak ]] || { echo "the canary is in $leak"; exit 1; }

echo 'run: no root, no capability, read-only'
container=$(build from --pull-never localhost/puntas:ci)
root=$(build mount "$container")
mkdir -p "$work/view" "$work/state"
chown 65532:65532 "$work/state"
chmod 0700 "$work/state"
# What `docker run --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges -v state:/state` does, by hand.
cat > "$work/enter.sh" << 'ENTER'
set -euo pipefail
root=$1 view=$2 state=$3
shift 3
mount --bind "$root" "$view"
mount -o remount,bind,ro "$view"
mount --bind "$state" "$view/state"
mount -t tmpfs -o size=16m,nosuid,noexec tmpfs "$view/tmp"
mount -t proc proc "$view/proc"
mount --rbind /dev "$view/dev"
exec chroot "$view" /usr/bin/setpriv --reuid=65532 --regid=65532 --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs \
  /usr/bin/env -i --chdir=/app PATH=/usr/local/bin:/usr/bin:/bin NODE_ENV=production "$@"
ENTER
enter() { exec unshare --mount --propagation private bash "$work/enter.sh" "$root" "$work/view" "$work/state" "$@"; }

(enter node -e "
  const fs = require('fs');
  const flaws = [];
  if (process.getuid() === 0 || process.getgid() === 0) flaws.push('it runs as root');
  if (!/^CapBnd:\s*0+\$/m.test(fs.readFileSync('/proc/self/status', 'utf8'))) flaws.push('it holds capabilities');
  for (const folder of ['/', '/app', '/app/config', '/etc', '/usr/local/bin', '/var/tmp', '/home']) {
    try { fs.writeFileSync(folder + '/probe', 'x'); flaws.push(folder + ' can be written'); } catch {}
  }
  fs.writeFileSync('/state/probe', 'x');
  fs.rmSync('/app/state/probe');
  for (const tool of ['/usr/local/bin/npm', '/usr/local/bin/npx']) if (fs.existsSync(tool)) flaws.push(tool + ' is in the image');
  for (const extra of ['typescript', 'vitest', 'ccxt']) if (fs.existsSync('/app/node_modules/' + extra)) flaws.push(extra + ' is in the image');
  for (const flaw of flaws) console.error(flaw);
  process.exit(flaws.length);
")

mapfile -t command < <(node -p "const { config } = JSON.parse(require('fs').readFileSync('$work/inspect.json', 'utf8')).Docker; [...config.Entrypoint, ...config.Cmd].join('\n')")
mapfile -t health < <(node -p "JSON.parse(require('fs').readFileSync('$work/inspect.json', 'utf8')).Docker.config.Healthcheck.Test.slice(1).join('\n')")
(enter "${command[@]}") > "$work/stdout" 2> "$work/stderr" &
running=$!
healthy=''
for _ in $(seq 60); do
  if "${health[@]}"; then healthy=yes; break; fi
  kill -0 "$running" 2> /dev/null || break
  sleep 1
done
[[ -n $healthy ]] || { echo 'the health check never passed'; tail -n 20 "$work/stderr"; exit 1; }
sleep 10
kill -TERM "$running"
code=0
wait "$running" || code=$?
running=''
[[ $code -eq 0 ]] || { echo "SIGTERM ended it with exit code $code"; tail -n 20 "$work/stderr"; exit 1; }
[[ -n $(ls -A "$work/state") ]] || { echo 'nothing was written to the state volume'; exit 1; }
echo 'healthy, and SIGTERM ended it with exit code 0'
