#!/usr/bin/env bash
# Builds the container image without a Docker daemon, twice, to one digest, and runs it as docs/container.md says: no root, no capability, read-only, one volume.
# The base image stands in for the one that the Dockerfile names: Debian bookworm with Node 24 and npm from the npm registry.
set -euo pipefail
cd "$(dirname "$0")/.."
bash .ci/packages.sh buildah=buildah mmdebstrap=mmdebstrap

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
# Without the digest, which is that of the image whose place this one takes.
node="docker.io/library/$(sed -n 's/^ARG NODE=\([^@]*\)@.*/\1/p' Dockerfile)"
build commit --quiet --rm "$base" "$node" > /dev/null

# Usage: image TAG CONTEXT. Its digest, in OCI's form, goes to a file: in Docker's form buildah writes a random host name into each.
image() {
  build bud --quiet --pull-never --isolation chroot --format docker --network host --build-arg "NODE=$node" \
    --timestamp "$(git log -1 --format=%ct)" --tag "localhost/puntas:$1" "$2" > "$work/log" 2>&1 || { tail -n 40 "$work/log"; exit 1; }
  build push --quiet --format oci --digestfile "$work/digest-$1" "localhost/puntas:$1" "oci:$work/oci-$1:puntas" > /dev/null
}
echo 'image'
git clone --quiet --no-hardlinks . "$work/context"
for file in .env secret.key config/mine.local.yaml src/.env; do echo "$canary" > "$work/context/$file"; done
PUNTAS_API_SECRET=$canary image ci "$work/context"

echo 'image, a second time, of another clone'
git clone --quiet --no-hardlinks . "$work/again"
image again "$work/again"
rm -rf "$work/again"
[[ $(cat "$work/digest-ci") == sha256:* ]] || { echo 'no digest was made'; exit 1; }
cmp "$work/digest-ci" "$work/digest-again" || {
  echo 'two builds differ; files that are not in both:'
  diff <(ls "$work/oci-ci/blobs/sha256") <(ls "$work/oci-again/blobs/sha256") || true
  exit 1
}
build rmi localhost/puntas:again > /dev/null
rm -rf "$work/oci-again"

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

echo 'samples'
(enter node dist/src/main.js samples /state/samples > /dev/null)
for file in compose.live.yaml config/live.yaml docs/mappings/books.yaml; do
  cmp "$work/state/samples/$file" "$file"
done
rm -rf "$work/state/samples"

echo 'bill of materials'
mkdir "$work/bill"
echo '{ "private": true, "type": "module" }' > "$work/bill/package.json"
npm install --silent --prefix "$work/bill" --ignore-scripts --no-audit --no-fund \
  @cyclonedx/cyclonedx-library@10.3.0 ajv@8.20.0 ajv-formats@3.0.1 ajv-formats-draft2019@1.6.1
(cd "$work/bill" && node --input-type=module -e "
  import { existsSync, readdirSync, readFileSync } from 'node:fs';
  import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
  const text = readFileSync(process.argv[1] + '/sbom.cdx.json', 'utf8');
  const flaws = (await new Validation.JsonStrictValidator(Spec.Version.v1dot5).validate(text)) ?? [];
  const listed = new Set(JSON.parse(text).components.map(({ name, version }) => name + '@' + version));
  const inImage = new Set();
  const look = folder => {
    if (!existsSync(folder)) return;
    for (const name of readdirSync(folder)) {
      if (name.startsWith('@')) look(folder + '/' + name);
      if (name.startsWith('@') || name.startsWith('.')) continue;
      const { name: called, version } = JSON.parse(readFileSync(folder + '/' + name + '/package.json', 'utf8'));
      inImage.add(called + '@' + version);
      look(folder + '/' + name + '/node_modules');
    }
  };
  look(process.argv[1] + '/node_modules');
  for (const one of inImage) if (!listed.has(one)) flaws.push(one + ' is in the image and not in its bill');
  for (const one of listed) if (!inImage.has(one)) flaws.push(one + ' is in the bill and not in the image');
  for (const flaw of flaws) console.error(flaw);
  console.log(listed.size + ' packages');
  process.exit(flaws.length > 0 || listed.size === 0 ? 1 : 0);
" "$root/app")

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
