#!/usr/bin/env bash
# What a release would publish installs into an empty folder, without development packages and install scripts, and runs from there; also by npx
# from the package alone. Nothing here has a limit in time of its own.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(node -p "require('./package.json').version")
compiler=$PWD/node_modules/typescript-native/bin/tsc
there=$(mktemp -d)
running=()
finish() {
  for one in ${running[@]+"${running[@]}"}; do kill -KILL "$one" 2> /dev/null || true; done
  rm -rf "$there"
}
trap finish EXIT

packed=$(bash .ci/release.sh "$there")
if tar -tzf "$there/$packed" | grep -E '^package/(test|dist/test|src|node_modules)/|\.(key|secret|env|map)$'; then
  echo "$packed has what nobody is to be sent"
  exit 1
fi
for page in README.md docs/configuration.md docs/runbook.md docs/console.png; do
  tar -tzf "$there/$packed" | grep -x "package/$page" > /dev/null || { echo "$packed lacks $page, which messages or pages name"; exit 1; }
done

# The last line of a run: no order is left, and the ledger equals the balances.
clean() {
  node -e "
    const s = JSON.parse(require('fs').readFileSync(process.argv[1], 'utf8'));
    if (s.openOrdersLeft !== 0 || s.ledgerMatches !== true) throw new Error('the run did not end clean');
  " "$1"
}
for name in $(compgen -e PUNTAS_); do unset "$name"; done

# An empty folder, no repository near: npx takes the package for this one command.
mkdir "$there/bare"
cd "$there/bare"
npx --yes --ignore-scripts --package "$there/$packed" puntas run --for 20s --metrics-port 0 --json > run.out 2> run.err ||
  { tail -n 20 run.out run.err; exit 1; }
tail -n 1 run.out > last.json
clean last.json
[[ $(ls -A) == $'last.json\nrun.err\nrun.out\nstate' ]] || { echo 'npx left more than the state:'; ls -A; exit 1; }

mkdir "$there/empty"
mv "$there/$packed" "$there/empty"
cd "$there/empty"
npm install "./$packed" --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error
[[ -x node_modules/.bin/puntas ]] || { echo "installed elsewhere than in $PWD: is there a package.json or node_modules above it?"; exit 1; }

# From here on npx must find the program in this folder, without asking a registry.
export npm_config_registry=http://127.0.0.1:9/
export npm_config_update_notifier=false
[[ $(npx puntas --version) == "$version" ]]
npx puntas init my.yaml --exchange embedded --book btc_mxn --instance packed1 --half-spread 15 --levels 2 --amount 0.01 --yes > init.out 2>&1 || { cat init.out; exit 1; }
npx puntas check -c my.yaml > check.out 2>&1 || { cat check.out; exit 1; }
grep -q '^# quotes that the bot would place now' check.out
grep -q 'bid 0.01' check.out
npx puntas run -c my.yaml --for 20s --metrics-port 0 --json > run.out 2> run.err || { tail -n 20 run.out run.err; exit 1; }
tail -n 1 run.out | tee last.json
clean last.json

# Files that the pages name by their path in the repository, and pages that messages name.
code=0
npx puntas check -c config/live.yaml > samples.out 2>&1 || code=$?
[[ $code == 2 ]] && grep -q 'config/live.yaml: no such file; write the shipped files into this folder with: npx puntas samples' samples.out ||
  { cat samples.out; exit 1; }
npx puntas samples > samples.out
grep -qx 'compose.live.yaml' samples.out
npx puntas check -c config/sandbox.yaml > check.out 2>&1 || { cat check.out; exit 1; }
npx puntas backtest -c config/grid.yaml --flow-seconds 60 > check.out 2>&1 || { cat check.out; exit 1; }
# Prints the first block of TypeScript of a shipped page: the complete file, before the examples of single lines.
file_of() {
  sed -n '/^```ts$/,/^```$/{ /^```ts$/d; /^```$/q; p }' "node_modules/puntas/docs/$1"
}
# The strategy file of the shipped page: its types need no further package, and it keeps the laws and trades on paper.
file_of strategy-files.md > my-strategy.ts
node "$compiler" --strict --noEmit --target es2023 --module nodenext --moduleDetection force my-strategy.ts
npx puntas check-strategy my-strategy.ts > check.out 2>&1 || { cat check.out; exit 1; }
sed 's/^  name: ladder$/  file: .\/my-strategy.ts/; /^  skew:/d' my.yaml > own.yaml
npx puntas backtest -c own.yaml --flow-seconds 60 --json > check.out 2>&1 || { cat check.out; exit 1; }
grep -q 'my-strategy.ts@' check.out
file_of fill-models.md > my-fills.ts
node "$compiler" --strict --noEmit --target es2023 --module nodenext --moduleDetection force my-fills.ts
npx puntas backtest -c own.yaml --flow-seconds 60 --fill-model my-fills.ts --json > check.out 2>&1 || { cat check.out; exit 1; }
grep -q 'my-fills.ts@' check.out
code=0
npx puntas alert test -c config/sandbox.yaml > alert.out 2>&1 || code=$?
page=$(grep -o 'node_modules/puntas/docs/alerts.md' alert.out) && [[ -f $page ]] || { cat alert.out; exit 1; }

# Packages that only queues and buckets need may be missing: the bot above needs none of them, and a worker names the one that it needs.
rm -rf node_modules/{bullmq,ioredis,pg,aws4fetch}
npx puntas check -c my.yaml > check.out 2>&1 || { cat check.out; exit 1; }
code=0
npx puntas worker --queue redis://127.0.0.1:9/0 > worker.out 2>&1 || code=$?
[[ $code == 2 ]] && tr -s ' \n' ' ' < worker.out | grep -q 'the package ioredis is not installed; install the optional packages with: npm.install --include=optional' ||
  { cat worker.out; exit 1; }

# Waits until the file says it, as long as the process is there.
until_said() {
  local process=$1 file=$2 words=$3
  until grep -qE "$words" "$file"; do
    kill -0 "$process" 2> /dev/null || { echo "it ended without: $words"; tail -n 20 "$file"; return 1; }
    sleep 0.2
  done
}
node_modules/.bin/puntas run -c my.yaml --metrics-port 0 > bot.log 2>&1 &
bot=$!
running+=("$bot")
until_said "$bot" bot.log '"bids":[1-9][0-9]*,"asks":[1-9]'
node_modules/.bin/puntas console -c my.yaml --port 0 > console.log 2>&1 &
console=$!
running+=("$console")
until_said "$console" console.log 'console of .* at http://'
url=$(grep -oE 'http://[0-9.:]+' console.log | head -n 1)
# The page, every file that it names and that those import, and the bot on it.
node --input-type=module - "$url" << 'SCRIPT'
const [, , url] = process.argv;
const get = async path => {
  const reply = await fetch(url + path);
  if (reply.status !== 200) throw new Error(`${path}: ${reply.status}`);
  return reply;
};
const wanted = new Set(['/']);
for (const path of wanted) {
  const text = await (await get(path)).text();
  if (text.length < 100) throw new Error(`${path} has ${text.length} characters`);
  for (const [, name] of text.matchAll(/\b(?:src|href)="(\/[^"]+)"/g)) wanted.add(name);
  for (const [, name] of text.matchAll(/\bfrom ?["']\.\/([\w.-]+)["']/g)) wanted.add(`/${name}`);
}
if (wanted.size < 6) throw new Error(`the page names ${[...wanted]}`);
let told = '';
for await (const chunk of (await get('/live')).body.pipeThrough(new TextDecoderStream())) {
  told += chunk;
  if (/^data: .*btc_mxn/m.test(told)) break;
}
console.log(`the console's page and ${wanted.size - 1} files of it, and the bot on it`);
process.exit(/^data: .*btc_mxn/m.test(told) ? 0 : 1);
SCRIPT
ends() {
  local code=0
  kill -TERM "$1"
  wait "$1" || code=$?
  [[ $code == 0 ]] || { echo "$2 ended with $code"; tail -n 20 "$2.log"; exit 1; }
}
ends "$console" console
ends "$bot" bot
grep -q 'verified: no open orders left' bot.log
