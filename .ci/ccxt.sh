#!/usr/bin/env bash
# Prices and tapes through ccxt: the tests on real sockets, then the packed program with ccxt installed beside it by its user, in an empty folder.
set -euo pipefail
cd "$(dirname "$0")/.."
npm run --silent build
PUNTAS_TEST_MANY=true bash .ci/vitest.sh npx vitest run --project ccxt

there=$(mktemp -d)
running=()
finish() {
  for one in ${running[@]+"${running[@]}"}; do kill -KILL "$one" 2> /dev/null || true; done
  rm -rf "$there"
}
trap finish EXIT
packed=$(npm pack --silent --ignore-scripts --pack-destination "$there")
cd "$there"
npm install "./$packed" --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error
[[ -x node_modules/.bin/puntas ]] || { echo "installed elsewhere than in $PWD: is there a package.json or node_modules above it?"; exit 1; }
export npm_config_update_notifier=false
for name in $(compgen -e PUNTAS_); do unset "$name"; done

npx puntas init my.yaml --exchange embedded --book btc_mxn --instance ccxt1 --half-spread 15 --levels 2 --amount 0.01 --yes > init.out 2>&1 || { cat init.out; exit 1; }
npx puntas exchange --port 0 > exchange.json 2> exchange.log &
running+=("$!")
for _ in $(seq 600); do [[ -s exchange.json ]] && break; sleep 0.1; done
url=$(node -p "JSON.parse(require('fs').readFileSync('exchange.json', 'utf8')).url")
printf 'reference:\n  sources:\n    - { name: there, books: [btc_mxn], from: { ccxt: bitso, url: "%s" } }\n' "$url" >> my.yaml
record() { npx puntas record --venue "ccxt:$1" --url "$url" --book btc_mxn --out "$2" --for "$3" --json; }
# Without ccxt, or with an id that it lacks: one sentence with the remedy, and exit code 2.
says() {
  local words=$1 code=0
  shift
  "$@" > said.out 2>&1 || code=$?
  [[ $code == 2 ]] && tr -s ' \n' ' ' < said.out | grep -qE "$words" || { echo "expected exit code 2 and: $words; exit code $code"; cat said.out; exit 1; }
}
says 'ccxt is not installed; run npm install --ignore-scripts ccxt@' record bitso none 5s
npx puntas doctor -c my.yaml > doctor.out 2>&1 || true
grep -q 'ccxt is not installed' doctor.out || { cat doctor.out; exit 1; }

version=$(node -p "require('$OLDPWD/package.json').devDependencies.ccxt")
npm install --ignore-scripts --no-audit --no-fund --loglevel=error "ccxt@$version"
says 'has no exchange "bitsoo"; nearest names: bitso' record bitsoo none 5s
npx puntas doctor -c my.yaml > doctor.out 2>&1 || true
grep -q "ccxt $version is installed and has bitso" doctor.out || { cat doctor.out; exit 1; }
record bitso tape 40s > record.json
node -e "
  const [{ rows, trades, gaps }] = JSON.parse(require('fs').readFileSync('record.json', 'utf8')).books;
  console.log(\`recorded through ccxt: \${rows} rows, \${trades} trades, \${gaps} gaps\`);
  if (!(rows > 50)) throw new Error('too few rows');
"
npx puntas tape tape | grep -q "source ccxt $version bitso"
# A bot whose reference price comes through ccxt uses it, and ends clean.
npx puntas run -c my.yaml --for 30s --metrics-port 0 --json > run.out 2> run.err || { tail -n 20 run.out run.err; exit 1; }
node -e "
  const s = JSON.parse(require('fs').readFileSync('run.out', 'utf8').trim().split('\\n').at(-1));
  if (s.openOrdersLeft !== 0 || s.ledgerMatches !== true) throw new Error('the run did not end clean');
"
